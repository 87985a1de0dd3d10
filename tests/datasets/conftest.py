"""Small data sets as fixtures: functions that write them into a folder and return it."""

from __future__ import annotations

import pytest
from tests import small_sets


@pytest.fixture(scope="session")
def small_barn():
    return small_sets.small_barn


@pytest.fixture(scope="session")
def small_dynabarn():
    return small_sets.small_dynabarn


@pytest.fixture(scope="session")
def small_socnavbench():
    return small_sets.small_socnavbench


@pytest.fixture(scope="session")
def crooked_zara():
    return small_sets.crooked_zara

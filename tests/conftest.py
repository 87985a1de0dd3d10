"""Fixtures for every test."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def data() -> Path:
    """The folder of real data that ``AGORA_DATA`` names; without it the test skips."""
    named = os.environ.get("AGORA_DATA")
    if not named:
        pytest.skip("AGORA_DATA is not set")
    return Path(named).resolve()


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator for test inputs."""
    return np.random.default_rng(20261120)

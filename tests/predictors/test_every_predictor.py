"""Every registered predictor keeps the contract."""

from __future__ import annotations

import pytest

from agora.registry import available, make
from agora.testing import check_predictor


@pytest.mark.parametrize("name", available("predictors"))
def test_keeps_the_contract(name):
    check_predictor(make("predictors", name))

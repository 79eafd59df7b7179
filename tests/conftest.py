"""Settings of all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("shared", deadline=None)
settings.load_profile("shared")  # tests never assert absolute times: the machine is shared


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that tests below have."""
    parser.addoption("--truth-worlds", default=200, help="worlds to try on a real Envoy")

"""Settings of all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "shared",
    deadline=None,  # tests never assert absolute times: the machine is shared
    suppress_health_check=[HealthCheck.too_slow],
    # The same examples in every run, so that main is red only for what a change did;
    # INGRESSCTL_FUZZ=N looks for new ones.
    derandomize="INGRESSCTL_FUZZ" not in os.environ,
)
settings.load_profile("shared")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that tests below have."""
    parser.addoption("--truth-worlds", default=200, help="worlds to try on a real Envoy")

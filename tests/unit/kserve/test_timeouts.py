"""Time limits of routes are such that an API server takes them (F5)."""

from __future__ import annotations

import re

import pytest

from ingressctl.api import durations
from ingressctl.core.differences import Compat
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from ingressctl.sources.kserve import reconcile as kserve
from tests.unit.findings.objects import config, service, standard
from tests.unit.kserve.components import making

SOURCES = {("serving.kserve.io", "InferenceService"): kserve.reconcile_routes}
GATEWAY_API = re.compile(r"^([0-9]{1,5}(h|m|s|ms)){1,4}$")
"""What the CRD of HTTPRoutes takes for a duration."""


def limit(seconds: int, compat: str) -> str:
    """The limit of the one rule to the predictor."""
    objects = (config(enableGatewayApi=True), service(), standard(predictor={"timeout": seconds}))
    settings = Settings(compat=Compat.parse(compat))
    done = cascade.run(World.of(objects), settings, now=making.NOW, sources=SOURCES)
    (route, *_) = done.world.list(("gateway.networking.k8s.io", "HTTPRoute"))
    return str(route["spec"]["rules"][0]["timeouts"]["request"])


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0, "0s"),
        (60, "60s"),
        (99_999, "99999s"),
        (100_000, "27h46m40s"),
        (108_000, "30h"),
        (359_999_999, "99999h59m59s"),
        (360_000_000, "99999h59m59s"),
        (2**63 - 1, "99999h59m59s"),
    ],
)
def test_any_number_of_seconds_can_be_written(seconds: int, written: str) -> None:
    assert durations.of_seconds(seconds) == written
    assert GATEWAY_API.match(written)
    if seconds < 360_000_000:
        assert (durations.seconds(written) or 0) == seconds


def test_a_long_limit_is_one_that_an_api_server_takes() -> None:
    assert limit(300, "better") == "300s"
    assert limit(100_000, "better") == "27h46m40s"
    assert limit(100_000, "kserve") == "100000s"


def test_a_negative_limit_that_is_stored_is_none() -> None:
    """KServe writes it as it is, and the API server refuses the whole route."""
    assert limit(-1, "better") == "0s"
    assert limit(-1, "kserve") == "-1s"

"""Backends as the command line writes them, and who serves a target."""

from __future__ import annotations

import pytest

from ingressctl.core.model import External, Service
from ingressctl.core.world import World
from ingressctl.providers.envoy.facts import Address, WorldFacts
from ingressctl.proxy import backends
from ingressctl.proxy.backends import BackendFault, LocalFacts


def test_a_backend_names_service_namespace_and_address() -> None:
    told = backends.parse("m-predictor.team-a=127.0.0.1:9000")
    assert (told.name, told.namespace) == ("m-predictor", "team-a")
    assert told.addresses == (Address("127.0.0.1", 9000),)


def test_without_a_namespace_it_is_for_any() -> None:
    told = backends.parse("m=[::1]:9000")
    assert told.addresses == (Address("::1", 9000),)
    assert told.stands_for(Service("a", "m"))
    assert told.stands_for(Service("b", "m"))
    assert not told.stands_for(Service("a", "n"))


@pytest.mark.parametrize(
    "text",
    ["", "m", "m=", "m=1.2.3.4", "m=1.2.3.4:x", "=1.2.3.4:80", "m=1.2.3.4:0", "m=1.2.3.4:99999"],
)
def test_what_is_no_backend_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(BackendFault, match=r"SERVICE\[.NAMESPACE\]=HOST:PORT|between 1 and 65535"):
        backends.parse(text)


def test_a_host_without_address_is_refused() -> None:
    with pytest.raises(BackendFault, match="has no address"):
        backends.parse("m=no-such-host.invalid:80")


def test_what_is_told_goes_before_the_files() -> None:
    told = backends.parse("m.ns=127.0.0.1:9000")
    facts = LocalFacts(WorldFacts.of(World.of(())), (told,))
    assert facts.addresses(Service("ns", "m"), 80) == (Address("127.0.0.1", 9000),)
    assert facts.addresses(Service("other", "m"), 80) == ()
    assert facts.addresses(External("m.ns"), 80) == ()

"""Each code of the table finds what it is for and stays silent beside it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core import findings as table
from ingressctl.core.differences import Compat
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Part, Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade, findings
from ingressctl.sources.graph import reconcile as graph
from ingressctl.sources.kserve import reconcile as kserve
from tests.unit.findings.examples import EXAMPLES, Example
from tests.unit.findings.objects import STANDARD, config, standard
from tests.unit.findings.objects import graph as graph_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOURCES = {
    ("serving.kserve.io", "InferenceService"): kserve.reconcile_routes,
    ("serving.kserve.io", "InferenceGraph"): graph.reconcile,
}
ELSEWHERE = {
    "IC3201": "the tag of a Knative Service is tested with the components",
    **{
        f"IC330{number}": "policies, limits and retries are tested with explain"
        for number in range(1, 10)
    },
    "IC3310": "limits are tested with explain",
    "IC3311": "retries are tested with explain",
}
"""Codes with a report whose tests lie elsewhere, and where."""

IDS = [f"{example.code}-{place}" for place, example in enumerate(EXAMPLES)]


def found(
    objects: Iterable[Raw], compat: str, write: frozenset[Part] = frozenset({"routes"})
) -> tuple[Finding, ...]:
    settings = Settings(compat=Compat.parse(compat), write=write)
    world = World.of(objects)
    after = cascade.run(world, settings, now=NOW, sources=SOURCES)
    return findings.find(after, base=world, settings=settings)


@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_finds(example: Example) -> None:
    """The code is among the findings, about the objects that it should name."""
    hits = [item for item in found(example.finds, example.compat) if item.code == example.code]
    named = [{str(ref) for ref in item.refs} for item in hits]
    assert any(names.issuperset(example.names) for names in named), named
    assert not any("<" in table.message(item) for item in hits), "an argument is missing"


@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_is_silent(example: Example) -> None:
    """The code is not found where nothing is wrong."""
    hits = [item for item in found(example.silent, example.compat) if item.code == example.code]
    assert not hits, [table.message(item) for item in hits]


def test_every_code_with_a_report_is_tested() -> None:
    """A code that answers a field report has an example here, or a reason why not."""
    wanted = {code for code, row in table.TABLE.items() if row.reports}
    assert wanted - {example.code for example in EXAMPLES} - set(ELSEWHERE) == set()


@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_order_of_the_input_does_not_matter(example: Example) -> None:
    """One world has one list of findings, sorted, each once."""
    there = found(example.finds, example.compat)
    back = found(reversed(example.finds), example.compat)
    assert there == back == tuple(sorted(set(there), key=findings.order))


@pytest.mark.parametrize(
    ("gateway", "both"), [("kserve/kserve-ingress-gateway", False), ("", True)]
)
def test_help_names_settings_that_hold_together(gateway: str, both: bool) -> None:
    """enableGatewayApi alone is refused where no Gateway is named."""
    objects = (config(ingressClassName="istio", kserveIngressGateway=gateway), standard())
    hits = [item for item in found(objects, "better") if item.code == "IC5007"]
    assert [("kserveIngressGateway" in table.remedy(item)) for item in hits] == [both]


@pytest.mark.parametrize(
    ("write", "compat", "code"),
    [
        ({"routes"}, "better", "IC1111"),
        ({"routes", "workloads"}, "better", "IC1112"),
        ({"routes", "workloads"}, "better,-Q46", "IC1111"),
    ],
)
def test_a_label_of_standard_mode_hides_a_knative_graph_where_its_service_is_ours(
    write: set[Part], compat: str, code: str
) -> None:
    """Knative reads the label of the Service: who does not write that hides nothing."""
    objects = (graph_of(labels={"networking.kserve.io/visibility": "cluster-local"}),)
    codes = {item.code for item in found(objects, compat, frozenset(write))}
    assert codes & {"IC1110", "IC1111", "IC1112"} == {code}


def test_a_graph_without_a_route_is_not_called_public() -> None:
    """KServe makes no route for a graph in Standard mode: nothing shows it outside."""
    objects = (graph_of(annotations=STANDARD, labels={"networking.kserve.io/visibility": "x"}),)
    assert "IC1110" in {item.code for item in found(objects, "better")}
    assert "IC1110" not in {item.code for item in found(objects, "better,-IG-R4")}

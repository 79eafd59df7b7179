"""The outputs of one world, read back, give one answer for each request.

Whatever a provider cannot express must be a finding about the owner of the rule that got
lost; without one it answers as Istio's VirtualServices do: the same backends with the same
shares, Host, path and headers. The model that the objects came from is not asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingressctl.api.refs import Ref, controller_of, group_of
from ingressctl.cli import plugins
from ingressctl.core.model import Service, Split
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.table import Hop, NoRoute, Request, Table
from ingressctl.core.world import Reads, World
from ingressctl.plan import cascade, serving
from ingressctl.sources.knative import traffic
from tests import worlds

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ENTRIES = {
    "istio": (worlds.GATEWAY,),
    "gateway_api": (worlds.KSERVE_GATEWAY,),
    "ingress": (worlds.CLASS,),
    "envoy": (worlds.GATEWAY, worlds.KSERVE_GATEWAY),
    "openshift": ("",),
    "traefik": ("",),
}
"""Where requests come in; one listener of Envoy stands for the gateways of both modes."""
REQUESTS = 12
PROVIDERS = plugins.providers()


@dataclass(frozen=True)
class Output:
    """What one provider made of a world, read back, and who lost something."""

    provider: str
    world: World
    table: Table
    losing: frozenset[Ref]

    def ask(self, request: Request) -> Hop | NoRoute:
        entries = ENTRIES[self.provider]
        answers = [self.table.answer(replace(request, entry=entry)) for entry in entries]
        return next((answer for answer in answers if isinstance(answer, Hop)), answers[0])

    def owners(self, *answers: Hop | NoRoute) -> set[Ref]:
        """The InferenceServices whose rules won or were asked."""
        sources = {loss.source for answer in answers for loss in answer.losers}
        sources |= {answer.rule.source for answer in answers if isinstance(answer, Hop)}
        found = set()
        for source in sources:
            owner = controller_of(self.world.get(source) or {})
            if owner:
                group = group_of(owner["apiVersion"])
                found.add(Ref(group, owner["kind"], source.namespace, owner["name"]))
        return found


def output(generated: worlds.Generated, provider: str) -> Output:
    chosen = Settings(provider=provider, assume="ready")
    ran = cascade.run(generated.world, chosen, now=NOW, providers=PROVIDERS)
    reads = Reads(ran.world, chosen, providers=PROVIDERS)
    if provider == "envoy":
        carried = serving.carried(ran, chosen, PROVIDERS)
        table = carried[0] if carried else Table(provider, ())
    else:
        table = PROVIDERS[provider].read(ran.world, reads=reads)
    failed = [item for step in ran.steps for item in step.findings if item.code == "IC4101"]
    assert failed == [], failed
    for group in (group for step in ran.steps for r in step.outcome.routes for group in r.groups):
        names = [rule.name for rule in group.rules]
        assert len(set(names)) == len(names), names  # core.model: unique within a group
    losing = frozenset(
        finding.refs[0]
        for step in ran.steps
        for finding in step.findings
        if finding.code == "IC4001" and not _only_inside(finding)
    )
    return Output(provider, ran.world, table, losing)


def _only_inside(finding: Finding) -> bool:
    """Loss of in-cluster hosts, which requests from outside cannot tell."""
    lost = str(dict(finding.args)["what"]).split("; ")
    return all(what.startswith("in-cluster host") for what in lost)


def told(answer: Hop | NoRoute) -> Any:
    """What a client can tell of an answer: status, or backends by share and what they see."""
    if isinstance(answer, NoRoute):
        return answer.status
    if answer.rule.status:
        return answer.rule.status
    shares: dict[tuple[Any, ...], float] = {}
    for split, share in answer.rule.shares():
        if share:
            shares[_backend(split)] = round(share, 6)
    ours = {key: value for key, value in answer.headers.items() if key.startswith("kserve-")}
    return (shares, answer.host, answer.path, ours)


def _backend(split: Split) -> tuple[str, int]:
    """The DNS name and port that a hop connects to, however the target is modelled."""
    target = split.target
    if isinstance(target, Service):
        return (f"{target.name}.{target.namespace}.svc.cluster.local", split.port)
    return (target.host, split.port)


@pytest.mark.parametrize("provider", ["gateway_api", "ingress", "envoy", "openshift", "traefik"])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000_000))
def test_one_answer_or_a_finding_that_names_the_loss(provider: str, seed: int) -> None:
    generated = worlds.make(seed, graphs=True)
    reference, other = output(generated, "istio"), output(generated, provider)
    for request in generated.requests(REQUESTS):
        wanted, got = reference.ask(request), other.ask(request)
        if isinstance(got, Hop) and got.rule.source[:2] == traffic.KNATIVE_SERVICE:
            continue  # the second hop, which only an Envoy of ours serves by itself
        if told(wanted) == told(got):
            continue
        owners = reference.owners(wanted) | other.owners(got)
        assert owners & other.losing, (
            f"seed {seed}: {request}: istio gives {told(wanted)}, {provider} {told(got)}, "
            "and no finding tells"
        )


@pytest.mark.parametrize("provider", ["gateway_api", "envoy"])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000_000))
def test_nothing_is_lost_in_standard_mode(provider: str, seed: int) -> None:
    """Everything that Standard mode asks for is expressible there: no way out by a finding."""
    generated = worlds.make(seed, modes=("Standard",))
    reference, other = output(generated, "istio"), output(generated, provider)
    assert not other.losing
    for request in generated.requests(REQUESTS):
        assert told(reference.ask(request)) == told(other.ask(request)), f"seed {seed}: {request}"


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000_000))
def test_what_an_ingress_answers_is_never_wrong_only_less(seed: int) -> None:
    """A lossy provider may answer 404 or give all to the first backend, never another one."""
    generated = worlds.make(seed, modes=("Standard",))
    reference, other = output(generated, "istio"), output(generated, "ingress")
    for request in generated.requests(REQUESTS):
        wanted, got = reference.ask(request), other.ask(request)
        if (
            isinstance(got, Hop)
            and isinstance(wanted, Hop)
            and not other.owners(got) & other.losing
        ):
            assert told(wanted) == told(got), f"seed {seed}: {request}"
        if isinstance(got, Hop):
            assert isinstance(wanted, Hop), f"seed {seed}: {request}: only the Ingress takes it"


def test_the_worlds_are_worth_asking() -> None:
    """Most kinds of answers occur: otherwise the properties above would prove little."""
    counted = {"hop": 0, "none": 0, "split": 0, "rewritten": 0}
    for seed in range(40):
        generated = worlds.make(seed, graphs=True)
        made = output(generated, "istio")
        for request in generated.requests(REQUESTS):
            answer = made.ask(request)
            counted["none"] += isinstance(answer, NoRoute)
            if isinstance(answer, Hop):
                counted["hop"] += 1
                counted["split"] += len(answer.rule.splits) > 1
                counted["rewritten"] += answer.path != request.path
    assert min(counted.values()) >= REQUESTS, counted

"""Rights are what reconciles look at and write: nothing is missing, nothing is idle."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache

import pytest

from ingressctl.api.refs import Ref, ref_of
from ingressctl.cli import plugins
from ingressctl.core.settings import Part, Settings
from ingressctl.core.world import Kind
from ingressctl.plan import cascade, kinds, rights
from ingressctl.providers.envoy import facts
from tests import worlds
from tests.unit.chart import files

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORLDS = 12
PROVIDERS = plugins.providers()
ROLES = rights.roles(PROVIDERS.values())
BY_PLURAL = {(item.group, item.plural): item.identity for item in kinds.RESOURCES}
ROUTES: frozenset[Part] = frozenset({"routes"})
BOTH: frozenset[Part] = frozenset({"routes", "workloads"})

each_provider = pytest.mark.parametrize("provider", sorted(PROVIDERS))
each_part = pytest.mark.parametrize("write", [ROUTES, BOTH], ids=["routes", "both"])


@cache
def steps(provider: str, write: frozenset[Part]) -> tuple[cascade.Step, ...]:
    """First passes over worlds of both modes, with what they looked at and would write.

    Stored objects of an owner that wants none of them any more are among them.
    """
    settings = Settings(provider=provider, write=write, assume="ready")
    given = {provider: PROVIDERS[provider]}
    found: list[cascade.Step] = []
    for seed in range(WORLDS):
        world = worlds.make(seed, graphs=True).world
        for passes in (1, 2):
            done = cascade.run(world, settings, now=NOW, providers=given, passes=passes)
            found += done.steps
    return tuple(found)


def looked_at(provider: str, write: frozenset[Part]) -> Iterator[Kind]:
    """Kinds of which reconciles, or the envoy provider's facts, asked for an object."""
    yield from cascade.SOURCES
    if provider == "envoy":
        yield facts.ENDPOINT_SLICE
    for step in steps(provider, write):
        for lookup in step.lookups:
            if lookup.what in ("get", "list"):
                yield lookup.key[0], lookup.key[1]


def granted(
    provider: str, write: frozenset[Part], *, knative: bool = True, dry_run: bool = False
) -> tuple[rights.Role, ...]:
    features = rights.features(providers=[provider], write=write, knative=knative, dry_run=dry_run)
    return rights.granted(ROLES, features)


def with_verb(verb: str, given: tuple[rights.Role, ...]) -> set[Kind]:
    rules = (rule for role in given if role.place != "own" for rule in role.rules)
    plurals = ((rule.group, rule.resource) for rule in rules if verb in rule.verbs)
    return {BY_PLURAL[plural] for plural in plurals if plural in BY_PLURAL}


def test_the_chart_has_the_table() -> None:
    assert files.RIGHTS.read_text("utf-8") == files.rights_text(), "write it anew: make chart"


@each_provider
@each_part
def test_what_is_looked_at_is_what_may_be_read(provider: str, write: frozenset[Part]) -> None:
    for verb in rights.READ:
        assert with_verb(verb, granted(provider, write)) == set(looked_at(provider, write))


def _written(step: cascade.Step, write: frozenset[Part]) -> Iterator[Ref]:
    """What a step writes: objects of others are only laid into the picture."""
    laid = {child.ref for child in step.outcome.children if child.part not in write}
    objects = (*step.settlement.created, *step.settlement.changed)
    return (ref for ref in map(ref_of, objects) if ref not in laid)


@each_provider
@each_part
def test_what_is_written_may_be_written(provider: str, write: frozenset[Part]) -> None:
    given = granted(provider, write)
    made = [step.settlement for step in steps(provider, write)]
    written = {ref[:2] for step in steps(provider, write) for ref in _written(step, write)}
    assert written or not PROVIDERS[provider].kinds
    assert written <= with_verb("create", given)
    assert written <= with_verb("patch", given)
    gone = {ref[:2] for item in made for ref in item.deleted}
    assert gone <= with_verb("delete", given)


@each_provider
def test_what_may_be_written_is_of_the_provider_or_a_component(provider: str) -> None:
    kinds_of_routes = set(PROVIDERS[provider].kinds)
    assert with_verb("create", granted(provider, ROUTES)) == kinds_of_routes
    components = {
        child.ref[:2] for step in steps(provider, BOTH) for child in step.outcome.children
    }
    assert with_verb("create", granted(provider, BOTH)) == kinds_of_routes | components


@each_provider
def test_a_dry_run_may_write_nothing(provider: str) -> None:
    given = granted(provider, BOTH, dry_run=True)
    assert {verb for role in given for rule in role.rules for verb in rule.verbs} == set(
        rights.READ
    )


@each_provider
def test_no_provider_brings_rights_of_another(provider: str) -> None:
    names = [role.name for role in granted(provider, ROUTES) if role.name.startswith("provider-")]
    assert names == [f"provider-{provider.replace('_', '-')}"]


def test_without_knative_nothing_of_it_is_asked_for() -> None:
    given = granted("istio", BOTH, knative=False)
    rules = [rule for role in given for rule in role.rules]
    assert not [rule for rule in rules if rule.group.endswith("knative.dev")]
    assert "knative" not in {role.place for role in given}


def test_no_verb_and_no_resource_is_a_wildcard_and_no_secret_is_read_by_list() -> None:
    for role in ROLES:
        for rule in role.rules:
            assert "*" not in (*rule.verbs, rule.resource, rule.group)
            if rule.resource == "secrets":
                assert role.place == "own"
                assert rule.names or rule.verbs == ("create",)


def test_configuration_is_watched_in_its_two_namespaces_only() -> None:
    features = rights.features(providers=["ingress"], write=ROUTES, knative=True)
    places = [place for item, place in rights.watched(ROLES, features) if item.kind == "ConfigMap"]
    assert places == ["config", "knative"]


def test_what_is_watched_is_what_may_be_watched() -> None:
    features = rights.features(providers=["gateway_api", "envoy"], write=BOTH, knative=True)
    watched = {item.identity for item, _ in rights.watched(ROLES, features)}
    assert watched == with_verb("watch", rights.granted(ROLES, features))

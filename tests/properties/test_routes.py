"""What holds for the routes of every world, whatever is in it (design.md section 4).

Worlds come from tests/worlds.py by seed, so a failure names the seed that shows it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ingressctl.api import dns
from ingressctl.api.refs import Raw, Ref, owner_of, ref_of
from ingressctl.core import values
from ingressctl.core.differences import BETTER, KSERVE, Compat
from ingressctl.core.model import Route, Service
from ingressctl.core.passes import visibility, weights
from ingressctl.core.settings import Settings
from ingressctl.core.world import Reads, World
from ingressctl.plan import cascade
from ingressctl.sources.kserve import reconcile as kserve
from tests import worlds

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ISVC = ("serving.kserve.io", "InferenceService")
SOURCES = {ISVC: kserve.reconcile_routes}
READY = Settings(assume="ready")
ROUTING = frozenset({"VirtualService", "HTTPRoute", "Ingress"})
PROVIDERS = ("", "istio", "gateway_api", "ingress")

seeds = st.integers(0, 10_000)
providers = st.sampled_from(PROVIDERS)
compats = st.sampled_from((BETTER, KSERVE))


def run(objects: list[Raw], settings: Settings) -> cascade.Cascade:
    return cascade.run(World.of(objects), settings, now=NOW, sources=SOURCES)


def settings_of(provider: str, compat: Compat = BETTER) -> Settings:
    return replace(READY, provider=provider, compat=compat)


def routes(after: cascade.Cascade) -> Iterator[Route]:
    return (route for step in after.steps for route in step.outcome.routes)


def routing_objects(world: World) -> dict[Ref, Raw]:
    return {ref_of(obj): obj for obj in world if obj["kind"] in ROUTING}


@given(seeds, providers, compats)
def test_weights_of_a_rule_sum_to_100(seed: int, provider: str, compat: Compat) -> None:
    """Every rule with weights has 100 of them, in the model and in what is written."""
    after = run(worlds.make(seed, graphs=True).objects, settings_of(provider, compat))
    for route in routes(after):
        for group in route.groups:
            assert all(weights.total_weight(rule) in (None, 100) for rule in group.rules)
    for obj in routing_objects(after.world).values():
        for backends in _backends(obj):
            given_weights = [backend["weight"] for backend in backends if "weight" in backend]
            assert not given_weights or sum(given_weights) == 100


def _backends(obj: Raw) -> Iterator[list[dict[str, Any]]]:
    spec = obj["spec"]
    yield from (http["route"] for http in spec.get("http", ()))
    yield from (rule["backendRefs"] for rule in spec.get("rules", ()) if "backendRefs" in rule)


@given(seeds, providers, st.integers())
def test_order_of_the_world_does_not_matter(seed: int, provider: str, shuffle: int) -> None:
    """Objects in any order give the same objects and statuses."""
    objects = worlds.make(seed, graphs=True).objects
    mixed = random.Random(shuffle).sample(objects, len(objects))
    one, other = (run(given_order, settings_of(provider)).world for given_order in (objects, mixed))
    assert {ref_of(obj): obj for obj in one} == {ref_of(obj): obj for obj in other}


@given(seeds, providers, compats)
def test_a_second_cascade_writes_nothing(seed: int, provider: str, compat: Compat) -> None:
    """What was made is what is wanted."""
    settings = settings_of(provider, compat)
    first = run(worlds.make(seed, graphs=True).objects, settings)
    second = run(list(first.world), settings)
    assert second.passes == 1
    assert all(step.settlement.quiet for step in second.steps)


@given(seeds, providers)
def test_private_hosts_stay_inside(seed: int, provider: str) -> None:
    """No cluster-local host at a public entry, and none of a private service outside."""
    after = run(worlds.make(seed, graphs=True).objects, settings_of(provider))
    for route in routes(after):
        for group in route.groups:
            reaches = {entry.reach for entry in group.entries}
            assert "public" not in reaches or all(host.reach == "public" for host in group.hosts)
    for obj in after.world.list(ISVC):
        if worlds_label(obj):
            _is_private(obj, after)


def worlds_label(obj: Raw) -> bool:
    return "cluster-local" in (obj["metadata"].get("labels") or {}).values()


def _is_private(obj: Raw, after: cascade.Cascade) -> None:
    owner = owner_of(obj)
    assert "example.com" not in str((obj.get("status") or {}).get("url"))
    for made in routing_objects(after.world).values():
        if owner.controls(made):
            assert made["kind"] == "VirtualService"
            assert set(made["spec"]["gateways"]) <= {worlds.LOCAL_GATEWAY, "mesh"}
            assert "example.com" not in "".join(made["spec"]["hosts"])


@given(seeds, providers, compats)
def test_names_fit(seed: int, provider: str, compat: Compat) -> None:
    """Names and hosts of what is written are ones that Kubernetes and DNS accept."""
    after = run(worlds.make(seed, graphs=True).objects, settings_of(provider, compat))
    for ref, obj in routing_objects(after.world).items():
        assert dns.subdomain_fault(ref.name) == ""
        for host in _hosts(obj):
            assert host == "*" or dns.subdomain_fault(host.removeprefix("*.")) == ""


def _hosts(obj: Raw) -> list[str]:
    spec = obj["spec"]
    rules = spec.get("rules", ()) if obj["kind"] == "Ingress" else ()
    listed = (*spec.get("hosts", ()), *spec.get("hostnames", ()))
    return [*listed, *(rule["host"] for rule in rules if "host" in rule)]


CHANGES = ("stop", "private", "gone", "provider")


@given(seeds, st.sampled_from(CHANGES), st.sampled_from(PROVIDERS[1:]))
def test_stale_routes_go(seed: int, change: str, provider: str) -> None:
    """After any change only wanted objects are left: those that a fresh world would have."""
    before = run(worlds.make(seed, graphs=True).objects, READY).world
    changed = [_changed(obj, change) if ref_of(obj)[:2] == ISVC else obj for obj in before]
    settings = settings_of(provider) if change == "provider" else READY
    after = run(changed, settings).world
    fresh = [obj for obj in changed if obj["kind"] not in ROUTING]
    wanted = run(fresh, settings).world
    assert set(routing_objects(after)) == set(routing_objects(wanted))


def _changed(obj: Raw, change: str) -> Raw:
    meta, spec = dict(obj["metadata"]), dict(obj["spec"])
    if change == "stop":
        stopped = {"serving.kserve.io/stop": "true"}
        meta["annotations"] = {**(meta.get("annotations") or {}), **stopped}
    if change == "private":
        keys = ("networking.knative.dev/visibility", "networking.kserve.io/visibility")
        meta["labels"] = {**(meta.get("labels") or {}), **dict.fromkeys(keys, "cluster-local")}
    if change == "gone":
        spec.pop("transformer", None)
        spec.pop("explainer", None)
    return {**obj, "metadata": meta, "spec": spec}


@given(seeds)
def test_a_canary_gets_nothing_before_it_is_ready(seed: int) -> None:
    """Only canaries whose Deployment is available have weight."""
    after = run(worlds.make(seed, graphs=True).objects, settings_of("gateway_api"))
    unready = {
        repr(
            Service(
                obj["metadata"]["namespace"],
                f"{obj['metadata']['name']}-{canary['name']}-predictor",
            )
        )
        for obj in after.world.list(ISVC)
        for canary in (obj.get("status") or {}).get("canaryStatuses") or ()
        if not canary["ready"]
    }
    text = str([route.groups for route in routes(after)])
    assert not [service for service in unready if service in text]


@given(seeds)
def test_a_pass_mends_what_a_source_gets_wrong(seed: int) -> None:
    """A local host put at a public entry is kept from it, and told."""
    objects = worlds.make(seed, graphs=True).objects
    reads = Reads(World.of(objects), READY, providers={})
    for route in routes(run(objects, READY)):
        public = [entry for group in route.groups for entry in group.entries]
        wrong = route.with_groups(
            tuple(values.replace(group, entries=tuple(public)) for group in route.groups)
        )
        (mended,), found = visibility.apply((wrong,), reads)
        exposed = [
            host
            for group in mended.groups
            for host in group.hosts
            if host.reach == "local" and any(entry.reach == "public" for entry in group.entries)
        ]
        assert not exposed
        assert bool(found) == any(
            host.reach == "local" and any(entry.reach == "public" for entry in public)
            for host in route.hosts()
        )

"""Who is looked at again after a change is exactly enough: held to the brute-force answer.

After every change only those are reconciled that the picture names; what then stands for each
object equals a reconcile of everything over a world made afresh of the same objects.
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.api.refs import Raw, Ref, owner_of, ref_of
from ingressctl.core.differences import BETTER, Compat
from ingressctl.core.picture import Picture
from ingressctl.core.settings import Settings
from ingressctl.core.world import Lookup, World
from ingressctl.plan import cascade, registry
from tests import worlds

NOW = datetime(2026, 8, 21, 12, tzinfo=UTC)
WORLDS = int(os.environ.get("INGRESSCTL_FUZZ", "0")) or 25
CHANGES = 12


@pytest.mark.parametrize("seed", range(WORLDS))
def test_what_a_change_touches_is_enough(seed: int) -> None:
    """Whatever changes, reconciling those who looked gives what reconciling all gives."""
    settings = _settings(seed)
    picture = Picture(settings, cascade.CLAIMANTS)
    follower = _Follower(picture, settings)
    follower.change([(ref_of(obj), obj) for obj in worlds.make(seed, graphs=True).objects])
    for number, change in enumerate(_changes(seed, follower)):
        follower.change(change)
        assert follower.steps == _brute_force(picture, settings), (seed, number, change)


def test_one_edit_wakes_one_service() -> None:
    """Enough is not all: an edit of one of many services does not wake the others."""
    settings = _settings(0)
    picture = Picture(settings, cascade.CLAIMANTS)
    follower = _Follower(picture, settings)
    follower.change([(ref_of(obj), obj) for obj in worlds.make(3, graphs=True).objects])
    service = _services(picture)[0]
    copies = [_named(service, f"copy-{number}") for number in range(20)]
    follower.change([(ref_of(obj), obj) for obj in copies])
    edited = _edited(copies[7], random.Random(1), "annotation")
    assert picture.change([(ref_of(edited), edited)]) == {ref_of(edited)}


def test_a_key_that_nobody_read_wakes_nobody() -> None:
    """A ConfigMap's keys are told apart."""
    settings = _settings(0)
    picture = Picture(settings, cascade.CLAIMANTS)
    follower = _Follower(picture, settings)
    follower.change([(ref_of(obj), obj) for obj in worlds.make(3, modes=("Standard",)).objects])
    ref = Ref("", "ConfigMap", "kserve", "inferenceservice-config")
    stored: Any = copy.deepcopy(picture.get(ref))
    stored["data"]["unread"] = "1"
    assert picture.change([(ref, stored)]) == set()


def test_a_service_more_in_a_namespace_wakes_nobody_else() -> None:
    """Whoever asks only whether there is any object is not woken by the second one."""
    picture = Picture(Settings())
    one, two = (
        Ref("", "Service", "a", "one"),
        Ref("", "Service", "a", "two"),
    )
    picture.learn("asker", [Lookup("holds", ("", "Service", "a"), False)])
    assert picture.change([(one, _bare(one))]) == {"asker"}
    assert picture.change([(two, _bare(two))]) == set()
    assert picture.change([(one, None)]) == set()
    assert picture.change([(two, None)]) == {"asker"}


class _Follower:
    """Reconciles what the picture says, and keeps the last step of each object."""

    def __init__(self, picture: Picture, settings: Settings) -> None:
        self.picture = picture
        self.settings = settings
        self.steps: dict[Ref, cascade.Step] = {}

    def change(self, changes: list[tuple[Ref, Raw | None]]) -> None:
        touched = self.picture.change(changes)
        touched |= {ref for ref, _ in changes if ref[:2] in cascade.SOURCES}
        for ref in touched:
            assert isinstance(ref, Ref)
            obj = self.picture.get(ref)
            if obj is None:
                self.steps.pop(ref, None)
                self.picture.forget(ref)
                continue
            step = _step(obj, self.picture, self.settings)
            self.picture.learn(ref, (*step.lookups, Lookup("get", ref, True)))
            self.steps[ref] = step


def _brute_force(picture: Picture, settings: Settings) -> Mapping[Ref, cascade.Step]:
    world = World.of(list(picture))
    return {
        ref_of(obj): _step(obj, world, settings)
        for kind in cascade.SOURCES
        for obj in world.list(kind)
    }


def _step(obj: Raw, world: World, settings: Settings) -> cascade.Step:
    kind = ref_of(obj)[:2]
    return cascade.reconcile_one(
        obj,
        cascade.SOURCES[kind],
        world,
        settings,
        now=NOW,
        providers=registry.providers(),
    )


def _settings(seed: int) -> Settings:
    compat = BETTER if seed % 3 else Compat.parse("kserve,+Q15")
    parts = frozenset({"routes", "workloads"}) if seed % 2 else frozenset({"routes"})
    return Settings(compat=compat, write=parts)  # type: ignore[arg-type]


KINDS = tuple("edit edit config status take add back twin written stray".split())


def _changes(seed: int, follower: _Follower) -> Iterator[list[tuple[Ref, Raw | None]]]:
    choose, picture = random.Random(f"changes {seed}"), follower.picture
    spare = [
        obj
        for other in (seed + 1000, seed + 2000)
        for obj in worlds.make(other, graphs=True).objects
    ]
    removed: list[Raw] = []
    for _ in range(CHANGES):
        there = sorted(picture, key=ref_of)
        services = _services(picture)
        kind = choose.choice(KINDS) if services else "add"
        if kind == "twin":
            yield _twin(choose.choice(services), choose)
        elif kind == "written":
            yield _written(choose.choice(sorted(follower.steps.items()))[1])
        elif kind == "stray":
            yield _stray(choose.choice(services), choose)
        elif kind == "add":
            yield [(ref_of(obj), obj) for obj in choose.sample(spare, 3)]
        elif kind == "take":
            removed = choose.sample(there, min(2, len(there)))
            yield [(ref_of(obj), None) for obj in removed]
        elif kind == "back":
            yield [(ref_of(obj), obj) for obj in removed]
        elif kind == "config":
            yield _reconfigured(there, choose)
        else:
            obj = choose.choice(services)
            what = choose.choice(("annotation", "label", "stop", "private"))
            new = _without_status(obj) if kind == "status" else _edited(obj, choose, what)
            yield [(ref_of(obj), new)]


def _services(picture: Picture) -> list[Raw]:
    return list(picture.list(("serving.kserve.io", "InferenceService")))


def _reconfigured(there: list[Raw], choose: random.Random) -> list[tuple[Ref, Raw | None]]:
    maps = [obj for obj in there if obj["kind"] == "ConfigMap"]
    if not maps:
        return []
    obj: Any = copy.deepcopy(choose.choice(maps))
    data = obj.setdefault("data", {})
    if "ingress" in data and choose.random() < 0.7:
        ingress = json.loads(data["ingress"])
        ingress["ingressDomain"] = choose.choice(("example.com", "other.example", "b.example"))
        ingress["domainTemplate"] = choose.choice(
            (
                "{{ .Name }}.{{ .IngressDomain }}",
                "{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}",
            )
        )
        data["ingress"] = json.dumps(ingress)
    elif choose.random() < 0.3 and data:
        data.pop(choose.choice(sorted(data)))
    else:
        data["unread"] = str(choose.random())
    return [(ref_of(obj), obj)]


def _edited(obj: Raw, choose: random.Random, what: str) -> Raw:
    new: Any = copy.deepcopy(obj)
    meta = new["metadata"]
    if what == "annotation":
        meta.setdefault("annotations", {})["note"] = str(choose.random())
    elif what == "label":
        meta.setdefault("labels", {})["team"] = choose.choice(("a", "b"))
    elif what == "stop":
        meta.setdefault("annotations", {})["serving.kserve.io/stop"] = choose.choice(
            ("true", "false")
        )
    else:
        key = "networking.kserve.io/visibility"
        labels = meta.setdefault("labels", {})
        if labels.pop(key, None) is None:
            labels[key] = "cluster-local"
    return new


def _twin(service: Raw, choose: random.Random) -> list[tuple[Ref, Raw | None]]:
    """Another service of that name, in another namespace: it may ask for the same host."""
    new: Any = copy.deepcopy(service)
    meta = new["metadata"]
    meta["namespace"] = choose.choice(("team-a", "team-b", "team-c"))
    meta["uid"] = f"uid-{meta['namespace']}-{meta['name']}"
    meta["creationTimestamp"] = choose.choice(("2020-01-01T00:00:00Z", "2026-01-01T00:00:00Z"))
    return [(ref_of(new), new)]


def _written(step: cascade.Step) -> list[tuple[Ref, Raw | None]]:
    """What the controller would have written for one service."""
    settled = step.settlement
    new: list[tuple[Ref, Raw | None]] = [
        (ref_of(obj), obj) for obj in (*settled.created, *settled.changed)
    ]
    return [*new, *((ref, None) for ref in settled.deleted)]


def _stray(service: Raw, choose: random.Random) -> list[tuple[Ref, Raw | None]]:
    """A route that the service owns and does not want."""
    ref = Ref("networking.istio.io", "VirtualService", ref_of(service).namespace, "stray")
    obj: Any = _bare(ref)
    obj["apiVersion"] = "networking.istio.io/v1"
    if choose.random() < 0.7:
        obj["metadata"]["ownerReferences"] = [owner_of(service).reference()]
    return [(ref, obj)]


def _without_status(obj: Raw) -> Raw:
    return {key: value for key, value in obj.items() if key != "status"}


def _named(obj: Raw, name: str) -> Raw:
    new: Any = copy.deepcopy(obj)
    new["metadata"]["name"] = name
    new["metadata"]["uid"] = f"uid-{name}"
    return new


def _bare(ref: Ref) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": ref.kind,
        "metadata": {"namespace": ref.namespace, "name": ref.name},
    }

"""The picture of objects, and what is remembered of looking at it."""

from __future__ import annotations

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.settings import Settings
from ingressctl.core.world import Claim, Lookup, Reads, World, precedence

CONFIG = Ref("", "ConfigMap", "a", "c")


def config(name: str, namespace: str = "a", **labels: str) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "data": {"k": "v"},
    }


def test_lists_by_namespace_and_labels_in_a_fixed_order() -> None:
    world = World.of([config("b", x="1"), config("a"), config("z", "b", x="1")])
    kind = ("", "ConfigMap")
    names = [obj["metadata"]["name"] for obj in world.list(kind)]
    assert names == ["a", "b", "z"]
    assert [o["metadata"]["name"] for o in world.list(kind, "a", {"x": "1"})] == ["b"]
    assert world.list(kind, "nowhere") == ()


def test_an_overlay_leaves_the_world_below_alone() -> None:
    below = World.of([config("c")])
    above = below.overlay([{**config("c"), "data": {"k": "w"}}, config("d")], without=[])
    assert below.get(CONFIG) == config("c")
    assert (above.get(CONFIG) or {})["data"] == {"k": "w"}
    assert len(below.overlay([], without=[CONFIG])) == 0


def test_misses_are_remembered_as_hits_are() -> None:
    reads = Reads(World.of([config("c")]), Settings(), providers={})
    reads.get(CONFIG)
    reads.get(CONFIG._replace(name="absent"))
    assert reads.config("a", "c", "k") == "v"
    assert reads.config("a", "c", "absent") is None
    reads.list(("", "Service"), "a")
    assert set(reads.lookups) == {
        Lookup("get", CONFIG, True),
        Lookup("get", CONFIG._replace(name="absent"), False),
        Lookup("config", ("a", "c", "k"), True),
        Lookup("config", ("a", "c", "absent"), False),
        Lookup("list", ("", "Service", "a", ()), False),
    }


def test_claims_rank_the_holder_then_the_older_then_the_name() -> None:
    def claim(name: str, *, holds: bool = False, created: str = "") -> Claim:
        return Claim(Ref("g", "K", "ns", name), "h", holds, created)

    holder = claim("z", holds=True, created="2026-03-01")
    older, younger = claim("y", created="2026-01-01"), claim("a", created="2026-02-01")
    undated, named = claim("b"), claim("c")
    ranked = sorted([named, undated, younger, older, holder], key=precedence)
    assert ranked == [holder, older, younger, undated, named]

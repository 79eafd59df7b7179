"""The closed language of the field cases: what holds, what does not, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import checks, field_stage, paths
from tests.cases.checks import Seen

OBJECTS = (
    {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "a", "namespace": "x", "annotations": {"a.b/c": "1m"}},
        "spec": {"rules": [{"host": "one"}, {"host": "two"}], "weights": [60, 40]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other"}]},
    },
    {
        "apiVersion": "networking.internal.knative.dev/v1alpha1",
        "kind": "Ingress",
        "metadata": {"name": "b", "namespace": "x"},
        "spec": {"rules": []},
    },
)
SEEN = Seen(
    objects=OBJECTS,
    generated=OBJECTS[:1],
    measure=lambda word, _: {"writes": 3, "events": ["Ingress x/a"]}[word],
    admitted=lambda obj: "" if obj["metadata"]["name"] == "a" else "no",
    xds=lambda version: [("Route", ("r", "one"), {"route": {"timeout": version}})],
    router_configs=list,
    providers=frozenset({"istio"}),
)
HOSTS = {"select": "Ingress x/a", "path": "spec.rules[*].host"}
READY = {"select": "Ingress x/a", "path": "status.conditions[type=Ready].status"}
WEIGHTS = {"select": "Ingress x/a", "path": "spec.weights[*]"}

HOLDS: tuple[dict[str, Any], ...] = (
    HOSTS | {"op": "equals", "value": ["one", "two"]},
    HOSTS | {"op": "equalsSet", "value": ["two", "one"]},
    HOSTS | {"op": "contains", "value": "two"},
    HOSTS | {"op": "allIn", "value": ["one", "two", "three"]},
    HOSTS | {"op": "noneIn", "value": ["three"]},
    HOSTS | {"op": "allMatch", "value": "^(one|two)$"},
    HOSTS | {"op": "unique"},
    HOSTS | {"op": "count", "value": 2},
    HOSTS | {"op": "eachLength", "value": 3},
    HOSTS | {"op": "maxBytes", "value": 5},
    READY | {"op": "equals", "value": "True"},
    READY | {"op": "allEqual", "value": "True"},
    WEIGHTS | {"op": "sum", "value": 100},
    WEIGHTS | {"op": "atLeast", "value": 40},
    WEIGHTS | {"op": "atMost", "value": 60.0},
    {
        "select": "Ingress */a",
        "path": 'metadata.annotations["a.b/c"]',
        "op": "equals",
        "value": "1m",
    },
    {"select": "Ingress x/a", "path": "spec.rules[1].host", "op": "equals", "value": "two"},
    {"select": "KIngress *", "op": "count", "value": 1},
    {"select": "*", "op": "count", "value": 1},
    {"select": "Service x/none", "op": "absent"},
    {"select": "Ingress x/a", "path": "spec.none", "op": "absent"},
    {"select": "Ingress x/none", "path": "spec.weights[*]", "op": "sum", "value": 0},
    {"select": "Ingress *", "where": {"spec.rules[0].host": "one"}, "op": "admitted"},
    {"select": "xds Route o*", "path": "route.timeout", "op": "equals", "value": "last"},
    {"measure": "writes", "op": "atMost", "value": 3},
    {"measure": "events", "op": "contains", "value": "Ingress x/a"},
    {"select": "Ingress x/none", "op": "present", "provider": "xds"},
)
FAILS: tuple[dict[str, Any], ...] = (
    HOSTS | {"op": "equals", "value": ["two", "one"]},
    HOSTS | {"op": "allEqual", "value": "one"},
    HOSTS | {"op": "noneIn", "value": ["two"]},
    HOSTS | {"op": "minLength", "value": 4},
    HOSTS | {"op": "maxLength", "value": 2},
    HOSTS | {"op": "absent"},
    HOSTS | {"op": "isLike", "value": "one"},
    HOSTS | {"op": "equals"},
    HOSTS | {"op": "equals", "value": ["one", "two"], "because": "so"},
    WEIGHTS | {"op": "sum", "value": 99},
    {"select": "Ingress x/none", "op": "present"},
    {"select": "Ingress x/a", "path": "spec.none", "op": "equals", "value": None},
    {"select": "Ingress x/a", "path": "spec.none", "op": "allIn", "value": []},
    {"select": "Ingress x/a", "path": "spec..host", "op": "present"},
    {"select": "KIngress x/b", "op": "admitted"},
    {"measure": "luck", "op": "atMost", "value": 3},
    {"measure": "writes", "select": "Ingress x/a", "op": "atMost", "value": 3},
)


@pytest.mark.parametrize("check", HOLDS, ids=str)
def test_holds(check: dict[str, Any]) -> None:
    assert checks.judge(check, SEEN) == []


@pytest.mark.parametrize("check", FAILS, ids=str)
def test_fails(check: dict[str, Any]) -> None:
    assert checks.judge(check, SEEN)


def test_true_is_not_one() -> None:
    """Booleans are no numbers, numbers are numbers."""
    assert not checks._equal(True, 1)
    assert checks._equal(1, 1.0)


@pytest.mark.parametrize("key", ["queueProxy", "check", "probes"])
def test_an_unknown_key_of_the_block_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=key):
        field_stage.block_of(f"```yaml\n{key}: []\n```")


def test_all_values_of_a_map() -> None:
    assert paths.find({"a": {"x": 1, "y": 2}}, "a.*") == [1, 2]

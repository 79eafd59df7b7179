"""Objects that nobody checked: a cascade ends with findings or faults, never with an exception.

What has not the shape of its kind never joins a world (api/shapes.py); all else is used.

Valid manifests are broken at random places with random JSON. INGRESSCTL_FUZZ=N runs N
examples a test instead of the default.
"""

from __future__ import annotations

import copy
import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingressctl.api import shapes
from ingressctl.core.differences import KSERVE
from ingressctl.core.settings import Part, Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from tests.cases import comparing, loading

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EXAMPLES = int(os.environ.get("INGRESSCTL_FUZZ", "400"))

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(
        ["", "{{", "{{ .Name }}", "True", "http://", "a.b", "*", "/", "-1", "a" * 300]
    )
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


def worlds() -> list[list[dict[str, Any]]]:
    """Inputs of the recorded cases: every written form that users have."""
    found = [
        run.case["input"]
        for run in loading.runs(loading.SUITES_FOLDER)
        if run.compat == "kserve" and "input" in run.case
    ]
    return [comparing.documents(text) for text in dict.fromkeys(found)]


WORLDS = worlds()

EVERYTHING = frozenset[Part](("routes", "workloads"))
CHOSEN = (
    Settings(),
    Settings(write=EVERYTHING),
    Settings(assume="ready"),
    Settings(compat=KSERVE, write=EVERYTHING),
    Settings(compat=KSERVE, write=EVERYTHING, assume="ready"),
)


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [prefix] if prefix else []
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        found += paths(inner, (*prefix, key))
    return found


def broken(obj: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    place: Any = obj
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value


@st.composite
def broken_worlds(draw: st.DrawFn) -> list[dict[str, Any]]:
    objects = copy.deepcopy(draw(st.sampled_from(WORLDS)))
    for _ in range(draw(st.integers(1, 3))):
        obj = draw(st.sampled_from(objects))
        keys = [path for path in paths(obj) if path[0] not in ("apiVersion", "kind")]
        broken(obj, draw(st.sampled_from(keys)), draw(JSON))
    return [obj for obj in objects if shapes.fault(obj) is None]


@pytest.mark.parametrize("provider", ["", "istio", "gateway_api", "ingress", "envoy"])
@given(objects=broken_worlds(), chosen=st.sampled_from(CHOSEN))
@settings(
    max_examples=EXAMPLES // 5,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_a_cascade_never_raises(
    provider: str, objects: list[dict[str, Any]], chosen: Settings
) -> None:
    cascade.run(World.of(objects), replace(chosen, provider=provider), now=NOW, passes=3)


def test_every_recorded_object_has_the_shape_of_its_kind() -> None:
    """The shapes are no stricter than what API servers really held."""
    faults = [str(fault) for objects in WORLDS for obj in objects if (fault := shapes.fault(obj))]
    assert faults == []

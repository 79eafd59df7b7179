"""Graphs that nobody checked: admission judges every one, and a router starts with what it admits.

Valid graphs are broken at random places with random JSON. INGRESSCTL_FUZZ=N runs N examples a
test instead of the default.
"""

from __future__ import annotations

import copy
import json
import os
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingressctl.api import admission, inferencegraphs, unknown_fields
from ingressctl.api.admission import graphs
from ingressctl.core.differences import BETTER, KSERVE, Compat
from ingressctl.core.settings import Settings
from ingressctl.core.world import Reads, World
from ingressctl.sources.graph import argument, targets
from tests.fuzz.test_broken_objects import JSON, broken, paths
from tests.unit.graph import making

EXAMPLES = int(os.environ.get("INGRESSCTL_FUZZ", "400"))

WHOLE: dict[str, Any] = {
    "nodes": {
        "root": {
            "routerType": "Sequence",
            "steps": [
                {
                    "name": "a",
                    "serviceName": "iris",
                    "path": "/v1/chat/completions",
                    "timeout": "2s",
                    "retries": {"attempts": 2, "backoff": "10ms", "statuses": [503]},
                    "fallback": {"graphName": "other"},
                    "concurrency": 4,
                    "requestHeaders": ["X-Tenant"],
                    "responseHeaders": ["X-Cost"],
                    "appProtocol": "kubernetes.io/h2c",
                    "dependency": "Hard",
                },
                {"nodeName": "switch", "data": "$response", "condition": "predictions.0"},
                {"nodeName": "all", "mapPredictionsToInstances": True},
            ],
        },
        "switch": {
            "routerType": "Switch",
            "steps": [
                {"serviceUrl": "http://a/", "condition": "instances.#(kind==a)"},
                {"nodeName": "split"},
            ],
        },
        "split": {
            "routerType": "Splitter",
            "steps": [
                {"serviceUrl": "https://b:8443/x?y=z", "weight": 30},
                {"graphName": "other", "weight": 70},
            ],
        },
        "all": {"routerType": "Ensemble", "steps": [{"name": "b", "serviceName": "iris"}]},
    },
    "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
    "affinity": {},
    "timeout": 60,
    "routerTimeouts": {"serverRead": 1, "serverWrite": 2, "serverIdle": 3, "serviceClient": 4},
    "minReplicas": 1,
    "maxReplicas": 3,
    "scaleTarget": 50,
    "scaleMetric": "cpu",
    "tolerations": [{"operator": "Exists"}],
    "nodeSelector": {"a": "b"},
    "serviceAccountName": "x",
    "requestHeaders": ["Authorization"],
    "responseHeaders": ["X-Trace-.*"],
    "maxRequestBytes": 1000,
}
WORLD = World.of(
    [
        making.config(),
        making.service("iris"),
        making.graph(name="other", status={"address": {"url": "http://other"}}),
    ]
)
MANY = settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    deadline=None,
)


@st.composite
def broken_graphs(draw: st.DrawFn) -> dict[str, Any]:
    obj = making.graph()
    obj["spec"] = copy.deepcopy(WHOLE)
    for _ in range(draw(st.integers(0, 3))):
        keys = [path for path in paths(obj) if path[0] in ("spec", "metadata")]
        broken(obj, draw(st.sampled_from(keys)), draw(JSON))
    return obj


def test_the_whole_graph_is_admitted() -> None:
    """So what is broken are graphs that would run."""
    obj = making.graph()
    obj["spec"] = copy.deepcopy(WHOLE)
    admitted = admission.admit(obj, operation="create", config={}, differs=BETTER.differs)
    assert admitted.refusals == ()
    assert list(unknown_fields.find(obj)) == []


@given(broken_graphs(), st.sampled_from((BETTER, KSERVE)))
@MANY
def test_any_graph_is_judged(obj: dict[str, Any], compat: Compat) -> None:
    """By admission and by the search for unknown fields; what is refused has a path."""
    peers = WORLD.list(inferencegraphs.KIND)
    for old in (None, obj):
        refused = admission.validate(
            obj,
            old=old,
            operation="create" if old is None else "update",
            config={},
            differs=compat.differs,
            peers=peers,
        )
        assert all(item.path and item.message and item.remedy for item in refused)
    admission.admit(obj, operation="create", config={}, differs=compat.differs, peers=peers)
    list(unknown_fields.find(obj))


@given(broken_graphs())
@MANY
def test_a_router_starts_with_what_admission_accepts(obj: dict[str, Any]) -> None:
    admitted = admission.admit(obj, operation="create", config={}, differs=BETTER.differs)
    if admitted.refusals or "Infinity" in json.dumps(obj):  # which no API server can say
        return
    spec = inferencegraphs.of_raw(obj["spec"])
    reads = Reads(WORLD, Settings(), providers={})
    resolved = targets.resolve("team-a", spec, reads).spec
    text = argument.text(resolved, None)
    again = inferencegraphs.of_raw(json.loads(text))
    assert graphs.refusals(again, differs=BETTER.differs) == ()
    assert json.loads(argument.text(again, None)) == json.loads(text)

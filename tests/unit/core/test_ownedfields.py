"""Fields that somebody owns beyond what is wanted (fieldsV1 of the API server)."""

from __future__ import annotations

import pytest

from ingressctl.core import managed, ownedfields

CONTAINER = {"name": "a", "image": "x", "env": [{"name": "K", "value": "v"}]}
OWNED = {
    "f:replicas": {},
    "f:containers": {
        'k:{"name":"a"}': {
            ".": {},
            "f:name": {},
            "f:image": {},
            "f:env": {'k:{"name":"K"}': {".": {}, "f:name": {}, "f:value": {}}},
        }
    },
}


@pytest.mark.parametrize(
    ("wanted", "more"),
    [
        ({"replicas": 1, "containers": [CONTAINER]}, False),
        ({"replicas": 1, "containers": [CONTAINER, {"name": "b"}], "more": 1}, False),
        ({"containers": [CONTAINER]}, True),
        ({"replicas": 1, "containers": [{**CONTAINER, "env": []}]}, True),
        ({"replicas": 1, "containers": [{**CONTAINER, "name": "b"}]}, True),
        ({"replicas": 1}, True),
    ],
)
def test_what_is_owned_and_not_wanted(wanted: dict, more: bool) -> None:
    assert ownedfields.exceed(OWNED, wanted) is more


def test_ports_are_found_by_their_default_protocol() -> None:
    owned = {"f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {"f:containerPort": {}}}}
    assert not ownedfields.exceed(owned, {"ports": [{"containerPort": 80}]})
    assert ownedfields.exceed(owned, {"ports": [{"containerPort": 81}]})


def test_sets_are_compared_by_value() -> None:
    owned = {"f:finalizers": {'v:"a"': {}}}
    assert not ownedfields.exceed(owned, {"finalizers": ["a", "b"]})
    assert ownedfields.exceed(owned, {"finalizers": ["b"]})


@pytest.mark.parametrize("manager", ["ingressctl-inferenceservice", "kubectl"])
def test_only_what_we_applied_counts_also_in_a_digest(manager: str) -> None:
    entry = {"manager": manager, "operation": "Apply", "fieldsV1": {"f:spec": OWNED}}
    stored = {"kind": "Deployment", "metadata": {"managedFields": [entry]}}
    wanted = {"spec": {"replicas": 1}}
    ours = manager.startswith("ingressctl-")
    assert managed.owns_more(stored, wanted) is ours
    assert managed.owns_more(managed.digest(stored), wanted) is ours

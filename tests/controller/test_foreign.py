"""Objects of somebody else that have the names of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver import made, robots
from tests.apiserver.replica import eventually, quiet, running_replica
from tests.apiserver.server import ApiServer

ROUTER = dict.fromkeys(("cpuRequest", "cpuLimit", "memoryRequest", "memoryLimit"), "1")


def service(name: str) -> dict[str, Any]:
    """An application that nobody outside is to see."""
    spec = {"selector": {"app": "billing"}, "ports": [{"port": 80}]}
    metadata = {"name": name, "namespace": "team-a"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def graph(name: str) -> dict[str, Any]:
    nodes = {"root": {"routerType": "Sequence", "steps": [{"serviceUrl": "http://x.example/"}]}}
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"nodes": nodes},
    }


@pytest.mark.parametrize(
    ("owner", "foreign"),
    [(graph("billing"), "billing"), (made.service("billing"), "billing-predictor")],
)
async def test_no_route_shows_a_service_that_is_somebody_elses(
    server: ApiServer, kubeconfig: Path, owner: dict[str, Any], foreign: str
) -> None:
    """He never asked for one; and no good news is told of what is not to be."""
    config = made.config()
    config["data"]["router"] = json.dumps({"image": "router:1", **ROUTER})
    before = service(foreign)
    server.put(config, before)
    async with robots.at_work(server), running_replica(kubeconfig):
        server.put(owner)
        stored = await eventually(
            "told", lambda: denied(server.get(owner["kind"], "billing") or {})
        )
        await quiet(lambda: server.work)
        assert server.objects.select(("gateway.networking.k8s.io", "httproutes"), "") == []
        there = server.get("Service", foreign)
        assert there is not None
        assert there["spec"] == before["spec"]
        assert "url" not in stored["status"]
        events = server.objects.select(("events.k8s.io", "events"), "")
        assert "ObjectNotOwned" in {event["reason"] for event in events}
        assert not [event["reason"] for event in events if event["type"] == "Normal"]
        server.delete("Service", foreign)
        await eventually(
            "ready", lambda: made.condition(server.get(owner["kind"], "billing"), "Ready") == "True"
        )


def denied(obj: dict[str, Any]) -> dict[str, Any] | None:
    found = (obj.get("status") or {}).get("conditions") or ()
    return obj if any(item.get("reason") == "ObjectNotOwned" for item in found) else None

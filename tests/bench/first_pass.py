"""The first pass of the controller over a cluster at rest, without a network: CPU and memory.

``python -m tests.bench.first_pass N`` prints JSON. Objects are what the controller itself would
have written, as JSON bytes in the order of lists.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sys
import time
from datetime import UTC, datetime
from typing import Any

import orjson

from e2e.bench import cluster
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster.mirror import Mirror
from ingressctl.cluster.queue import Urgency
from ingressctl.cluster.running import THRESHOLDS
from ingressctl.core import conditions
from ingressctl.core.settings import Settings
from ingressctl.core.world import Lookup, World
from ingressctl.plan import cascade, registry, writes
from tests.bench import worlds

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def at_rest(size: int) -> list[bytes]:
    """All objects of a cluster whose controller has nothing left to do."""
    settings = Settings(write=frozenset({"routes", "workloads"}))
    config = worlds.config("Standard", kserveIngressGateway="kserve/kserve-ingress-gateway")
    found: list[bytes] = [orjson.dumps(stored(config, 1))]
    for first in range(0, size, 100):
        services = [stored(cluster.service(number), number) for number in range(first, first + 100)]
        world = World.of([config, *services])
        for _ in range(8):
            done = cascade.run(world, settings, now=NOW, passes=1)
            world = done.world.overlay(_ready(obj) for obj in done.world)
        found += [orjson.dumps(_timed(obj)) for obj in world if obj["kind"] != "ConfigMap"]
    return found


def _ready(obj: Raw) -> Raw:
    """What others say of an object: uid, version, and that it is ready."""
    kind = ref_of(obj)[:2]
    obj = stored(obj, hash(ref_of(obj)) % 10**9)
    if kind == cluster.DEPLOYMENT:
        return {**obj, "status": cluster.AVAILABLE}
    if kind == cluster.HTTP_ROUTE:
        return {**obj, "status": cluster.accepted(obj)}
    return obj


def stored(obj: Raw, number: int) -> Raw:
    """As an API server has it: with uid, version, managedFields."""
    meta = {
        "uid": f"00000000-0000-0000-0000-{number:012d}",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "resourceVersion": str(number + 1),
        "generation": 1,
        **obj["metadata"],
        "managedFields": [
            {
                "manager": "ingressctl-inferenceservice",
                "operation": "Apply",
                "time": "2026-01-01T00:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": _fields(obj.get("spec") or {})},
            }
        ],
    }
    return {**obj, "metadata": meta}


def _fields(value: Any) -> dict[str, Any]:
    """What an apply of a value owns, lists as a whole."""
    if not isinstance(value, dict):
        return {}
    return {f"f:{key}": _fields(inner) for key, inner in value.items()}


def _timed(obj: Raw) -> Raw:
    status = obj.get("status")
    if ref_of(obj)[:2] != cluster.INFERENCE_SERVICE or not status:
        return obj
    return {**obj, "status": conditions.stamped(status, {}, "2026-01-01T00:00:00Z")}


class Silent:
    """Nobody listens."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


def first_pass(objects: list[bytes]) -> dict[str, float]:
    """Decode, put into the picture, reconcile, plan: everything but the network."""
    gc.set_threshold(*THRESHOLDS)
    settings = Settings(write=frozenset({"routes", "workloads"}))
    woken: list[Ref] = []

    def wake(ref: Ref, urgency: Urgency) -> None:
        woken.append(ref)

    began = time.process_time()
    mirror = Mirror(
        settings, claimants=cascade.CLAIMANTS, sources=cascade.SOURCES, wake=wake, heard=Silent()
    )
    for raw in objects:
        mirror.put(orjson.loads(raw))
    listed = time.process_time()
    gc.collect()
    gc.freeze()
    asyncio.run(mirror.begin())
    providers = {"gateway_api": registry.providers()["gateway_api"]}
    kinds = registry.routing_kinds(providers)
    writing = 0
    for ref in woken:
        obj = mirror.picture.get(ref)
        assert obj is not None
        step = cascade.reconcile_one(
            obj,
            cascade.SOURCES[ref[:2]],
            mirror.picture,
            mirror.settings,
            now=NOW,
            providers=providers,
        )
        mirror.picture.learn(ref, (*step.lookups, Lookup("get", ref, True)))
        mirror.picture.memo.clear()
        plan = writes.plan(
            obj,
            step,
            mirror.picture,
            mirror.settings,
            kinds=kinds,
            bearings=writes.Bearings(settle=5.0),
            now=NOW,
        )
        writing += not plan.quiet
    ended = time.process_time()
    if writing:
        sys.exit(f"{writing} of {len(woken)} services are not at rest")
    return {
        "list_cpu": listed - began,
        "pass_cpu": ended - listed,
        "cpu": ended - began,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Make the cluster in a process of its own, for its memory must not count."""
    size = int(sys.argv[1])
    if sys.argv[2:] == ["make"]:
        sys.stdout.buffer.write(b"\n".join(at_rest(size)))
        return
    import subprocess  # noqa: PLC0415 - only the parent needs it

    made = subprocess.run(
        [sys.executable, "-m", "tests.bench.first_pass", str(size), "make"],
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    print(json.dumps(first_pass(made.split(b"\n"))))


if __name__ == "__main__":
    main()

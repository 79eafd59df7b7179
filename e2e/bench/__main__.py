"""``python -m e2e.bench [N]``: every figure of the controller at N services, in one run.

Prints JSON, one mapping. CPU is that of the controller's process; compare figures of one run.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from e2e import charts, controllers
from e2e.bed import absence
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.bench import cluster, processes
from e2e.controllers import Controller
from e2e.test_controller import FLAGS, VALUES
from ingressctl.api.refs import Ref
from ingressctl.cluster.client import MERGE, Client
from ingressctl.plan.kinds import BY_IDENTITY
from tests.apiserver import made

PLAIN = 50
LIMIT = 900.0


def main() -> None:
    """Fill a cluster, measure, print."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    try:
        figures = run(size)
    except absence.Absent as absent:
        print(f"skipped: {absent}", file=sys.stderr)
        figures = {}
    print(json.dumps(figures))


def run(size: int) -> dict[str, float]:
    """All measures on a cluster of their own. Raises absence.Absent."""
    with tempfile.TemporaryDirectory() as logs, Bed.start((beds.CRDS,), logs=Path(logs)) as bed:
        prepare(bed)
        return asyncio.run(measured(bed, size))


def prepare(bed: Bed) -> None:
    """Configuration, gateway and namespaces."""
    charts.make_namespaces(bed)
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cluster.namespace(number)}}
        for number in range(cluster.NAMESPACES)
    ]
    bed.apply(yaml.safe_dump_all([made.config(), made.gateway(), *spaces]))


async def measured(bed: Bed, size: int) -> dict[str, float]:
    """All measures, one after the other."""
    figures: dict[str, float] = {}
    async with cluster.connected(bed.kubeconfig) as client:
        marker = cluster.Marker(client)
        marking = asyncio.create_task(marker.run())
        try:
            await fill(bed, client, size, figures)
            await start(bed, figures)
            tell(figures)
            await cold(bed, client, size, figures)
            tell(figures)
            await marker.caught_up()
            await edits(bed, client, size, figures)
        finally:
            marking.cancel()
    return figures


def tell(figures: dict[str, float]) -> None:
    """What is known so far, for the rest takes minutes and may fail."""
    say(", ".join(f"{name} {value:.4g}" for name, value in figures.items()))


def say(text: str) -> None:
    """Progress, for it takes minutes."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


async def fill(bed: Bed, client: Client, size: int, figures: dict[str, float]) -> None:
    """Make the services, and let the controller make all that belongs to them."""
    say(f"{size} services are made")
    await cluster.all_at_once(
        cluster.create(client, cluster.service(number)) for number in range(size)
    )
    say("their objects are made")
    controller = await asyncio.to_thread(controllers.started, bed, *FLAGS, values=VALUES)
    await routes(client, 2 * size)
    await idle(controller)
    await end(bed, controller)


async def start(bed: Bed, figures: dict[str, float]) -> None:
    """Everything is in place: a start, and a resync."""
    say("a start with everything in place")
    controller = await asyncio.to_thread(controllers.started, bed, *FLAGS, values=VALUES)
    cpu, wall = await idle(controller)
    figures["start_cpu"], figures["start_wall"] = cpu, wall
    figures["start_mb"] = processes.peak(controller.pid)
    figures["read_cpu"] = (await asyncio.to_thread(floor, bed))["cpu"]
    figures["start_writes"] = controller.value("ingressctl_writes_total")
    say("a resync")
    requests = controller.value("rest_client_requests_total")
    before = processes.cpu(controller.pid)
    os.kill(controller.pid, signal.SIGHUP)
    began = time.monotonic()
    cpu, _ = await idle(controller)
    leases = 2 * (time.monotonic() - began + 2)
    figures["resync_cpu"] = cpu - before
    more = controller.value("rest_client_requests_total") - requests
    figures["resync_requests_beyond_leases"] = max(0.0, more - leases)
    await end(bed, controller)


def floor(bed: Bed, *files: Path) -> dict[str, float]:
    """What the requests alone cost another process (floor.py)."""
    command = [sys.executable, "-m", "e2e.bench.floor", str(bed.kubeconfig), *map(str, files)]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(ran.stdout)
    return found


async def cold(bed: Bed, client: Client, size: int, figures: dict[str, float]) -> None:
    """All routes are gone; then a plain loop that sends the same writes."""
    say("all routes are deleted")
    bodies = await delete_routes(client)
    controller = await asyncio.to_thread(controllers.started, bed, *FLAGS, values=VALUES)
    began = time.monotonic()
    await routes(client, 2 * size)
    figures["cold_wall"] = time.monotonic() - began
    figures["cold_cpu"] = processes.cpu(controller.pid)
    cpu, _ = await idle(controller)
    figures["cold_idle_cpu"] = cpu
    figures["cold_writes"] = controller.value("ingressctl_writes_total")
    figures["cold_mb"] = processes.peak(controller.pid)
    await end(bed, controller)
    await delete_routes(client)
    say("a plain loop sends the same routes")
    file = bed.logs / "routes.jsonl"
    file.write_text("".join(json.dumps(body) + "\n" for body in bodies))
    loop = await asyncio.to_thread(floor, bed, file)
    figures["loop_wall"], figures["loop_cpu"] = loop["seconds"], loop["cpu"]
    figures["cold_to_loop"] = figures["cold_wall"] / figures["loop_wall"]


async def edits(bed: Bed, client: Client, size: int, figures: dict[str, float]) -> None:
    """One edit after the other, until a watch shows the route."""
    alone = sorted([await plain(client, number % size) for number in range(PLAIN)])
    figures["plain_ms"] = alone[PLAIN // 2] * 1000
    controller = await asyncio.to_thread(controllers.started, bed, *FLAGS, values=VALUES)
    await idle(controller)
    say("edits")
    before = processes.cpu(controller.pid)
    rounds = min(size, cluster.CANARIES)
    times = [await edit(client, number, 1 + number % 49) for number in range(rounds)]
    times.sort()
    figures["edit_p50_ms"] = times[len(times) // 2] * 1000
    figures["edit_to_plain"] = figures["edit_p50_ms"] / figures["plain_ms"]
    figures["edit_p99_ms"] = times[max(0, int(rounds * 0.99) - 1)] * 1000
    figures["edit_cpu_ms"] = (processes.cpu(controller.pid) - before) / rounds * 1000
    tell(figures)
    say("the domain changes")
    began = time.monotonic()
    await client.send(
        "PATCH",
        "/api/v1/namespaces/kserve/configmaps/inferenceservice-config",
        None,
        {"data": made.config(ingressDomain="new.example.org")["data"]},
        MERGE,
    )
    await asyncio.sleep(1)
    during = [await edit(client, number, 50 + number) for number in range(20)]
    figures["edit_during_domain_p50_ms"] = sorted(during)[10] * 1000
    await renamed(client, 2 * size, "new.example.org")
    figures["domain_wall"] = time.monotonic() - began
    await end(bed, controller)


async def edit(client: Client, number: int, percent: int) -> float:
    """Seconds from an edit of a canary's share until the route of its service has it."""
    kind = cluster.HTTP_ROUTE
    space, name = cluster.namespace(number), cluster.name(number)
    route = f"{cluster.root(BY_IDENTITY[kind], space)}/{name}"
    version = (await client.get(route))["metadata"]["resourceVersion"]
    seen = asyncio.create_task(shown(client, space, name, version, percent))
    await asyncio.sleep(0.05)
    began = time.monotonic()
    where = cluster.path(Ref(*cluster.INFERENCE_SERVICE, space, name))
    await client.send("PATCH", where, None, {"spec": {"canary": cluster.canary(percent)}}, MERGE)
    ended = await asyncio.wait_for(seen, 60)
    await asyncio.sleep(0.05)
    return ended - began


async def shown(client: Client, space: str, name: str, version: str, percent: int) -> float:
    """When a watch shows that share on the route. One that is too late begins anew."""
    query = {"fieldSelector": f"metadata.name={name}", "resourceVersion": version}
    where = cluster.root(BY_IDENTITY[cluster.HTTP_ROUTE], space)
    while True:
        async for line in client.watch(where, query, silence=60):
            event = json.loads(line)
            if event["type"] == "ERROR":
                break
            if has_share(event["object"], percent):
                return time.monotonic()
        query = {"fieldSelector": query["fieldSelector"]}


def has_share(route: dict[str, Any], percent: int) -> bool:
    """Whether some backend of a route has it."""
    backends = [backend for rule in route["spec"]["rules"] for backend in rule["backendRefs"]]
    return any(backend.get("weight") == percent for backend in backends)


async def plain(client: Client, number: int) -> float:
    """Seconds that one such edit takes by itself: what the API server alone costs."""
    body = {"metadata": {"annotations": {"plain": str(time.monotonic())}}}
    ref = Ref(*cluster.HTTP_ROUTE, cluster.namespace(number), cluster.name(number))
    began = time.monotonic()
    await client.send("PATCH", cluster.path(ref), None, body, MERGE)
    return time.monotonic() - began


async def renamed(client: Client, wanted: int, domain: str) -> None:
    """Until all routes are of a domain."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        number = 0
        async for items, _ in client.pages(cluster.root(BY_IDENTITY[cluster.HTTP_ROUTE])):
            number += sum(
                any(host.endswith(domain) for host in item["spec"]["hostnames"]) for item in items
            )
        if number >= wanted:
            return
        await asyncio.sleep(2)
    raise TimeoutError(f"{number} of {wanted} routes have the domain {domain}")


async def routes(client: Client, wanted: int) -> None:
    """Until the server has so many HTTPRoutes."""
    end = time.monotonic() + LIMIT
    while (number := await cluster.count(client, cluster.HTTP_ROUTE)) < wanted:
        if time.monotonic() > end:
            raise TimeoutError(f"{number} of {wanted} routes")
        await asyncio.sleep(0.2)


async def delete_routes(client: Client) -> list[dict[str, Any]]:
    """All HTTPRoutes go; what they were."""
    resource = BY_IDENTITY[cluster.HTTP_ROUTE]
    found: list[dict[str, Any]] = []
    async for items, _ in client.pages(cluster.root(resource)):
        found += items
    for number in range(cluster.NAMESPACES):
        await client.send("DELETE", cluster.root(resource, cluster.namespace(number)))
    await asyncio.sleep(1)
    return [bare(item) for item in found]


def bare(item: dict[str, Any]) -> dict[str, Any]:
    """An object as it would be created."""
    meta = {
        key: item["metadata"][key]
        for key in ("name", "namespace", "labels", "annotations", "ownerReferences")
        if key in item["metadata"]
    }
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": meta,
        "spec": item["spec"],
    }


async def idle(controller: Controller) -> tuple[float, float]:
    """CPU seconds so far and wall seconds until it has nothing to do."""
    return await asyncio.to_thread(processes.until_idle, controller.pid, seconds=LIMIT)


async def end(bed: Bed, controller: Controller) -> None:
    """A clean end, after which the bed does not ask for it any more."""
    controller.check()
    bed.processes.remove(controller)
    await asyncio.to_thread(controller.stop)


if __name__ == "__main__":
    main()

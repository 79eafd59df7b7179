"""`up` serves graphs: a router beside Envoy, whose steps are called where `up` serves them."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from ingressctl.core.model import Service
from ingressctl.core.settings import Settings
from ingressctl.proxy import backends
from tests.envoy.test_up import PATIENCE, Running, manifest, running

READY = Settings(provider="envoy", assume="ready")
ROUTER = {
    "image": "router",
    "memoryRequest": "100Mi",
    "memoryLimit": "1Gi",
    "cpuRequest": "100m",
    "cpuLimit": "1",
}
LOCAL = {
    "localGateway": "knative-serving/knative-local-gateway",
    "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
}
HOST = "g-ns.example.com"


def graph(*steps: dict[str, Any], name: str = "g", kind: str = "Sequence", **nodes: Any) -> str:
    root = {"routerType": kind, "steps": list(steps)}
    return yaml.safe_dump(
        {
            "apiVersion": "serving.kserve.io/v1alpha1",
            "kind": "InferenceGraph",
            "metadata": {"name": name, "namespace": "ns"},
            "spec": {"nodes": {"root": root, **nodes}},
        }
    )


def world(*graphs: str, router: dict[str, Any] = ROUTER) -> str:
    config, service, backend = manifest().split("---\n")
    settings = yaml.safe_load(config)
    settings["data"]["router"] = json.dumps(router)
    config = yaml.safe_dump(settings)
    other = service.replace("name: m\n", "name: k\n")
    return "---\n".join((config, service, other, backend, *graphs))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "world.yaml"
    path.write_text(world(graph({"name": "one", "serviceName": "m"})))
    return path


async def post(run: Running, host: str = HOST, body: Any = None) -> tuple[int, Any]:
    url, headers = f"http://127.0.0.1:{run.port}/", {"Host": host}
    async with aiohttp.request("POST", url, json=body or {}, headers=headers) as answer:
        text = await answer.read()
        return answer.status, json.loads(text) if text.startswith(b"{") else text


async def test_a_step_is_called_at_its_stub(file: Path) -> None:
    async with running(file, settings=READY) as run:
        status, seen = await post(run)
    assert (status, seen["service"], seen["path"]) == (200, "m-predictor", "/v1/models/m:predict")


async def test_a_graph_in_a_graph_goes_over_both_routers(file: Path) -> None:
    inner = graph({"name": "in", "serviceName": "k"}, name="inner")
    file.write_text(world(graph({"name": "out", "graphName": "inner"}), inner))
    async with running(file, settings=READY) as run:
        status, seen = await post(run)
    assert (status, seen["service"]) == (200, "k-predictor")


async def test_a_backend_of_the_command_line_is_called(file: Path) -> None:
    async with running(file, settings=READY) as stubs:
        told = backends.parse(f"m-predictor.ns=127.0.0.1:{stubs.port}")
        async with running(file, settings=READY, backends=(told,), stub=False) as run:
            status, _ = await post(run)
    assert status == 404, "the other Envoy, for which 127.0.0.1 is no host of any route"


async def test_a_graph_in_knative_mode_runs_its_steps_too(file: Path) -> None:
    """Its routes lead to a revision, behind which the router stands."""
    knative = yaml.safe_load(graph({"name": "one", "serviceName": "m"}))
    knative["metadata"]["annotations"] = {"serving.kserve.io/deploymentMode": "Serverless"}
    file.write_text(world(yaml.safe_dump(knative)))
    async with running(file, settings=READY) as run:
        status, seen = await post(run, host="g.ns.example.com")
    assert (status, seen["service"]) == (200, "m-predictor")


async def test_a_step_at_a_service_in_knative_mode_comes_to_its_revision(file: Path) -> None:
    """By its own route, as every other request to it: no stub stands between."""
    written, service, *_ = world().split("---\n")
    config = yaml.safe_load(written)
    config["data"]["ingress"] = json.dumps({**json.loads(config["data"]["ingress"]), **LOCAL})
    knative = yaml.safe_load(service)
    knative["metadata"]["annotations"] = {"serving.kserve.io/deploymentMode": "Knative"}
    asked = graph({"name": "one", "serviceName": "m"})
    file.write_text("---\n".join((yaml.safe_dump(config), yaml.safe_dump(knative), asked)))
    async with running(file, settings=READY) as run:
        async with asyncio.timeout(PATIENCE):
            while (found := await post(run))[0] == 404:
                await asyncio.sleep(0.05)
    assert (found[0], found[1]["service"]) == (200, "m-predictor-00001")


async def test_a_graph_that_goes_is_never_answered_by_nobody(file: Path) -> None:
    """Its router runs on until Envoy has let go of it: then there is no such host."""
    async with running(file, settings=READY) as run:
        assert (await post(run))[0] == 200
        file.write_text(world())
        seen = set()
        async with asyncio.timeout(PATIENCE):
            while 404 not in seen:
                seen.add((await post(run))[0])
        assert seen <= {200, 404}


async def test_a_change_of_the_graph_is_live_without_a_new_process(file: Path) -> None:
    async with running(file, settings=READY) as run:
        before = _router_of(run).pid
        file.write_text(world(graph({"name": "two", "serviceName": "k"})))
        async with asyncio.timeout(PATIENCE):
            while (await post(run))[1].get("service") != "k-predictor":
                await asyncio.sleep(0.02)
        assert _router_of(run).pid == before


async def test_a_graph_that_loops_is_refused_and_the_last_one_goes_on(file: Path) -> None:
    async with running(file, settings=READY) as run:
        file.write_text(world(graph({"nodeName": "root"})))
        await run.says("refused: ")
        assert (await post(run))[0] == 200


async def test_shares_of_a_splitter_are_served(file: Path) -> None:
    halves = [{"serviceName": name, "weight": 50} for name in ("m", "k")]
    file.write_text(world(graph(*halves, kind="Splitter")))
    async with running(file, settings=READY) as run:
        answers = [await post(run) for _ in range(60)]
    assert {status for status, _ in answers} == {200}
    shares = Counter(seen["service"] for _, seen in answers)
    assert shares.keys() == {"m-predictor", "k-predictor"}


async def test_a_router_that_dies_is_started_again(file: Path) -> None:
    async with running(file, settings=READY) as run:
        mine = _router_of(run)
        mine.send_signal()
        await run.says("the router of g ended with")
        async with asyncio.timeout(PATIENCE):
            while (await post(run))[0] != 200:
                await asyncio.sleep(0.05)


async def test_no_router_outlives_up(file: Path) -> None:
    async with running(file, settings=READY) as run:
        mine = _router_of(run)
        assert mine.lives()
    assert not mine.lives()


async def test_without_stubs_what_is_missing_is_the_answer(file: Path) -> None:
    """The name of a Service means nothing to this machine's resolver."""
    async with running(file, settings=READY, stub=False) as run:
        status, seen = await post(run)
    assert status == 502
    assert "does not resolve" in seen["cause"]


class _Found:
    """A process by its command line."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def send_signal(self) -> None:
        subprocess.run(["kill", "-9", str(self.pid)], check=True)

    def lives(self) -> bool:
        return Path(f"/proc/{self.pid}").exists()


def _router_of(run: Running) -> _Found:
    address = run.up.local.routers.address(Service("ns", "g"))
    assert address is not None
    found = subprocess.run(
        ["pgrep", "-f", f"router --graph-file .* --port {address.port} "],
        capture_output=True,
        text=True,
        check=True,
    )
    return _Found(int(found.stdout.split()[0]))


async def test_a_graph_that_comes_back_while_its_router_leaves_is_served(file: Path) -> None:
    """As an editor saves: the file is away for a moment."""
    text = file.read_text()
    async with running(file, settings=READY) as run:
        file.write_text(world())
        async with asyncio.timeout(PATIENCE):
            while (await post(run))[0] != 404:
                await asyncio.sleep(0.02)
        file.write_text(text)
        async with asyncio.timeout(PATIENCE):
            while (await post(run))[0] != 200:
                await asyncio.sleep(0.02)


async def test_other_headers_of_the_configuration_reach_the_steps(file: Path) -> None:
    asked = ROUTER | {"headers": {"propagate": ["x-tenant"]}}
    async with running(file, settings=READY) as run:
        assert "x-tenant" not in (await tenant(run))
        file.write_text(world(graph({"name": "one", "serviceName": "m"}), router=asked))
        async with asyncio.timeout(PATIENCE):
            while (await tenant(run)).get("x-tenant") != "acme":
                await asyncio.sleep(0.05)


async def tenant(run: Running) -> dict[str, str]:
    """The headers that the step saw of a request with one more; none while a router starts."""
    url, headers = f"http://127.0.0.1:{run.port}/", {"Host": HOST, "X-Tenant": "acme"}
    async with aiohttp.request("POST", url, json={}, headers=headers) as answer:
        found: dict[str, str] = (await answer.json())["headers"] if answer.status == 200 else {}
        return found

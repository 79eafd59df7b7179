"""`up` as a whole: files in, served routes out, followed until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiohttp
import pytest
import yaml

from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import manifests, overlay, registry
from ingressctl.providers.envoy import dumping, reading
from ingressctl.proxy import backends
from ingressctl.proxy.envoy import EnvoyFault, claim_port
from ingressctl.proxy.local import Input
from ingressctl.proxy.up import Options, Reason, Refused, Up
from tests import worlds

SEED = 3
PATIENCE = 90
"""Seconds until a test gives up: the machine may be busy, and nothing is measured here."""


def manifest(**changes: str) -> str:
    """A Standard-mode InferenceService that is ready, and its configuration."""
    domain = changes.get("domain", "example.com")
    ingress = (
        '{"enableGatewayApi": true, "kserveIngressGateway": "kserve/gw", "ingressGateway": "a/b", '
        f'"ingressDomain": "{domain}"}}'
    )
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
        "data": {"ingress": ingress, "deploy": '{"defaultDeploymentMode": "Standard"}'},
    }
    service = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "m", "namespace": "ns"},
        "spec": {"predictor": {"containers": [{"name": "kserve-container", "image": "m"}]}},
        "status": {"conditions": [{"type": "PredictorReady", "status": "True"}]},
    }
    backend = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "m-predictor", "namespace": "ns"},
        "spec": {"ports": [{"name": "http", "port": 80, "targetPort": 8080}]},
    }
    return yaml.safe_dump_all([config, service, backend])


OBSERVED = Settings(provider="envoy")


class Running:
    """An `up` over one file."""

    def __init__(self, path: Path, *, settings: Settings = OBSERVED, **options: object) -> None:
        self.path, self.settings = path, settings
        self.lines: list[str] = []
        self.port = claim_port(0)
        chosen = {"stub": True, "port": self.port, **options}
        self.up = Up(
            Options(
                load=self.load,
                paths=(str(path),),
                **chosen,
            ),
            self.lines.append,
            self.lines.append,
            lambda finding: [str(finding)],
        )

    def load(self) -> Input:
        parsed = manifests.parse(self.path.read_bytes(), str(self.path))
        if parsed.faults:
            raise Refused(tuple(Reason(str(fault)) for fault in parsed.faults))
        laid = overlay.lay(World.of(()), parsed.documents, namespace="default", named=True)
        return Input(laid, self.settings, registry.providers())

    async def get(self, host: str) -> tuple[int, dict[str, object]]:
        url = f"http://127.0.0.1:{self.port}/v1"
        async with aiohttp.request("GET", url, headers={"Host": host}) as response:
            return response.status, await response.json() if response.status == 200 else {}

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.01)

    async def says(self, text: str) -> None:
        """Waits for a line that begins so."""
        await self.until(lambda: any(line.startswith(text) for line in self.lines))

    async def status_becomes(self, host: str, status: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while (await self.get(host))[0] != status:
                await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def running(path: Path, **options: object) -> AsyncIterator[Running]:
    run, stop = Running(path, **options), asyncio.Event()
    task = asyncio.create_task(run.up.run(stop))
    try:
        await run.until(
            lambda: (
                task.done()
                or any(line.startswith("serving ") and " at http" in line for line in run.lines)
            )
        )
        if task.done():
            task.result()
        yield run
    finally:
        stop.set()
        with contextlib.suppress(EnvoyFault):
            await task


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "world.yaml"
    path.write_text(manifest())
    return path


async def test_routes_of_a_file_are_served_by_stubs(file: Path) -> None:
    async with running(file) as run:
        status, seen = await run.get("m-ns.example.com")
    assert (status, seen["service"], seen["namespace"]) == (200, "m-predictor", "ns")


async def test_a_changed_file_is_served(file: Path) -> None:
    """A host that is renamed appears and the old one goes, without a restart."""
    async with running(file) as run:
        file.write_text(manifest(domain="example.org"))
        await run.status_becomes("m-ns.example.org", 200)
        await run.status_becomes("m-ns.example.com", 404)
        await run.says("serving 2 hosts; now new: m-ns.example.org, m-predictor-ns.example.org; ")
        assert "gone: m-ns.example.com, m-predictor-ns.example.com" in run.lines[-1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "world.yaml"),
        ("\0", "binary"),
        ("", "no objects"),
        (manifest().replace("spec:\n  predictor:", "spec:\n  predictr:"), "predictor"),
    ],
)
async def test_a_broken_file_is_refused_while_the_last_good_one_is_served(
    file: Path, text: str, said: str
) -> None:
    async with running(file) as run:
        file.write_text(text)
        await run.until(lambda: any(line.startswith("refused") for line in run.lines))
        refusal = next(line for line in run.lines if line.startswith("refused"))
        assert said in refusal
        assert (await run.get("m-ns.example.com"))[0] == 200
        file.write_text(manifest(domain="example.org"))
        await run.status_becomes("m-ns.example.org", 200)


LOCAL = "networking.kserve.io/visibility: cluster-local"


async def test_files_that_are_good_again_are_told(file: Path) -> None:
    """Also where what they say is what was served all the time."""
    async with running(file) as run:
        file.write_text("a: [")
        await run.says("refused: ")
        file.write_text(manifest())
        await run.says("the files are good again")


WAITING = """
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata: {name: g, namespace: ns}
spec: {nodes: {root: {routerType: Sequence, steps: [{serviceName: absent}]}}}
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "  namespace: ns\nspec:\n  predictor",
            f"  labels: {{{LOCAL}}}\n  namespace: ns\nspec:\n  predictor",
            "is only for clients inside the cluster",
        ),
        ("status: 'True'", "status: 'False'\n    message: no room", "makes no route: "),
        ("kind: InferenceService", "kind: Other", "there is no InferenceService or InferenceGraph"),
        (
            manifest(),
            WAITING,
            "InferenceGraph ns/g makes no route: Ready is False",
        ),
    ],
)
async def test_why_no_host_is_served_is_told(file: Path, old: str, new: str, said: str) -> None:
    assert old in manifest()
    file.write_text(manifest().replace(old, new))
    async with running(file) as run:
        await run.says("serving 0 hosts")
        (start,) = [line for line in run.lines if line.startswith("warning: no host is served")]
        after = run.lines[run.lines.index(start) :]
        assert any(said in line for line in after)


async def test_a_backend_that_no_route_leads_to_is_told(file: Path) -> None:
    told = tuple(map(backends.parse, ("nope=127.0.0.1:9", "m-predictor=127.0.0.1:9")))
    async with running(file, stub=False, backends=told) as run:
        assert [line for line in run.lines if "no route leads" in line] == [
            "warning: --backend nope: no route leads to such a Service"
        ]


async def test_one_service_that_fails_does_not_keep_others_from_being_served(file: Path) -> None:
    """At the start it is told and left out; once it is served, its file must stay whole."""
    bad = yaml.safe_load(BAD)
    file.write_text(manifest() + "---\n" + yaml.safe_dump(bad))
    async with running(file) as run:
        assert (await run.get("m-ns.example.com"))[0] == 200
        assert any("not served" in line and "ns/bad" in line for line in run.lines)
        bad["metadata"]["name"] = "m"
        file.write_text(manifest() + "---\n" + yaml.safe_dump(bad))
        await run.until(lambda: any(line.startswith("refused") for line in run.lines))
        assert (await run.get("m-ns.example.com"))[0] == 200


BAD = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: bad, namespace: ns}
spec: {predictor: {model: {modelFormat: {name: unheard-of}}}}
"""


async def test_a_host_that_two_ask_for_is_told(file: Path) -> None:
    """The dash of the host template makes two services meet: the older one is served."""
    other = yaml.safe_load(BAD)
    other["metadata"] = {
        "name": "a-b",
        "namespace": "c",
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    other["spec"] = {"predictor": {"containers": [{"name": "kserve-container", "image": "m"}]}}
    again = {**other, "metadata": {"name": "a", "namespace": "b-c"}}
    file.write_text("---\n".join([manifest(), yaml.safe_dump(other), yaml.safe_dump(again)]))
    async with running(file) as run:
        status, seen = await run.get("a-b-c.example.com")
        assert (status, seen["namespace"]) == (200, "c")
        assert any("IC2101" in line or "IC4201" in line for line in run.lines)


async def test_backends_told_on_the_command_line_are_used(file: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"mine": true}'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        writer.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    told = backends.parse(f"m-predictor.ns=localhost:{port}")
    async with server, running(file, stub=False, backends=(told,)) as run:
        assert await run.get("m-ns.example.com") == (200, {"mine": True})


async def test_a_target_that_nothing_serves_is_named(file: Path) -> None:
    async with running(file, stub=False) as run:
        assert (await run.get("m-ns.example.com"))[0] == 503
        await run.until(lambda: any("--backend m-predictor.ns=" in line for line in run.lines))


async def test_endpoint_slices_of_the_files_are_used(file: Path, tmp_path: Path) -> None:
    """Addresses of a slice are reached at the port its Service port names."""
    async with running(file) as other:
        stubs = other.up.local.stubs
        assert stubs is not None
        address = stubs.address(next(iter(stubs._addresses)))
        assert address is not None
        slices = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": "m-predictor-x",
                "namespace": "ns",
                "labels": {"kubernetes.io/service-name": "m-predictor"},
            },
            "addressType": "IPv4",
            "endpoints": [
                {"addresses": [address.host], "conditions": {"ready": True}},
                {"addresses": ["192.0.2.1"], "conditions": {"ready": False}},
            ],
            "ports": [{"name": "http", "port": address.port}],
        }
        path = tmp_path / "sliced.yaml"
        path.write_text(manifest() + "---\n" + yaml.safe_dump(slices))
        async with running(path, stub=False) as run:
            for _ in range(5):
                assert (await run.get("m-ns.example.com"))[0] == 200


async def test_a_taken_port_is_named_with_a_remedy(file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = Running(file, port=port)
        with pytest.raises(EnvoyFault, match=rf"port {port} .*taken.*--port"):
            await run.up.run(asyncio.Event())


async def test_nothing_is_left_after_the_end(file: Path) -> None:
    async with running(file) as run:
        assert run.up._gateway is not None
        pid, directory = run.up._gateway.envoy.pid, run.up._gateway.envoy.directory
        os.kill(pid, 0)
    assert not directory.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_an_envoy_that_dies_is_an_error(file: Path) -> None:
    async def kill(run: Running) -> None:
        assert run.up._gateway is not None
        os.kill(run.up._gateway.envoy.pid, signal.SIGKILL)

    run = Running(file)
    task = asyncio.create_task(run.up.run(asyncio.Event()))
    await run.until(
        lambda: any(line.startswith("serving ") and " at http" in line for line in run.lines)
    )
    await kill(run)
    with pytest.raises(EnvoyFault, match="Envoy ended"):
        await task


PARENT = """
import asyncio, sys
from pathlib import Path
from tests.envoy.test_up import running
async def main():
    async with running(Path(sys.argv[1])) as run:
        print(run.up._gateway.envoy.pid, run.up._gateway.envoy.directory, flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


async def test_a_killed_parent_leaves_no_envoy(file: Path) -> None:
    """Not even SIGKILL, which nothing in the parent can answer."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(file), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    words = (await process.stdout.readline()).split()
    pid, directory = int(words[0]), Path(words[1].decode())
    os.kill(pid, 0)
    process.kill()
    await process.wait()
    async with asyncio.timeout(PATIENCE):
        while _lives(pid):
            await asyncio.sleep(0.02)
    for left in directory.iterdir():
        left.unlink()
    directory.rmdir()


def _lives(pid: int) -> bool:
    """Whether the process runs; one that ended and waits to be collected does not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_random_world_can_be_dumped() -> None:
    """The dump holds every table, and reading it back gives the same routes."""
    made = worlds.make(SEED)
    documents = [manifests.Document(obj, overlay.Origin("w")) for obj in made.objects]
    laid = overlay.lay(World.of(()), documents, namespace="default", named=True)
    given = Input(laid, Settings(provider="envoy"), registry.providers())
    up = Up(Options(lambda: given, port=1), lambda _: None, lambda _: None, lambda _: [])
    resources = up.resources(up.derive())
    again = reading.of_tables(dumping.tables(dumping.objects(resources)))
    assert again == reading.table(resources)
    assert again.hosts

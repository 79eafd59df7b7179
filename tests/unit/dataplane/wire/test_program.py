"""The command as it runs in a pod: starts, reloads, several processes, the end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import pytest

from tests.unit.dataplane.wire import programs
from tests.unit.dataplane.wire.programs import Program, graph, graph_json, model, started
from tests.unit.dataplane.wire.sockets import Raw, post

pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])


REFUSED = 'ingressctl_router_reloads_total{result="refused"}'


async def refused(*flags: str, env: dict[str, str] | None = None) -> str:
    """What a router that does not start says; its exit code is 2."""
    process = await programs.run(*flags, env=env)
    out, talk = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, out) == (2, b"")
    assert b"Traceback" not in talk
    return talk.decode()


async def test_a_graph_with_faults_is_refused_with_a_line_for_each() -> None:
    broken = {
        "nodes": {
            "root": {
                "routerType": "Sequence",
                "steps": [{"serviceUrl": "ftp://a/"}, {"nodeName": "nowhere"}],
            }
        }
    }
    said = await refused("--graph-json", json.dumps(broken))
    assert said.count("error: ") == said.count("help: ") == 2
    assert "spec.nodes" in said


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ((), "--graph-json JSON or --graph-file FILE"),
        (("--graph-json", "{"), "not JSON"),
        (("--graph-json", '{"nodes": []}'), "cannot be read"),
        (("--graph-file", "/nowhere/graph.json"), "/nowhere/graph.json"),
        (("--graph-json", "{}", "--compat", "worse"), "--compat"),
    ],
)
async def test_flags_that_cannot_be(flags: tuple[str, ...], words: str) -> None:
    assert words in await refused(*flags)


async def test_a_port_that_is_taken() -> None:
    with socket.create_server(("0.0.0.0", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = await refused("--port", port, "--metrics-port", "0", *graph_json(1))
    assert f"port {port}" in said


async def test_serves_counts_and_logs() -> None:
    async with model() as port, started(*graph_json(port), "--access-log") as router:
        assert await router.ask(b"{}") == (200, b'{"path": "/", "body": "{}"}')
        assert (await router.get(b"/metrics"))[0] == 405
        assert (await router.get(b"/a b"))[0] == 400
        assert (await router.ask(b"{}", b"Host: again", b"X-Request-Id: r1"))[0] == 400
        assert await router.number('ingressctl_router_requests_total{code="200"}') == 1
        labels = 'node="root",step="a"'
        assert await router.number(f"ingressctl_router_step_seconds_count{{{labels}}}") == 1
        assert await router.number(f"ingressctl_router_step_in_flight{{{labels}}}") == 0
        router.signal(signal.SIGINT)
        code, out, talk = await router.end()
    assert code == 0
    entry, other, broken, twice = map(json.loads, out.splitlines())
    assert (entry["method"], entry["path"], entry["status"]) == ("POST", "/", 200)
    assert (other["method"], other["path"], other["status"]) == ("GET", "/metrics", 405)
    assert other["cause"] == "only POST runs the graph"
    assert (broken["status"], broken["cause"]) == (400, "the request is not well-formed HTTP/1.1")
    assert (twice["method"], twice["path"], twice["cause"]) == (
        "POST",
        "/",
        "there must be one Host",
    )
    assert twice["request_id"] == "r1"
    assert all(json.loads(line)["level"] == "info" for line in talk.splitlines())


async def test_the_log_has_the_cause_where_no_step_has_answered() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    async with started(*graph_json(port), "--access-log") as router:
        status, body = await router.ask(b"{}", b"X-Request-Id: r1")
        router.signal(signal.SIGINT)
        _, out, _ = await router.end()
    entry = json.loads(out)
    assert (status, entry["status"], entry["request_id"]) == (502, 502, "r1")
    assert (
        entry["cause"]
        == json.loads(body)["cause"]
        == ('step "a" of node "root": the step cannot be reached: connection refused')
    )


async def test_a_yaml_object_is_a_graph_too(tmp_path: Path) -> None:
    async with model() as port:
        file = tmp_path / "graph.yaml"
        file.write_text(
            "kind: InferenceGraph\nmetadata: {name: g}\nspec:\n  nodes:\n    root:\n"
            f"      routerType: Sequence\n      steps: [{{serviceUrl: 'http://127.0.0.1:{port}/y'}}]\n"
        )
        async with started("--graph-file", str(file)) as router:
            assert b'"/y"' in (await router.ask())[1]


async def test_unknown_fields_are_told_of_and_served_without(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    spec = graph(1, timeout=3, timeuot="1s", minReplicas=1)
    file.write_text(json.dumps(spec))
    async with started("--graph-file", str(file)) as router:
        spec["nodes"]["root"]["steps"][0]["sevriceUrl"] = "http://a/"
        (tmp_path / "new").write_text(json.dumps(spec))
        os.replace(tmp_path / "new", file)
        await router.says(b"steps[0]", b"sevriceUrl")
        router.signal(signal.SIGINT)
        _, _, talk = await router.end()
    told = [line for line in map(json.loads, talk.splitlines()) if line["level"] == "warning"]
    assert [line["field"] for line in told] == [
        "spec.timeuot: did you mean timeout?",
        "spec.nodes.root.steps[0].sevriceUrl: did you mean serviceUrl?",
        "spec.timeuot: did you mean timeout?",
    ]


async def test_a_broken_propagate_headers_is_told_of() -> None:
    said = await refused(*graph_json(1), env={"PROPAGATE_HEADERS": '["x-a"'})
    assert said.count("error: PROPAGATE_HEADERS is no JSON list") == said.count("help: ") == 1
    async with started(*graph_json(1), env={"PROPAGATE_HEADERS": '["(", "x-a"]'}) as router:
        router.signal(signal.SIGINT)
        _, _, talk = await router.end()
    (line,) = [line for line in map(json.loads, talk.splitlines()) if line["level"] == "warning"]
    assert line["pattern"] == "("
    assert line["msg"] == "a pattern of PROPAGATE_HEADERS is left out"


async def test_limits_of_the_graph_hold() -> None:
    async with model(delay=30) as port:
        limits = {"timeout": 1, "maxRequestBytes": 10}
        async with started(*graph_json(port, **limits)) as router:
            assert (await router.ask(b"x" * 11))[0] == 413
            assert (await router.ask(b"{}"))[0] == 504


def write(folder: Path, port: int, path: str, generation: int) -> None:
    """As a kubelet writes a ConfigMap: a new folder, and a link that is turned to it at once."""
    (folder / f"..{generation}").mkdir()
    text = json.dumps(graph(port, path)) if path else '{"nodes": {}}'
    (folder / f"..{generation}" / "graph.json").write_text(text)
    (folder / "..new").symlink_to(f"..{generation}")
    os.replace(folder / "..new", folder / "..data")


async def test_a_new_graph_is_live_without_a_lost_request(tmp_path: Path) -> None:
    async with model() as port:
        write(tmp_path, port, "/one", 1)
        (tmp_path / "graph.json").symlink_to("..data/graph.json")
        file = str(tmp_path / "graph.json")
        async with started("--graph-file", file) as router, await Raw.to(router.port) as client:

            async def path() -> str:
                client.send(post(b"{}"))
                status, body = await client.answer()
                assert status == 200
                return str(json.loads(body)["path"])

            assert await path() == "/one"
            write(tmp_path, port, "/two", 2)
            async with asyncio.timeout(30):
                while await path() != "/two":
                    await asyncio.sleep(0.01)
            write(tmp_path, port, "", 3)
            async with asyncio.timeout(30):
                while await router.number(REFUSED) != 1:
                    assert await path() == "/two"
            assert await path() == "/two", "the old graph stays"
            router.signal(signal.SIGINT)
            _, _, talk = await router.end()
            assert b"the new graph is refused, the old one stays" in talk


async def test_a_file_that_is_taken_away_is_told_of_once(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(graph(1)))
    async with started("--graph-file", str(file)) as router:
        file.rename(tmp_path / "away")
        await router.says(b"the file of the graph is gone, the old one stays")
        await asyncio.sleep(2.5)  # it is looked for again meanwhile
        (tmp_path / "away").rename(file)
        await router.says(b"the file of the graph is back")
        router.signal(signal.SIGINT)
        _, _, talk = await router.end()
    levels = [json.loads(line)["level"] for line in talk.splitlines()]
    assert levels.count("warning") == 1
    assert "error" not in levels


async def test_a_fault_of_yaml_is_told_at_a_reload(tmp_path: Path) -> None:
    file = tmp_path / "graph.yaml"
    file.write_text(json.dumps(graph(1)))
    async with started("--graph-file", str(file)) as router:
        file.write_text("nodes:\n  root:\n   - a\n  - b\n")
        await router.says(f"{file}, line 4: the graph is not YAML".encode())


async def test_no_file_ends_the_looking_at_it(tmp_path: Path) -> None:
    """Each bad one is told of once, and the good one after it is served."""
    file = tmp_path / "graph.yaml"
    file.write_text(json.dumps(graph(1)))
    bad = ("[" * 200_000, "nodes: &a {root: *a}", "nodes: 2001-99-01")
    async with started("--graph-file", str(file)) as router:
        for count, text in enumerate(bad, 1):
            (tmp_path / "new").write_text(text)
            os.replace(tmp_path / "new", file)
            async with asyncio.timeout(30):
                while await router.number(REFUSED) != count:
                    await asyncio.sleep(0.05)
        file.unlink()
        os.mkfifo(file)
        await router.says(b"is no regular file")
        async with model() as port:
            (tmp_path / "new").write_text(json.dumps(graph(port)))
            os.replace(tmp_path / "new", file)
            await router.says(b"another graph is served")
            assert (await router.ask())[0] == 200
        assert router.said.count(b"the new graph is refused") == len(bad) + 1


def drain(seconds: float) -> tuple[str, str]:
    return "--drain-seconds", str(seconds)


async def under_load(router: Program, until: asyncio.Event) -> list[int]:
    """Statuses of requests one after another, each on a connection of its own."""
    seen = []
    while not until.is_set():
        seen.append((await router.ask())[0])
    return seen


async def test_sigterm_loses_no_request() -> None:
    """F93: unready at once, serving for a while, then the rest is finished; exit code 0."""
    async with model(delay=0.3) as port, started(*graph_json(port), *drain(1)) as router:
        stop = asyncio.Event()
        load = [asyncio.create_task(under_load(router, stop)) for _ in range(8)]
        await asyncio.sleep(0.5)
        assert (await router.get(b"/readyz"))[0] == 200
        router.signal()
        await asyncio.sleep(0.1)
        assert await router.get(b"/readyz") == (503, b"shutting down\n")
        await asyncio.sleep(0.5)  # requests that come now are served
        stop.set()
        seen = [status for task in load for status in await task]
        assert (await router.end())[0] == 0
    assert len(seen) >= 24
    assert set(seen) == {200}


async def test_what_runs_when_the_listener_closes_is_finished() -> None:
    async with model(delay=1.5) as port, started(*graph_json(port), *drain(0.2)) as router:
        asking = asyncio.create_task(router.ask())
        await asyncio.sleep(0.3)
        router.signal()
        assert (await asking)[0] == 200
        assert (await router.end())[0] == 0


async def test_a_second_signal_ends_the_drain_at_once() -> None:
    async with model() as port, started(*graph_json(port), *drain(3600)) as router:
        router.signal()
        await router.says(b'"another_signal":"ends the drain at once"')
        router.signal()
        assert (await router.end())[0] == 0


async def test_several_processes_share_a_port_and_their_numbers() -> None:
    async with model() as port:
        flags = ("--workers", "2", "--drain-seconds", "0.5")
        async with started(*graph_json(port), *flags) as router:
            for _ in range(40):
                assert (await router.ask())[0] == 200
            name = 'ingressctl_router_requests_total{code="200"}'
            async with asyncio.timeout(30):
                while await router.number(name) != 40:
                    await asyncio.sleep(0.1)
            await one_dies(router)
            for _ in range(40):
                assert (await router.ask())[0] == 200
            async with asyncio.timeout(30):
                while await router.number(name) != 80:  # what the dead one had counted is there
                    await asyncio.sleep(0.1)
            router.signal()
            code, _, talk = await router.end()
    assert code == 0
    assert talk.count(b"another one stands in") == 1


@pytest.mark.parametrize("then", ["is refused", "is gone"])
async def test_who_stands_in_serves_the_graph_of_the_others(tmp_path: Path, then: str) -> None:
    """Not that of the start, though the file says nothing that can be served."""
    file = tmp_path / "graph.json"
    async with model() as port:
        file.write_text(json.dumps(graph(port, "/one")))
        async with started("--graph-file", str(file), "--workers", "2") as router:
            put(file, json.dumps(graph(port, "/two")))
            await router.says(b"another graph is served")
            await until_all(router, b"/two")
            if then == "is gone":
                file.unlink()
            else:
                put(file, '{"nodes": {}}')
            await router.says(b"the old one stays")
            await one_dies(router)
            await until_ready(router, 3)
            assert await paths(router) == {b"/two"}
            put(file, json.dumps(graph(port, "/three")))
            await until_all(router, b"/three")
            router.signal(signal.SIGINT)
            assert (await router.end())[0] == 0


def put(file: Path, text: str) -> None:
    (file.parent / "new").write_text(text)
    os.replace(file.parent / "new", file)


async def paths(router: Program) -> set[bytes]:
    """Those that many requests reach: some of them in each process."""
    answers = [await router.ask() for _ in range(30)]
    assert {status for status, _ in answers} == {200}
    return {json.loads(body)["path"].encode() for _, body in answers}


async def until_all(router: Program, path: bytes) -> None:
    async with asyncio.timeout(30):
        while await paths(router) != {path}:
            await asyncio.sleep(0.05)


async def until_ready(router: Program, starts: int) -> None:
    """So many processes have begun to serve, those that have died among them."""
    async with asyncio.timeout(30):
        while router.said.count(b"the router serves") < starts:
            await asyncio.sleep(0.02)


async def one_dies(router: Program) -> None:
    """And another one stands in."""
    children = children_of(router.process.pid)
    assert len(children) == 2
    os.kill(children[0], signal.SIGKILL)
    async with asyncio.timeout(30):
        while len(children_of(router.process.pid)) != 2 or children[0] in children_of(
            router.process.pid
        ):
            await asyncio.sleep(0.05)


def children_of(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in found.split()]

"""Field cases about a router as a process: what it keeps after a load, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ingressctl.core.differences import Compat
from ingressctl.core.world import World
from tests.cases import field_stage, field_state, stages
from tests.cases.loading import Run
from tests.cases.router import asking, field, field_expecting, processes
from tests.cases.router.field_stubs import Stubs
from tests.cases.router.processes import Process

WARMING = 200
MARGIN = 1.0
"""No request is sent in the last second in which the router takes any."""
ENDING = 15.0
SENDERS = 4
OF_REST = frozenset("seconds maxMemoryGrowthMiB openCalls".split())
OF_STOP = frozenset("signal readyzBefore readyzAfter acceptSeconds failedRequests exitCode".split())


def judge(run: Run) -> list[str]:
    """Every reason why the case does not hold."""
    written = field_stage.block_of(run.expect["assert"])["router"]
    world = World.of(field_stage.input_of(run, {}))
    state = field_state.settle("input", world, stages.settings_of(run), workloads=True)
    (rendered,) = field.rendered_of(state)
    return asyncio.run(_played(written, rendered, state.settings.compat))


async def _played(
    written: Mapping[str, Any], rendered: field.Rendered, compat: Compat
) -> list[str]:
    steps = Stubs(dict(written["stubs"]))
    await steps.start()
    try:
        graph = _on_loopback(rendered.graph, steps)
        async with processes.router(graph, rendered.environment, compat) as process:
            if "stop" in written:
                return [fault async for fault in _stopped(written, process)]
            return await _rested(written, process, steps)
    finally:
        await steps.stop()


def _on_loopback(value: Any, steps: Stubs) -> Any:
    """The graph with the places of the stubs in its URLs: a process resolves as the system does."""
    if isinstance(value, dict):
        return {key: _on_loopback(inner, steps) for key, inner in value.items()}
    if isinstance(value, list):
        return [_on_loopback(inner, steps) for inner in value]
    if not isinstance(value, str) or not value.startswith("http://"):
        return value
    parts = urlsplit(value)
    port = steps.ports[parts.hostname or "", False]
    return urlunsplit(parts._replace(netloc=f"127.0.0.1:{port}"))


async def _rested(written: Mapping[str, Any], process: Process, steps: Stubs) -> list[str]:
    rest = written["rest"]
    field.known(rest, OF_REST, "rest")
    faults: list[str] = []
    await field.sent({**written["requests"][0], "repeat": WARMING}, process.port)
    before = _memory(process)
    for request in written["requests"]:
        answers = await field.sent(request, process.port)
        faults += field_expecting.faults(request["expect"], answers, steps)
    await asyncio.sleep(rest["seconds"])
    grown = (_memory(process) - before) / 1024
    if grown > rest.get("maxMemoryGrowthMiB", grown):
        faults.append(f"the memory grew by {grown:.1f} MiB")
    if steps.open != rest.get("openCalls", steps.open):
        faults.append(f"{steps.open} calls are open")
    return faults


def _memory(process: Process) -> int:
    """The resident memory in KiB."""
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


async def _stopped(written: Mapping[str, Any], process: Process) -> AsyncIterator[str]:
    """Faults of a router that is told to end while requests are sent."""
    stop, (request,) = written["stop"], written["requests"]
    field.known(stop, OF_STOP, "stop")
    if await _readyz(process) != stop["readyzBefore"]:
        yield "/readyz before the signal"
    over = asyncio.Event()
    senders = [asyncio.ensure_future(_send(request, process, over)) for _ in range(SENDERS)]
    await asyncio.sleep(0.5)
    process.signal(f"SIG{stop['signal']}")
    await asyncio.sleep(0.3)
    if await _readyz(process) != stop["readyzAfter"]:
        yield "/readyz after the signal"
    await asyncio.sleep(stop["acceptSeconds"] - MARGIN)
    over.set()
    failed = [fault for faults in await asyncio.gather(*senders) for fault in faults]
    if len(failed) > stop["failedRequests"]:
        yield f"{len(failed)} requests failed, {failed[0]} among them"
    async with asyncio.timeout(ENDING):
        code = await process.process.wait()
    if code != stop["exitCode"]:
        yield f"exit status {code}"


async def _readyz(process: Process) -> int:
    answered = await asking.ask(process.port, {"method": "GET", "path": "/readyz"})
    return answered.head.status if answered.head else 0


async def _send(request: Mapping[str, Any], process: Process, over: asyncio.Event) -> list[str]:
    """One request after the other, each on a connection of its own."""
    faults: list[str] = []
    while not over.is_set():
        try:
            answered = await asking.ask(process.port, _plain(request["send"]))
        except OSError as error:
            faults.append(str(error))
            continue
        status = answered.head.status if answered.head else 0
        if status != request["expect"]["status"]:
            faults.append(f"status {status}")
    return faults


def _plain(send: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: send[key] for key in ("method", "path", "headers")}, "text": send["body"]}

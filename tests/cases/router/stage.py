"""Cases of graph-router: a graph, services, requests, and what must come of them.

Each runs a real router over real sockets: in this process, but for those that end it. Our
own expectation may bring keys of router.yaml in place of the case's, `refused` (a part of
the sentence with which the router does not start) and `warned` (a part of a warning).
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import uvloop

from ingressctl.api import gjson
from ingressctl.core.differences import Compat
from tests.cases.loading import Run
from tests.cases.router import asking, expecting, processes, serving
from tests.cases.router.stubs import Services

KEYS = frozenset("graph env services request steps exits expect refused warned".split())
AT_A_TIME = 8
SETTLED = 0.05
HEARD = 0.3
"""How long a process has to hear a signal."""


def judge(run: Run) -> list[str]:
    """Every reason why the case does not hold."""
    compat = Compat.parse(run.compat)
    if "conditions" in run.case:
        return table(run.case["conditions"], typed=compat.differs("IG-D34"))
    plan = {**run.case["router"], **run.expect}
    unknown = set(plan) - KEYS
    assert not unknown, f"router: unknown keys {sorted(unknown)}"
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_played(plan, compat))


async def _played(plan: dict[str, Any], compat: Compat) -> list[str]:
    services = Services()
    await services.start(plan.get("services") or [])
    try:
        return await _served(services.named(plan), services, compat)
    finally:
        await services.stop()


async def _served(plan: dict[str, Any], services: Services, compat: Compat) -> list[str]:
    graph, environment = plan["graph"], plan.get("env") or {}
    refused = serving.refusals(graph, compat)
    if "refused" in plan or refused:
        wanted = plan.get("refused")
        if wanted and any(wanted in message for message in refused):
            return []
        return [f"the router should refuse with {wanted!r}; it says {refused}"]
    faults = _unwarned(plan, graph, compat)
    steps = plan.get("steps") or [plan]
    if any("signal" in step for step in steps):
        async with processes.router(graph, environment, compat) as process:
            return faults + await _steps(steps, process, services)
    async with serving.router(graph, environment, compat) as port:
        for step in steps:
            faults += await _one(step, port, services)
    return faults


def _unwarned(plan: dict[str, Any], graph: dict[str, Any], compat: Compat) -> list[str]:
    warnings = serving.warnings(graph, compat)
    wanted = plan.get("warned", "")
    if any(wanted in warning for warning in warnings) or "warned" not in plan:
        return []
    return [f"no warning contains {wanted!r}: {warnings}"]


async def _steps(
    steps: list[dict[str, Any]], process: processes.Process, services: Services
) -> list[str]:
    faults = []
    for step in steps:
        if "signal" in step:
            process.signal(step["signal"])
            await asyncio.sleep(HEARD)
        else:
            faults += await _one(step, process.port, services)
    return faults


async def _one(plan: dict[str, Any], port: int, services: Services) -> list[str]:
    expect = plan["expect"]
    services.calls.clear()
    if "distribution" in expect:
        return await _shared(plan["request"], expect, port, services)
    answered = await asking.ask(port, plan["request"])
    await asyncio.sleep(expect.get("settleSeconds", SETTLED if expect.get("noResponse") else 0))
    return expecting.faults(expect, answered, services)


async def _shared(
    request: dict[str, Any], expect: dict[str, Any], port: int, services: Services
) -> list[str]:
    """Many requests, a few at a time: each is answered, and the shares are right."""
    gate = asyncio.Semaphore(AT_A_TIME)

    async def one() -> list[str]:
        async with gate:
            answered = await asking.ask(port, request)
        each = {key: value for key, value in expect.items() if key != "distribution"}
        return expecting.faults(each, answered, services)

    distribution = expect["distribution"]
    found = await asyncio.gather(*(one() for _ in range(distribution["requests"])))
    faults = [fault for faults in found for fault in faults]
    return faults + expecting.shares(distribution, services)


def table(conditions: dict[str, Any], *, typed: bool) -> list[str]:
    """The rows of the table of conditions that another answer comes of."""
    faults = []
    for row in conditions["rows"]:
        text = json.dumps(conditions["documents"][row["document"]], ensure_ascii=False)
        document = gjson.Document(text.encode())
        condition = gjson.parse(row["path"], typed=typed, lenient=True)
        found = {condition.holds(document), condition.looks(document)}
        if found != {row["exists"]}:
            faults.append(f"{row['path']} of {row['document']}: {found}")
    for row in conditions["rawDocuments"]:
        try:
            holds = gjson.parse(row["path"], typed=typed).exists(row["text"].encode())
        except gjson.NotJson:
            holds = False
        if holds != row["holds"]:
            faults.append(f"{row['path']} of {row['text']}: {holds}")
    return faults

"""Judging a field case: its answers, and the closed language of its assert block.

suites/field/README.md has the tables. A key, operator, measure or word that is not in them
is a failure, and so is one that only a case with further needs may use.
"""

from __future__ import annotations

import copy
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import yaml

from ingressctl.api.refs import Raw
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from tests.cases import (
    admitting,
    checks,
    comparing,
    field_state,
    graph_stage,
    previewing,
    stages,
    traffic,
)
from tests.cases.field_state import State
from tests.cases.loading import Run
from tests.cases.router import field as router_field

BLOCK = re.compile(r"```yaml\n(?P<body>.*?)```", re.DOTALL)
KEYS = frozenset(
    "checks preview traffic router queueProxy error variants steps start providers copies runs "
    "probes manual".split()
)
NEEDS_MORE = frozenset("queueProxy probes".split())
"""Keys that only cases with a need beyond `envoy` use."""
PROVIDERS = {
    "istio": "istio",
    "httproute": "gateway_api",
    "httpproxy": "contour",
    "xds": "envoy",
}
WORKLOADS = re.compile(r"select: '?\"?(KService|Deployment|HorizontalPodAutoscaler|ScaledObject)")
ROOT = Path(__file__).parents[2]


def block_of(text: str | None) -> dict[str, Any]:
    """The YAML block of an assert text. Raises ValueError for a key that is not known."""
    found = BLOCK.search(text or "")
    block: dict[str, Any] = yaml.load(found["body"], yaml.CSafeLoader) if found else {}
    unknown = (set(block) - KEYS) | (set(block) & NEEDS_MORE)
    if unknown:
        raise ValueError(f"the assert block has keys that are not judged: {sorted(unknown)}")
    return block


def judge(run: Run) -> list[str]:
    """Every reason why the case does not hold."""
    text = run.expect.get("assert")
    block = block_of(text)
    chosen = block.get("providers") or [""]
    faults: list[str] = []
    for word in chosen:
        settings = replace(stages.settings_of(run), provider=PROVIDERS[word] if word else "")
        faults += [f"{word}: {why}" if word else why for why in _judge(run, block, settings)]
    return faults


def _judge(run: Run, block: Mapping[str, Any], settings: Settings) -> list[str]:
    asserts = WORKLOADS.search(run.expect.get("assert") or "") is not None
    named = "workloads" in (run.case.get("needs") or ())
    workloads = asserts or named or "error" in run.expect  # an error may come from any step
    settle = functools.partial(field_state.settle, workloads=workloads)
    world = World.of(input_of(run, block))
    state = settle("input", world, settings)
    faults = _answers(run, block, state)
    faults += _state(block, state)
    for entry in block.get("variants") or ():
        changed = field_state.changed(world, entry, keep_status=False)
        variant = settle(entry["name"], changed, field_state.adjusted(settings, entry))
        faults += [f"{entry['name']}: {why}" for why in (*_quiet(variant), *_state(entry, variant))]
    faults += _steps(block, state, settle)
    if "router" in block:
        faults += router_field.judge(block["router"], state, settings.compat)
    if "runs" in block:
        faults += runs(input_of(run, block), run.compat, int(block["runs"]))
    return faults


def input_of(run: Run, block: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects of a case, copies made, in any order."""
    objects = comparing.documents(run.case["input"])
    if "copies" in block:
        objects = list(_copied(objects, block["copies"]))
    return stages.shuffled(graph_stage.adopt(objects), run)


def _copied(objects: Iterable[Raw], copies: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Objects whose text holds `of`, written `count` times with a running number."""
    wanted, count = str(copies["of"]), int(copies["count"])
    letters = wanted.rstrip("0123456789")
    digits = len(wanted) - len(letters)
    for obj in objects:
        text = orjson.dumps(obj).decode()
        if wanted not in text:
            yield copy.deepcopy(dict(obj))
            continue
        for number in range(count):
            yield orjson.loads(text.replace(wanted, f"{letters}{number:0{digits}d}"))


def _steps(block: Mapping[str, Any], state: State, settle: Any) -> list[str]:
    faults: list[str] = []
    if block.get("start", "input") == "empty":
        maps = [obj for obj in state.before if obj.get("kind") == "ConfigMap"]
        state = settle("empty", World.of(maps), state.settings)
    elif block.get("start", "input") != "input":
        faults.append(f"start: {block['start']!r} is neither input nor empty")
    for number, entry in enumerate(block.get("steps") or ()):
        title = entry.get("name") or f"step {number}"
        world = field_state.changed(state.after, entry, keep_status=True)
        state = settle(title, world, field_state.adjusted(state.settings, entry))
        for _ in range(int(entry.get("reconcile") or 0)):
            again = settle(title, state.after, state.settings)
            state.writes += again.writes
            state.after = again.after
        faults += [f"{title}: {why}" for why in (*_quiet(state), *_state(entry, state))]
    return faults


def _quiet(state: State) -> list[str]:
    return [f"error: {fault}" for fault in state.faults if fault == field_state.RESTLESS]


def _answers(run: Run, block: Mapping[str, Any], state: State) -> list[str]:
    """The case's own expected, status and error, which speak of the input alone."""
    faults = _errors(run, block, state)
    if run.expect.get("expected") is not None:
        expected = comparing.documents(run.expect["expected"])
        actual = stages.routing_objects(state.after)
        faults += comparing.compare_objects(actual, expected)
    if run.expect.get("status"):
        wanted = yaml.load(run.expect["status"], yaml.CSafeLoader)
        services = state.after.list(field_state.ISVC) or state.after.list(field_state.GRAPH)
        faults += comparing.subset(services[0].get("status") or {}, wanted, "status")
    return faults


def _errors(run: Run, block: Mapping[str, Any], state: State) -> list[str]:
    error = run.expect.get("error")
    mentions = list((block.get("error") or {}).get("mentions") or ())
    unknown = set(block.get("error") or {}) - {"mentions"}
    if unknown:
        return [f"error: no such field {sorted(unknown)}"]
    if error is None:
        return [f"unexpected error: {fault}" for fault in state.faults]
    wanted = (error if isinstance(error, dict) else yaml.safe_load(error))["match"]
    faults: list[str] = []
    for title, texts in admitting.errors(state).items():
        faults += [
            f"{title}: no error contains {text!r}; there are {texts}"
            for text in (wanted, *mentions)
            if not any(text in found for found in texts)
        ]
    return faults


def _state(entry: Mapping[str, Any], state: State) -> list[str]:
    """The checks, the preview and the traffic of the block itself or of one state."""
    seen = checks.Seen(
        objects=tuple(state.after),
        generated=state.generated,
        measure=state.measure,
        admitted=lambda obj: "; ".join(admitting.refusals(obj, state)),
        xds=lambda version: previewing.resources(state, version),
        router_configs=lambda: graph_stage.router_configs(state.cascade),
        providers=frozenset(_judged(state)),
    )
    faults = [why for check in entry.get("checks") or () for why in checks.judge(check, seen)]
    if "preview" in entry:
        faults += previewing.judge(entry["preview"], state)
    if "traffic" in entry:
        faults += traffic.judge(entry["traffic"], state.after, state.settings)
    return faults


def _judged(state: State) -> Iterator[str]:
    names = {step.outcome.provider for step in state.cascade.steps}
    return (word for word, name in PROVIDERS.items() if name in names)


def runs(objects: list[dict[str, Any]], compat: str, count: int) -> list[str]:
    """Render in `count` new processes, each with another hash seed."""
    payload = orjson.dumps({"objects": objects, "compat": compat})
    with ThreadPoolExecutor(2) as pool:
        outputs = set(pool.map(lambda seed: _render(payload, seed), range(count)))
    return [] if len(outputs) == 1 else [f"{len(outputs)} different outputs of {count} runs"]


def _render(payload: bytes, seed: int) -> bytes:
    """The generated objects as bytes, from a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tests.cases.field_render"],
        input=payload,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        cwd=ROOT,
        check=True,
        timeout=60,
    ).stdout

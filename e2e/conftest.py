"""A bed for each test module, and the times of its parts after the tests."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from e2e.bed import absence, gateways, timing
from e2e.bed.bed import ALL, Bed
from e2e.pods.images import kserve_home
from e2e.pods.running import Pods

LOGS = Path(__file__).resolve().parents[1] / "build" / "e2e"
"""Kept after the tests, one folder a module; `make clean` removes them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many random worlds are replayed through istiod (e2e/test_worlds.py)."""
    parser.addoption("--istiod-worlds", type=int, default=200)


@pytest.fixture(scope="module")
def make_bed(request: pytest.FixtureRequest) -> Iterator[Callable[..., Bed]]:
    """Starts beds as Bed.start does, and ends them after the module's last test."""
    logs = LOGS / request.module.__name__.rsplit(".", 1)[-1]
    with contextlib.ExitStack() as started:
        numbers = itertools.count(1)

        def start(*args: Any, **kwargs: Any) -> Bed:
            number = next(numbers)
            place = logs if number == 1 else logs / str(number)
            try:
                return started.enter_context(Bed.start(*args, logs=place, **kwargs))
            except absence.Absent as absent:
                _do_without(absent)

        yield start


@pytest.fixture(scope="module")
def bed(request: pytest.FixtureRequest, make_bed: Callable[..., Bed]) -> Bed:
    """A bed with the parts that the module names in PARTS, all of them if it names none."""
    return make_bed(getattr(request.module, "PARTS", ALL))


@pytest.fixture(scope="module")
def pods(bed: Bed) -> Pods:
    """Pods of the module's bed that run; they end with it."""
    # Beside their own, the host has the address of the gateway's pod, whose Envoy runs there.
    running = Pods(bed.kubeconfig, logs=bed.logs, hosts=[gateways.HERE.pod])
    try:
        running.start()
    except absence.Absent as absent:
        _do_without(absent)
    bed.processes.append(running)
    return running


@pytest.fixture(scope="session")
def kserve() -> Path:
    """A Python interpreter that has PyPI's kserve."""
    try:
        return kserve_home.python()
    except absence.Absent as absent:
        _do_without(absent)


@pytest.fixture(autouse=True)
def _no_part_ended(request: pytest.FixtureRequest) -> Iterator[None]:
    """A part that ended during a test makes that test fail, with the last words of its log."""
    yield
    if "bed" in request.fixturenames:
        request.getfixturevalue("bed").check()


def _do_without(absent: absence.Absent) -> NoReturn:
    if absence.is_failure():
        text = f"{absent} (CI=true allows no part to be absent)"
        raise pytest.fail.Exception(text, pytrace=False) from None
    pytest.skip(str(absent))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How long each part took to build and to start."""
    if timing.spans:
        terminalreporter.section("parts of the bed")
        for span in timing.spans:
            terminalreporter.write_line(timing.line(*span))

"""Finds the cases: those in the tree, or every folder given with --cases DIR."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import loading


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        action="append",
        default=[],
        metavar="DIR",
        help="run the suites of this folder instead, laid out as tests/cases/suites is (repeat)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "run" not in metafunc.fixturenames:
        return
    runs = _runs(metafunc.config)
    metafunc.parametrize("run", runs, ids=[run.id for run in runs])


def _runs(config: pytest.Config) -> list[loading.Run]:
    folders = [Path(given) for given in config.getoption("--cases")]
    return [run for folder in folders or [loading.SUITES_FOLDER] for run in loading.runs(folder)]


def pytest_terminal_summary(terminalreporter: object, config: pytest.Config) -> None:
    if config.getoption("numprocesses", None):
        _runs(config)  # with pytest-xdist only the workers have read the cases
    unjudged = sorted(loading.UNJUDGED)
    write = terminalreporter.write_line  # type: ignore[attr-defined]
    write(f"cases judged in e2e, where the controller runs: {len(loading.ON_CLUSTER)}")
    write(f"cases not judged yet (their needs are not met): {len(loading.NOT_MET)}")
    write(f"unjudged (marked, without an own expectation): {len(unjudged)}")
    for name in unjudged:
        write(f"  {name}")

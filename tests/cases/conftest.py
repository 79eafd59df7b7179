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
    folders = [Path(given) for given in metafunc.config.getoption("--cases")] or [
        loading.SUITES_FOLDER
    ]
    runs = [run for folder in folders for run in loading.runs(folder)]
    metafunc.parametrize("run", runs, ids=[run.id for run in runs])


def pytest_terminal_summary(terminalreporter: object, config: pytest.Config) -> None:
    unjudged = sorted(loading.UNJUDGED)
    write = terminalreporter.write_line  # type: ignore[attr-defined]
    write(f"cases not judged yet (their needs are not met): {len(loading.NOT_MET)}")
    write(f"unjudged (marked, without an own expectation): {len(unjudged)}")
    for name in unjudged:
        write(f"  {name}")

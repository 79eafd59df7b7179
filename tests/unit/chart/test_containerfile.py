"""The Containerfile runs what CI runs; no engine is here to build it.

Its lines are read, held to the Makefile that .ci/run calls, and the building of the wheel is
carried out with the files that it copies and no others.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.unit.chart import files

TEXT = (files.ROOT / "Containerfile").read_text("utf-8")
MAKEFILE = (files.ROOT / "Makefile").read_text("utf-8")
PROJECT = tomllib.loads((files.ROOT / "pyproject.toml").read_text("utf-8"))
LINES = [line.split(" ", 1) for line in TEXT.splitlines() if line and not line.startswith("#")]
COPIED = [
    source
    for word, rest in LINES
    if word == "COPY" and "--from" not in rest
    for source in rest.split()[:-1]
]


def pip(command: str, *, of: str) -> list[str]:
    """The words behind ``pip`` of every line of a text that calls this command of it."""
    found = re.findall(rf"-m pip ({command} .+)", of)
    return [text.strip() for text in found]


def last(word: str) -> str:
    return [rest for name, rest in LINES if name == word][-1]


def test_packages_come_from_the_lock_as_in_the_makefile() -> None:
    (of_lock,) = [text for text in pip("install", of=MAKEFILE) if "-r" in text]
    first = pip("wheel", of=TEXT)[0]
    assert first == of_lock.replace("install", "wheel", 1) + " -w /wheels"


def test_the_project_is_built_as_in_the_makefile() -> None:
    (of_project,) = [text for text in pip("install", of=MAKEFILE) if text.endswith("-e .")]
    built = pip("wheel", of=TEXT)[1]
    assert built == of_project.replace("install", "wheel", 1).replace("-e .", "-w /wheels .")


def test_nothing_else_comes_from_an_index() -> None:
    installs = pip("install", of=TEXT)
    assert [text.split()[-1] for text in installs] == ["hatchling", "ingressctl"]
    assert all("--no-index --find-links /wheels" in text for text in installs)


def test_ci_calls_the_makefile() -> None:
    script = (files.ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert {"make check", "make test"} <= set(script)


def test_python_is_one_that_the_project_is_checked_with() -> None:
    images = {rest.split()[0] for word, rest in LINES if word == "FROM"}
    assert images == {f"python:{PROJECT['tool']['mypy']['python_version']}-slim"}


def test_the_entry_point_is_the_projects() -> None:
    (entry,) = json.loads(last("ENTRYPOINT"))
    assert entry in PROJECT["project"]["scripts"]
    deployment = (files.CHART / "templates/controller/deployment.yaml").read_text("utf-8")
    (command,) = json.loads(last("CMD"))
    assert re.findall(r"args:\n\s+- (\S+)", deployment) == [command]


def test_the_user_is_that_of_the_chart() -> None:
    helpers = (files.CHART / "templates/_helpers.tpl").read_text("utf-8")
    assert last("USER") == ":".join(re.findall(r"runAs(?:User|Group): (\d+)", helpers))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the files that are copied, by the line that builds it."""
    source, wheels = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheels")
    for name in COPIED:
        path = files.ROOT / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, source / name)
    words = shlex.split(pip("wheel", of=TEXT)[1].replace("/wheels", str(wheels)))
    subprocess.run(
        [sys.executable, "-m", "pip", *words, "--disable-pip-version-check", "--no-index"],
        cwd=source,
        check=True,
        timeout=300,
    )
    (built,) = wheels.glob("*.whl")
    return built


def test_the_wheel_has_programs_templates_and_crds(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (entry_points,) = [name for name in names if name.endswith("entry_points.txt")]
        scripts = archive.read(entry_points).decode()
    for script, target in PROJECT["project"]["scripts"].items():
        assert f"{script} = {target}" in scripts
    for folder in ("templates", "crds"):
        tracked = [path for path in (files.ROOT / folder).rglob("*") if path.is_file()]
        assert tracked
        assert {f"ingressctl/{path.relative_to(files.ROOT)}" for path in tracked} <= names
    modules = (files.ROOT / "ingressctl").rglob("*.py")
    assert {str(path.relative_to(files.ROOT)) for path in modules} <= names

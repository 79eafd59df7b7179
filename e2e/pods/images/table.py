"""Which program stands for an image: the first pattern that fits, own ones before these.

A container's `command` replaces the program, its `args` follow it, as with real images. An image
that nothing stands for cannot be pulled.
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from e2e.bed import absence
from e2e.pods.images import kserve_home
from e2e.pods.network import commands

PATH = commands.PATH
ROOT = Path(__file__).parents[3]


class NoImage(Exception):
    """Nothing stands for an image. The message says why."""


@dataclass(frozen=True, slots=True)
class Program:
    """A command line and what it needs of an environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


def _module(name: str) -> Program:
    return Program((sys.executable, "-m", name), {"PYTHONPATH": str(ROOT)})


def _kserve() -> Program:
    model = Path(__file__).with_name("kserve_model.py")
    return Program((str(kserve_home.python()), str(model)))


# The last part of an image's name, without its tag. Making a program may take minutes.
_OWN: tuple[tuple[str, Callable[[], Program]], ...] = (
    ("echo", lambda: _module("e2e.pods.images.echo")),
    ("stub", lambda: _module("e2e.pods.images.stub")),
    ("kserve", _kserve),
    ("shell", lambda: Program(("/bin/sh",))),
    ("storage-initializer", lambda: Program(("/bin/true",))),
    # KServe's own runtimes: whatever they would serve, the stub says who was reached.
    ("*server", lambda: _module("e2e.pods.images.stub")),
)


class Table:
    """The programs that are known, and those that a test adds by pattern."""

    def __init__(self, added: Mapping[str, Sequence[str]] | None = None) -> None:
        self._added = {pattern: Program(tuple(argv)) for pattern, argv in (added or {}).items()}

    async def find(self, image: str) -> Program:
        """What stands for an image. Raises NoImage."""
        name = _name(image)
        for pattern, program in self._added.items():
            if fnmatch.fnmatchcase(image, pattern) or fnmatch.fnmatchcase(name, pattern):
                return program
        for pattern, make in _OWN:
            if fnmatch.fnmatchcase(name, pattern):
                try:
                    return await asyncio.to_thread(make)
                except absence.Absent as fault:
                    raise NoImage(str(fault)) from None
        raise NoImage(f"no program stands for the image {image}")


def read(path: Path) -> dict[str, list[str]]:
    """Patterns and command lines of a JSON file; a command line may be one text."""
    told = json.loads(path.read_text())
    return {key: shlex.split(one) if isinstance(one, str) else one for key, one in told.items()}


def _name(image: str) -> str:
    return image.partition("@")[0].rsplit("/", 1)[-1].partition(":")[0]

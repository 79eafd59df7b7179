"""A part of the bed as a child process: started, watched, ended, its log kept.

Each lives no longer than the tests, whatever ends those (ingressctl/proxy/launcher.py), and is
the leader of a group of its own, so that what it started ends with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from e2e.bed import timing, waiting
from e2e.bed.absence import Absent
from ingressctl.proxy import launcher

END_SECONDS = 5
LINES = 15


class Ended(Exception):
    """A part ended by itself, which none should."""


class Part(Protocol):
    """What a bed ends with itself."""

    @property
    def pid(self) -> int:
        """0 before the start and after the end."""

    def check(self) -> None:
        """Raises Ended if it is no more."""

    def stop(self) -> None:
        """End it and all it started."""


class Process:
    """One part. `prefix` goes before the command, to run it elsewhere (ip netns exec NAME)."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        folder: Path | None = None,
    ) -> None:
        self.name, self.log, self._folder = name, log, folder
        self._command = [*prefix, *map(str, command)]
        self._environment = environment or {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """0 before the start and after the end."""
        return self._process.pid if self._process else 0

    def start(self, ready: Callable[[], object], *, seconds: float = 60) -> None:
        """Start and wait until it is ready. Raises Ended or waiting.Late, with its last words."""
        with timing.measured(f"start {self.name}"):
            self._spawn()
            try:
                waiting.until("ready", ready, seconds=seconds, watch=self.check)
            except BaseException as error:
                words = self.last_words()
                self.stop()
                if isinstance(error, waiting.Late):
                    raise waiting.Late(f"{self.name}: {error}\n{words}") from None
                raise

    def _spawn(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", launcher.__file__, str(os.getpid()), *self._found()],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self._environment},
                start_new_session=True,
            )

    def _found(self) -> list[str]:
        """The command with its program's path, as the launcher wants it."""
        program, *rest = self._command
        path = shutil.which(program)
        if path is None:
            raise Absent(f"{program} is missing", f"install it, or run without {self.name}")
        return [path, *rest]

    def check(self) -> None:
        """Raises Ended if the process is no more."""
        if self._process is not None and self._process.poll() is not None:
            code = self._process.returncode
            raise Ended(f"{self.name} ended with {code}; its log ends with:\n{self.last_words()}")

    def stop(self, *, seconds: float = END_SECONDS) -> None:
        """Ask it to end, then make it: it and all it started."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def last_words(self, lines: int = LINES) -> str:
        """The end of the log."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.strip().splitlines()[-lines:])

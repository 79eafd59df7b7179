"""Calls `ip` and `nft`, and tells which packages a machine lacks for them."""

from __future__ import annotations

import asyncio
import functools
import os
import shutil

DEADLINE = 20
# Debian keeps both in sbin, which an ordinary user's PATH may lack.
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
REMEDY = "apt-get install iproute2 nftables, and run it below `python -m e2e.pods.private`"
PACKAGES = {"ip": "iproute2", "nft": "nftables", "nsenter": "util-linux"}


class Failed(Exception):
    """A command ended badly. The message is its own."""


@functools.cache
def found(tool: str) -> str:
    """The path of a tool; its name where it is missing."""
    return shutil.which(tool, path=PATH) or tool


def missing() -> str:
    """Why pods cannot run on this machine, "" if they can."""
    lacking = [name for tool, name in PACKAGES.items() if not shutil.which(tool, path=PATH)]
    if lacking:
        return f"pods need the package {' and '.join(lacking)}, which is missing"
    if os.geteuid() != 0:
        return "pods need the rights of root over a network"
    return ""


async def run(*command: str, text: str = "") -> str:
    """The output of a command that is given a text. Raises Failed."""
    process = await asyncio.create_subprocess_exec(
        found(command[0]),
        *command[1:],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PATH": PATH},
    )
    try:
        async with asyncio.timeout(DEADLINE):
            out, err = await process.communicate(text.encode())
    except TimeoutError:
        process.kill()
        await process.wait()
        raise Failed(f"{' '.join(command)}: no end within {DEADLINE} s") from None
    if process.returncode:
        raise Failed(f"{' '.join(command)}: {err.decode().strip() or out.decode().strip()}")
    return out.decode()


async def ip(*lines: str, inside: str = "") -> None:
    """Several commands of `ip` in one process, inside a namespace or outside of all."""
    where = ("-n", inside) if inside else ()
    await run("ip", *where, "-batch", "-", text="\n".join(lines) + "\n")

"""What a process has used so far, as the kernel counts it."""

from __future__ import annotations

import os
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
IDLE_SECONDS = 2.0
IDLE_SHARE = 0.03


def cpu(pid: int) -> float:
    """Seconds of CPU, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak(pid: int) -> float:
    """The greatest resident memory so far, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def resident(pid: int) -> float:
    """The resident memory, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def until_idle(pid: int, *, seconds: float) -> tuple[float, float]:
    """CPU seconds and wall seconds until the process has nothing to do any more.

    It counts as idle when it uses next to nothing for two seconds, which are taken off.
    """
    began = time.monotonic()
    quiet_since, used = began, cpu(pid)
    while time.monotonic() - began < seconds:
        time.sleep(0.1)
        now = cpu(pid)
        if now - used > IDLE_SHARE * (time.monotonic() - quiet_since) + 0.05:
            quiet_since, used = time.monotonic(), now
        elif time.monotonic() - quiet_since > IDLE_SECONDS:
            return now, quiet_since - began
    raise TimeoutError(f"the process is not idle after {seconds:g} s")

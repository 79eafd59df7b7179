"""Files of Go modules, from Go's own cache: vendors' CRDs are read there, not copied here."""

from __future__ import annotations

import functools
import json
import subprocess
import tempfile
from pathlib import Path

from e2e.bed import building
from e2e.bed.absence import Absent

FETCH_SECONDS = 300


@functools.cache
def folder(module: str) -> Path:
    """The folder of MODULE@VERSION, fetched if it is not there yet. Raises Absent."""
    try:
        ended = subprocess.run(
            [building.go(), "mod", "download", "-json", module],
            cwd=tempfile.gettempdir(),  # outside of any module
            env=building.environment(),
            capture_output=True,
            text=True,
            timeout=FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Absent(f"{module} did not arrive", "look at the network, or set GOPROXY") from None
    if ended.returncode:
        words = ended.stderr.strip() or ended.stdout.strip()
        raise Absent(f"{module} cannot be fetched: {words}", "look at the network, or set GOPROXY")
    return Path(json.loads(ended.stdout)["Dir"])

"""Files of Go modules, fetched by module name: the vendors' CRDs are not copied here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

OPENSHIFT = "github.com/openshift/api@v0.0.0-20260501191448-a49973eaef53"
TRAEFIK = "github.com/traefik/traefik/v3@v3.7.13"


def folder(module: str) -> Path:
    """The module's files in Go's cache. Without Go: skipped, and a failure in CI."""
    go = shutil.which("go")
    if go is None:
        _missing("Go is not installed; install Go 1.22 or newer to check against vendors' CRDs")
    ran = subprocess.run(
        [str(go), "mod", "download", "-json", module],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "GOFLAGS": "-mod=mod"},
    )
    if ran.returncode:
        _missing(f"{module} cannot be fetched: {ran.stderr.strip() or ran.stdout.strip()}")
    return Path(json.loads(ran.stdout)["Dir"])


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(f"VENDOR CRDS NOT CHECKED: {reason}")

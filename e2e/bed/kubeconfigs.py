"""Kubeconfigs: one file for one person or program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from e2e.bed.certificates import Keys


def admin(path: Path, *, url: str, keys: Keys) -> Path:
    """Of who may do everything."""
    user = {
        "client-certificate": str(keys.admin.certificate),
        "client-key": str(keys.admin.key),
    }
    return _write(path, url, keys.ca, user)


def account(path: Path, *, url: str, ca: Path, token: str, namespace: str) -> Path:
    """Of a ServiceAccount, whose rights are those of its bindings."""
    return _write(path, url, ca, {"token": token}, namespace)


def _write(
    path: Path, url: str, ca: Path, user: dict[str, str], namespace: str = "default"
) -> Path:
    context = {"cluster": "bed", "user": "bed", "namespace": namespace}
    config: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bed", "cluster": {"server": url, "certificate-authority": str(ca)}}],
        "users": [{"name": "bed", "user": user}],
        "contexts": [{"name": "bed", "context": context}],
        "current-context": "bed",
    }
    path.write_text(json.dumps(config, indent=1))
    path.chmod(0o600)
    return path

"""What an API server was asked, and by whom: its own audit, which no client can leave out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from e2e.bed import apiserver

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that was answered."""

    user: str
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str

    @property
    def writes(self) -> bool:
        """Whether it changes an object or a status; events are news only."""
        return self.verb in WRITES and self.resource != "events"


class Audit:
    """Of one API server, about some accounts."""

    def __init__(self, folder: Path, users: Iterable[str]) -> None:
        self._log = folder / "audit.log"
        self._policy = folder / "policy.yaml"
        self._policy.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "audit.k8s.io/v1",
                    "kind": "Policy",
                    "omitStages": ["RequestReceived", "ResponseStarted"],
                    "rules": [{"level": "Metadata", "users": [*users]}, {"level": "None"}],
                }
            )
        )

    @property
    def settings(self) -> apiserver.Settings:
        """Of the API server that is to note it."""
        return apiserver.Settings(
            extra=(f"--audit-policy-file={self._policy}", f"--audit-log-path={self._log}")
        )

    @property
    def mark(self) -> int:
        """A point in time, for `since`."""
        return self._log.stat().st_size if self._log.exists() else 0

    def since(self, mark: int, user: str) -> list[Asked]:
        """The requests for objects that an account has made since then, in order."""
        with self._log.open("rb") as log:
            log.seek(mark)
            lines = [json.loads(line) for line in log if line.endswith(b"\n")]
        return [_asked(line) for line in lines if _user(line) == user and line.get("objectRef")]


def account(namespace: str, name: str) -> str:
    """What the audit calls a ServiceAccount."""
    return f"system:serviceaccount:{namespace}:{name}"


def _user(line: dict[str, Any]) -> str:
    return str(line["user"]["username"])


def _asked(line: dict[str, Any]) -> Asked:
    ref = line["objectRef"]
    return Asked(
        user=_user(line),
        verb=line["verb"],
        group=ref.get("apiGroup", ""),
        resource=ref.get("resource", ""),
        subresource=ref.get("subresource", ""),
        namespace=ref.get("namespace", ""),
        name=ref.get("name", ""),
    )

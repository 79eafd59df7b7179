"""`ingressctl preview` as a process, by somebody who may only look."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
import yaml

from e2e import audit
from e2e.bed.bed import Bed
from ingressctl.api.refs import Raw, ref_of
from ingressctl.core.world import World
from ingressctl.plan import kinds, showing
from tests.cases import comparing

NAMESPACE, NAME = "elsewhere", "reader"
READER = audit.account(NAMESPACE, NAME)
FIELDS = frozenset("exit prints maxSeconds sameAsApplied".split())
LIMIT = 120
SORTED = orjson.OPT_SORT_KEYS


class Previewing:
    """The last preview, and what is asked of it."""

    def __init__(self, bed: Bed, compat: str, place: Path) -> None:
        self._bed, self._compat = bed, compat
        self._file = place / "input.yaml"
        self._ended: subprocess.CompletedProcess[str] | None = None
        self._took = 0.0

    async def of(self, objects: Iterable[Raw]) -> None:
        """Ask what applying the services among these objects would change."""
        services = [_written(obj) for obj in objects if ref_of(obj)[:2] == kinds.INFERENCE_SERVICE]
        self._file.write_text(yaml.safe_dump_all(services))
        began = time.monotonic()
        self._ended = subprocess.run(
            self._command(),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
            env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
        )
        self._took = time.monotonic() - began

    def _command(self) -> list[str]:
        return [
            sys.executable,
            "-m",
            "ingressctl",
            "preview",
            f"--filename={self._file}",
            f"--kubeconfig={reader(self._bed)}",
            "--against=cluster",
            "--config-namespace=kserve",
            f"--compat={self._compat}",
            "--output=yaml",
        ]

    def judge(self, wanted: Mapping[str, Any], world: World) -> list[str]:
        """Why the last preview is not as wanted; `world` is what the controller has made."""
        ended = self._ended
        if set(wanted) - FIELDS or ended is None:
            return [f"not judged on a cluster: {dict(wanted)}"]
        faults = []
        if ended.returncode != wanted.get("exit", ended.returncode):
            faults.append(f"preview exits with {ended.returncode}: {ended.stderr}")
        printed = ended.stdout + ended.stderr
        faults += [
            f"preview does not print {text!r}, but {printed}"
            for text in wanted.get("prints") or ()
            if text not in printed
        ]
        if self._took > float(wanted.get("maxSeconds", self._took)):
            faults.append(f"preview takes {self._took:.1f} s")
        if wanted.get("sameAsApplied"):
            faults += _compared(ended.stdout, world)
        return faults


def _compared(printed: str, world: World) -> list[str]:
    """What is printed beside what is stored: the same bytes in one serialisation.

    InferenceServices are people's, and a stored object is read in the version that is printed.
    """
    wanted = [
        obj for obj in comparing.documents(printed) if ref_of(obj)[:2] != kinds.INFERENCE_SERVICE
    ]
    stored = [
        {**showing.shown(world.get(ref_of(obj)) or {}), "apiVersion": obj["apiVersion"]}
        for obj in wanted
    ]
    mine, theirs = ([orjson.dumps(obj, option=SORTED) for obj in each] for each in (wanted, stored))
    return [] if wanted and mine == theirs else [f"preview prints {mine}, stored is {theirs}"]


def _written(obj: Raw) -> Raw:
    """As a person writes it."""
    return {key: value for key, value in obj.items() if key != "status"}


def reader(bed: Bed) -> Path:
    """A kubeconfig that may get and list everything, and nothing else."""
    head = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": NAME}}
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}
    rule = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME}
    account = bed.account(NAMESPACE, NAME)
    bed.apply(
        yaml.safe_dump_all(
            [
                {**head, "kind": "ClusterRole", "rules": [rule]},
                {**head, "kind": "ClusterRoleBinding", "subjects": [subject], "roleRef": role},
            ]
        )
    )
    return account

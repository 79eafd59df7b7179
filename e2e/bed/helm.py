"""helm as a person calls it, on the chart of this tree: nothing is installed by it here."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from e2e.bed import building, programs

CHART = Path(__file__).resolve().parents[2] / "templates" / "chart"
RELEASE = "ingressctl"
SECONDS = 60

Values = Mapping[str, Any]


class Refused(Exception):
    """helm ended with a fault. The message is what it wrote."""


def lint(values: Values) -> str:
    """What helm says of the chart with these values. Raises Refused, for a warning as well."""
    return _helm("lint", "--strict", str(CHART), values=values)


def template(values: Values, *, namespace: str) -> list[dict[str, Any]]:
    """The objects of a release. Raises Refused."""
    version = f"--kube-version={programs.KUBERNETES}"
    text = _helm("template", RELEASE, str(CHART), "-n", namespace, version, values=values)
    return [obj for obj in yaml.load_all(text, yaml.CSafeLoader) if obj]


def _helm(*words: str, values: Values) -> str:
    ended = subprocess.run(
        [building.built(programs.HELM), *words, "--values", "-"],
        input=json.dumps(dict(values)),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, "KUBECONFIG": os.devnull},
    )
    if ended.returncode:
        raise Refused(f"{ended.stdout}{ended.stderr}")
    return ended.stdout

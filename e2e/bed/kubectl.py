"""kubectl of the same build as the API server, patient where a young cluster needs it."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from e2e.bed import building, programs

SECONDS = 60
PATIENCE = 20
PAUSE = 0.2

PASSING = (
    # After CRDs were created, storage and discovery take a moment to know them.
    "storage is (re)initializing",
    "no matches for kind",
    "the server could not find the requested resource",
    "doesn't have a resource type",
)


class Refused(Exception):
    """kubectl ended with a fault; `text` is what it wrote."""

    def __init__(self, words: tuple[str, ...], text: str) -> None:
        self.text = text
        super().__init__(f"kubectl {' '.join(words)}: {text.strip()}")


@dataclass(frozen=True, slots=True)
class Kubectl:
    """Called as whom its kubeconfig names."""

    kubeconfig: Path
    cache: Path

    def __call__(self, *words: str, stdin: str = "", patience: float = PATIENCE) -> str:
        """What it printed. Raises Refused, at once where waiting does not help."""
        end = time.monotonic() + patience
        while True:
            try:
                return self._once(words, stdin)
            except Refused as refused:
                passing = any(part in refused.text for part in PASSING)
                if not passing or time.monotonic() > end:
                    raise
            time.sleep(PAUSE)

    def _once(self, words: tuple[str, ...], stdin: str) -> str:
        where = (f"--kubeconfig={self.kubeconfig}", f"--cache-dir={self.cache}")
        ended = subprocess.run(
            [building.built(programs.KUBECTL), *where, *words],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env=_environment(),
        )
        if ended.returncode:
            raise Refused(words, ended.stderr)
        return ended.stdout


def _environment() -> dict[str, str]:
    """Without a proxy, which could not reach this machine."""
    named = {"http_proxy", "https_proxy", "all_proxy", "kubeconfig"}
    return {key: value for key, value in os.environ.items() if key.lower() not in named}

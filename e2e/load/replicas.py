"""One controller at a time behind a switch: as soon as one is dead the next one starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from e2e import charts
from e2e.bed.bed import Bed
from e2e.bed.processes import Ended
from e2e.controllers import Controller
from e2e.load.switch import Switch


class Replicas:
    """A part of a bed that is looked after by `tend`, which a test calls while it waits."""

    def __init__(
        self, bed: Bed, switch: Switch, flags: Sequence[str], *, kubeconfig: Path, name: str
    ) -> None:
        self._bed, self._switch, self._flags = bed, switch, tuple(flags)
        self._kubeconfig, self._name = kubeconfig, name
        self.lives = 0
        self._seen = 0
        self._next()

    def tend(self) -> None:
        """A new one for one that was killed. Raises processes.Ended for any other end."""
        if len(self._switch.killed) == self._seen:
            self._controller.check()
            return
        self._controller.stop()
        self._next()

    def stop(self) -> None:
        """No more of them."""
        self._controller.stop()

    def _next(self) -> None:
        """One that lives until it is ready, unless it is killed before."""
        while True:
            self._seen = len(self._switch.killed)
            self._controller = self._made()
            self._switch.victim = lambda: self._controller.pid
            try:
                self._controller.start()
            except Ended:
                if len(self._switch.killed) == self._seen:
                    raise
            else:
                return

    def _made(self) -> Controller:
        self.lives += 1
        return Controller(
            self._bed,
            self._flags,
            kubeconfig=self._kubeconfig,
            log=self._bed.logs / f"{self._name}-{self.lives}.log",
            environment={"POD_NAMESPACE": charts.NAMESPACE, "POD_NAME": self._name},
        )

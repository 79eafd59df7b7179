"""Rollouts on one bed, one after the other, each of a service and with controllers of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import yaml

from e2e import charts, controllers
from e2e.bed.bed import Bed
from e2e.load import rollout, service
from e2e.load.loop import Loop
from e2e.load.replicas import Replicas
from e2e.load.rollout import Rollout, Told
from e2e.load.switch import Deadly, Switch
from e2e.load.ways import Way

DOMAINS = ("one.example.com", "two.example.com")
"""What hosts are below, in turn: each rollout renames them to the other one."""


def nobody(_write: int) -> bool:
    """No controller dies."""
    return False


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: the settle time of controllers, and how long an ending pod still serves."""

    settle: float = 2.0
    drain: float = 5.0


class Runs:
    """On one way to the pods, with the rights of a release for it."""

    def __init__(self, bed: Bed, loop: Loop, way: Way, pace: Pace) -> None:
        self._bed, self._loop, self._way, self._pace = bed, loop, way, pace
        self._numbers = itertools.count(10)
        self._account = controllers.account(bed, way.values)

    def run(
        self, deadly: Deadly = nobody, *, before: bool = True, stable: str = rollout.NEXT
    ) -> Told:
        """One rollout whose controllers die where `deadly` says."""
        number = next(self._numbers)
        domains = DOMAINS if number % 2 else DOMAINS[::-1]
        name = f"{self._way.provider[0]}{number}"
        story = Rollout(
            self._bed,
            self._loop,
            name=name,
            address=self._way.address,
            domains=domains,
            drain=self._pace.drain,
            stable=stable,
            drains=self._way.drains,
        )
        self._bed.apply(yaml.safe_dump(service.config(domains[0])))
        switch = Switch(self._bed, deadly, before=before, written=story.heard)
        try:
            with self._running(switch, name) as replicas:
                self._way.begin()
                told = story.run(replicas, switch)
        finally:
            self._bed.kubectl("delete", "isvc", name, "-n", service.NAMESPACE)
        self._keep(name, told)
        return told

    @contextmanager
    def _running(self, switch: Switch, name: str) -> Iterator[Replicas]:
        """Controllers of which one always lives, behind the switch."""
        self._loop.run(switch.__aenter__())
        try:
            replicas = Replicas(
                self._bed,
                switch,
                self._flags(),
                kubeconfig=switch.kubeconfig(
                    self._account, self._bed.folder / f"{name}.kubeconfig"
                ),
                name=name,
            )
            try:
                yield replicas
            finally:
                replicas.stop()
        finally:
            self._loop.run(switch.__aexit__(None, None, None))

    def _flags(self) -> tuple[str, ...]:
        return (
            "--config-namespace=kserve",
            "--write=routes,workloads",
            f"--providers={self._way.provider}",
            f"--provider={self._way.provider}",
            *self._way.flags,
            "--no-leader-elect",
            f"--settle-seconds={self._pace.settle:g}",
        )

    def _keep(self, name: str, told: Told) -> None:
        """Its figures, for the report of the tests and beside the logs."""
        print(f"{name}: {told.line()}")
        (self._bed.logs / f"{name}.writes").write_text("\n".join(told.writes))


def prepare(bed: Bed) -> None:
    """What has to be there before the first rollout."""
    charts.need_helm()
    charts.make_namespaces(bed)

"""Rollouts on one bed, one after the other, each of a service and with controllers of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import yaml

from e2e import charts, controllers, doors
from e2e.bed import gateways
from e2e.bed.bed import Bed
from e2e.load import rollout, service
from e2e.load.loop import Loop
from e2e.load.replicas import Replicas
from e2e.load.rollout import Rollout, Told
from e2e.load.switch import Deadly, Switch

DOMAINS = ("one.example.com", "two.example.com")
"""What hosts are below, in turn: each rollout renames them to the other one."""

ENTRIES = {"gateway_api": doors.KSERVE_PORT, "istio": gateways.PLAIN}
"""Where requests come in, by provider."""


def nobody(_write: int) -> bool:
    """No controller dies."""
    return False


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: the settle time of controllers, and how long an ending pod still serves."""

    settle: float = 2.0
    drain: float = 5.0


class Runs:
    """With one provider; `started` gives controllers the rights of a release."""

    def __init__(self, bed: Bed, loop: Loop, provider: str, pace: Pace) -> None:
        self._bed, self._loop, self._provider, self._pace = bed, loop, provider, pace
        self._numbers = itertools.count(10)
        values = {
            "providers": [provider],
            "provider": provider,
            "write": ["routes", "workloads"],
            "beside": "",
        }
        self._account = controllers.account(bed, values)

    def run(
        self, deadly: Deadly = nobody, *, before: bool = True, stable: str = rollout.NEXT
    ) -> Told:
        """One rollout whose controllers die where `deadly` says."""
        number = next(self._numbers)
        domains = DOMAINS if number % 2 else DOMAINS[::-1]
        name = f"{self._provider[0]}{number}"
        story = Rollout(
            self._bed,
            self._loop,
            name=name,
            address=f"{self._bed.gateway.reached}:{self._bed.gateway.ports[self._entry]}",
            domains=domains,
            drain=self._pace.drain,
            stable=stable,
        )
        self._bed.apply(yaml.safe_dump(service.config(domains[0])))
        switch = Switch(self._bed, deadly, before=before, written=story.heard)
        try:
            with self._running(switch, name) as replicas:
                told = story.run(replicas, switch)
        finally:
            self._bed.kubectl("delete", "isvc", name, "-n", service.NAMESPACE)
        self._keep(name, told)
        return told

    @property
    def _entry(self) -> int:
        return ENTRIES[self._provider]

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
            f"--providers={self._provider}",
            f"--provider={self._provider}",
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
    bed.apply(yaml.safe_dump_all(doors.objects(bed.gateway)))

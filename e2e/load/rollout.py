"""The story of one rollout under load: canary at 0, 10, 50, 100, promoted, rolled, renamed.

After each step the world has to come to rest in what the step asked for, with the shares of
traffic it asked for, while every request is answered and no stream is cut. The rename is that
of the domain of all hosts. A client asks at the host that status.url tells: at the old one
until the very moment at which the new status.url is stored, at the new one from then on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from e2e.bed import waiting
from e2e.bed.bed import Bed
from e2e.load import pictures, service
from e2e.load.loop import Loop
from e2e.load.pictures import Picture
from e2e.load.replicas import Replicas
from e2e.load.streams import Streams
from e2e.load.switch import Switch
from e2e.load.traffic import Traffic

SECONDS = 120
REST = 1.5
"""Seconds without a change after which nothing more is coming."""

ASKED = 300
STEPS = (0, 10, 50, 100)
NEXT = "next"
"""The canary. A predictor that gets its name takes its pods over; one of another name rolls."""


@dataclass(slots=True)
class Told:
    """What came of a rollout."""

    sent: int = 0
    answered: int = 0
    failures: list[str] = field(default_factory=list)
    streams: int = 0
    cut: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    kills: int = 0
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)

    def line(self) -> str:
        """The figures."""
        return (
            f"{self.sent} requests, {len(self.failures)} failed; {self.streams} streams, "
            f"{len(self.cut)} cut; {len(self.writes)} writes, {self.kills} kills; {self.took}"
        )


class Rollout:
    """Of one service, named after the run. `stable` is the predictor's name once promoted.

    `drains` tells that a predictor stays as long as a stream to it is open, which here is
    until all steps are done.
    """

    def __init__(
        self,
        bed: Bed,
        loop: Loop,
        *,
        name: str,
        address: str,
        domains: tuple[str, str],
        drain: float,
        stable: str,
        drains: bool,
    ) -> None:
        self._bed, self._loop, self._name = bed, loop, name
        self._old, self._new = domains
        self._drain, self._stable, self._drains = drain, stable, drains
        self._hosts = tuple(service.host(name, domain) for domain in domains)
        self.traffic = Traffic(address, self._hosts[0], ["v1"])
        self._streams = Streams(address)
        self.told = Told()

    def heard(self, path: str, obj: Any) -> None:
        """A write that the API server took: clients follow status.url."""
        if path.endswith(f"/inferenceservices/{self._name}/status"):
            url = str((obj.get("status") or {}).get("url") or "")
            if url == f"http://{self._hosts[1]}":
                self.traffic.host = self._hosts[1]

    def run(self, replicas: Replicas, switch: Switch) -> Told:
        """All steps. What failed is in what is told; raises waiting.Late if a step does not end."""
        self._replicas = replicas
        self._prepare()
        self._loop.run(self.traffic.start())
        try:
            self._steps()
        finally:
            self._loop.run(self.traffic.stop())
            self._loop.run(self._streams.close())
            self._sum_up(switch)
        return self.told

    def _sum_up(self, switch: Switch) -> None:
        told, traffic = self.told, self.traffic
        told.sent, told.answered = traffic.sent, traffic.answered
        told.failures = [str(failure) for failure in traffic.failures]
        told.streams, told.cut = len(self._streams.opened), list(self._streams.cut)
        told.writes, told.kills = list(switch.writes), len(switch.killed)

    def _prepare(self) -> None:
        """The service without a canary, ready."""
        self._apply(self._service("v1"))
        self._wait("made", _is_ready)

    def _steps(self) -> None:
        canary = self._predictor("v2", NEXT)
        self._hold("at first")
        for percent in STEPS:
            changed = self._service("v1", canary=canary, percent=percent)
            self._step(f"canary {percent}", changed, _weighted(percent), percent)
        only = f"{self._stable}-predictor".removeprefix("-")
        promoted = service.service(self._name, self._predictor("v2", self._stable))
        self._step("promoted", promoted, self._has_only(only), 100)
        rolled = service.service(self._name, self._predictor("v3", self._stable))
        self._step("rolled", rolled, self._has_only(only), 100, ("v2", "v3"))
        self._step("renamed", service.config(self._new), self._is_renamed, 100, ("v3", "v3"))
        if self._drains:
            self._loop.run(self._streams.close())
            self._wait("drained", self._has_no_other(only))

    def _step(
        self,
        name: str,
        changed: dict[str, Any],
        is_reached: Callable[[Picture], bool],
        percent: int,
        versions: tuple[str, str] = ("v1", "v2"),
    ) -> None:
        """Change something, and wait until the share of the second version is as wanted."""
        began = time.monotonic()
        old, new = versions
        after = {old, new} if 0 < percent < 100 else {new if percent else old}
        self.traffic.versions |= after
        self._apply(changed)
        self._wait(name, is_reached)
        waiting.until(
            f"{name}: {percent} %",
            lambda: self._has_share(new, percent),
            seconds=SECONDS,
            watch=self._replicas.tend,
        )
        self.traffic.versions = frozenset(after)
        self._hold(name)
        self.told.took[name] = round(time.monotonic() - began, 1)

    def _wait(self, what: str, is_reached: Callable[[Picture], bool]) -> None:
        """Until it is so, the service is ready and nothing changes any more."""
        seen: tuple[dict[str, str], float] = ({}, 0.0)

        def is_settled() -> bool:
            nonlocal seen
            picture = self._picture()
            versions, now = picture.versions(), time.monotonic()
            if versions != seen[0]:
                seen = (versions, now)
            return now - seen[1] > REST and _is_ready(picture) and is_reached(picture)

        try:
            waiting.until(what, is_settled, seconds=SECONDS, watch=self._replicas.tend)
        except waiting.Late:
            raise waiting.Late(f"{what} is not reached: {self._picture()}") from None
        words = {self._name: "NAME", self._old: "OLD", self._new: "NEW"}
        self.told.objects[what] = self._picture().lasting(words)

    def _has_share(self, version: str, percent: int) -> bool:
        """Of as many requests as tell it."""
        before = self.traffic.answered
        while self.traffic.answered < before + ASKED:
            self._replicas.tend()
            time.sleep(0.1)
        counted = self.traffic.since(before)
        share = 100 * counted[version] / counted.total()
        exact = percent in (0, 100)
        return share == percent if exact else abs(share - percent) < 5 + percent / 10

    def _hold(self, when: str) -> None:
        opened = self._loop.begin(self._streams.open(self.traffic.host, when))
        waiting.until(f"streams {when}", opened.done, seconds=SECONDS, watch=self._replicas.tend)
        opened.result()

    def _picture(self) -> Picture:
        work = pictures.taken(self._bed.kubeconfig, service.NAMESPACE, self._name)
        return self._loop.run(work)

    def _apply(self, *objects: dict[str, Any]) -> None:
        self._bed.apply(yaml.safe_dump_all(objects))

    def _predictor(self, version: str, name: str = "") -> dict[str, Any]:
        return service.predictor(version, drain=self._drain, name=name)

    def _service(self, version: str, **canary: Any) -> dict[str, Any]:
        return service.service(self._name, self._predictor(version), **canary)

    def _has_only(self, name: str) -> Callable[[Picture], bool]:
        """Whether all pods of this Deployment are new, and it is the only one as far as streams
        let go of others."""
        own = f"{self._name}-{name}"
        is_alone = self._has_no_other(name)

        def has(picture: Picture) -> bool:
            is_rolled = _is_rolled(picture[f"Deployment/{own}"])
            return is_rolled and (self._drains or is_alone(picture))

        return has

    def _has_no_other(self, name: str) -> Callable[[Picture], bool]:
        """Whether this Deployment and its Service are the only ones."""
        wanted = {f"{self._name}-{name}"}

        def has(picture: Picture) -> bool:
            return (
                picture.names("Deployment") == picture.names("Service") == wanted
                and picture.condition("TrafficSettled") != "False"
            )

        return has

    def _is_renamed(self, picture: Picture) -> bool:
        """Nothing of the old domain is left in the service's status and its routes."""
        told = str([picture.status, *_routes(picture)])
        return self._new in told and self._old not in told


def _is_ready(picture: Picture) -> bool:
    return picture.condition("Ready") == "True"


def _is_rolled(deployment: dict[str, Any]) -> bool:
    status, spec = deployment.get("status") or {}, deployment["spec"]
    return status.get("observedGeneration") == deployment["metadata"]["generation"] and status.get(
        "updatedReplicas"
    ) == spec["replicas"] == status.get("replicas")


def _routes(picture: Picture) -> Iterable[dict[str, Any]]:
    kinds = ("HTTPRoute/", "VirtualService/")
    return [obj["spec"] for key, obj in picture.items() if key.startswith(kinds)]


def _weighted(percent: int) -> Callable[[Picture], bool]:
    """Whether every route gives the canary its share. Our own Envoy is told without objects:
    there the traffic alone tells."""

    def is_weighted(picture: Picture) -> bool:
        ready = (picture.status.get("canaryStatuses") or [{}])[0]
        rules = [rule for spec in _routes(picture) for rule in spec.get("rules") or ()]
        rules += [rule for spec in _routes(picture) for rule in spec.get("http") or ()]
        found = {_weights(rule) for rule in rules}
        return bool(ready.get("ready")) and found <= {(100 - percent, percent)}

    return is_weighted


def _weights(rule: dict[str, Any]) -> tuple[int, ...]:
    targets = rule.get("backendRefs") or rule.get("route") or ()
    return tuple(target.get("weight", 0) for target in targets)

"""Admission as preview and check ask it: one object, and the world that it comes into.

An object that the API server has already (it has a uid) is judged as an update of itself,
so that rules about changes stay silent; any other is judged as a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingressctl.api import admission, configmaps, inferencegraphs
from ingressctl.api.admission import Refusal
from ingressctl.api.inferenceservices import KIND
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.kserve import configuration
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.world import Kind, World
from ingressctl.plan import kinds

RUNTIMES: tuple[Kind, ...] = (
    ("serving.kserve.io", "ServingRuntime"),
    ("serving.kserve.io", "ClusterServingRuntime"),
)
ADMITTED = frozenset({KIND, inferencegraphs.KIND, *RUNTIMES})
REFUSALS = frozenset({"IC1122", "IC1301", "IC1302"})
"""Codes that mean: no cluster would take this object."""


SHIPPED = {"security": '{"autoMountServiceAccountToken": true}'}
"""What admission reads of the ConfigMap that KServe ships, where there is none (W4)."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The object as it would be stored, and error findings if it would not be.

    `warnings` are findings about what is stored all the same.
    """

    stored: Raw
    refusals: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()


def refusals(obj: Raw, *, world: World, settings: Settings) -> tuple[Finding, ...]:
    """Why admission refuses the object, as error findings; empty if it is admitted."""
    return _judged(obj, world, settings).refusals


def found(obj: Raw, *, world: World, settings: Settings) -> tuple[Finding, ...]:
    """What admission has to say of the object: refusals, or warnings."""
    judged = _judged(obj, world, settings)
    return (*judged.refusals, *judged.warnings)


def _judged(obj: Raw, world: World, settings: Settings) -> Judgement:
    held = bool((obj.get("metadata") or {}).get("uid"))
    return judge(obj, old=obj if held else None, world=world, settings=settings)


def judge(obj: Raw, *, old: Raw | None, world: World, settings: Settings) -> Judgement:
    """The object filled in and judged, as an update of `old` or as a new one.

    A configuration that cannot be read refuses nothing here: it is a finding of its own.
    """
    ref = ref_of(obj)
    unserved = _unserved(obj, ref)
    if unserved:
        return Judgement(obj, unserved)
    if (ref.group, ref.kind) not in ADMITTED:
        return Judgement(obj)
    try:
        admitted = admission.admit(
            obj,
            old=old,
            operation="create" if old is None else "update",
            config=_config(world, settings),
            differs=settings.compat.differs,
            peers=_peers(ref, world),
        )
    except configmaps.ConfigFault:
        return Judgement(obj)
    return Judgement(
        admitted.stored,
        _told("IC1302", ref, admitted.refusals),
        _told("IC6001", ref, admitted.warnings),
    )


def _told(code: str, ref: Ref, refusals: tuple[Refusal, ...]) -> tuple[Finding, ...]:
    return tuple(
        Finding.of(
            code,
            ref,
            path=refusal.path,
            difference=refusal.difference,
            text=refusal.message,
            remedy=refusal.remedy,
        )
        for refusal in refusals
    )


def _unserved(obj: Raw, ref: Ref) -> tuple[Finding, ...]:
    """A version that no API server has: it refuses the object before admission is asked."""
    version = str(obj["apiVersion"]).rpartition("/")[2]
    served = kinds.unserved(ref.group, ref.kind, version)
    if not served:
        return ()
    right = f"{ref.group}/{served[0]}"
    return (
        Finding.of("IC1122", ref, path="apiVersion", kind=ref.kind, written=version, right=right),
    )


def _config(world: World, settings: Settings) -> dict[str, str]:
    ref = Ref("", "ConfigMap", settings.config_namespace, configuration.NAME)
    obj = world.get(ref)
    if obj is None:
        return dict(SHIPPED)
    data = obj.get("data") or {}
    return {str(key): str(value) for key, value in data.items()}


def _peers(ref: Ref, world: World) -> Iterator[Raw]:
    """The other runtimes: what a runtime must not contradict, and a service may name.

    Of a graph the other graphs: it must not lead through them to itself.
    """
    graph = inferencegraphs.KIND
    kinds_of_peers = (graph,) if (ref.group, ref.kind) == graph else RUNTIMES
    return (obj for kind in kinds_of_peers for obj in world.list(kind) if ref_of(obj) != ref)

"""How requests are to be split, and how they are: what was written beside what is served.

In Standard mode the spec names the canaries, and the routes that exist say who gets what. In
Knative mode each Knative Service has a traffic table, wanted in its spec and served in its
status. What no gateway takes is served by nobody, whatever a route says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ingressctl.api.inferenceservices import KIND as INFERENCE_SERVICE
from ingressctl.api.inferenceservices import InferenceService, ViewFault
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.world import World
from ingressctl.plan import states
from ingressctl.plan.chain import Node
from ingressctl.plan.kindnames import KNATIVE
from ingressctl.plan.listing import Row
from ingressctl.plan.states import State

KNATIVE_SERVICE = (KNATIVE, "Service")
REVISION = (KNATIVE, "Revision")
DEPLOYMENT = ("apps", "Deployment")
WHOLE = 100


@dataclass(frozen=True, slots=True)
class Share:
    """One backend or revision. `wanted` and `served` are percents, None where nothing is said.

    `role` is stable, canary, or "" for an entry of a traffic table.
    """

    name: str
    wanted: float | None
    served: float | None
    state: State
    role: str = ""
    tag: str = ""
    url: str = ""
    note: str = ""

    @property
    def sign(self) -> str:
        """kn's signs: ``%`` ready with traffic, ``+`` without, ``!`` failed, ``?`` unknown."""
        if self.state.status == "False":
            return "!"
        if self.state.status != "True":
            return "?"
        return "%" if self.served else "+"


@dataclass(frozen=True, slots=True)
class Splitting:
    """The shares of one object: those of an InferenceService, or of a Knative Service."""

    of: Ref
    shares: tuple[Share, ...]


def find(node: Node, rows: Iterable[Row], world: World) -> tuple[Splitting, ...]:
    """The splits of an object and of the Knative Services below it."""
    tables = tuple(
        Splitting(item.ref, tuple(_traffic(item.obj, world)))
        for item in node.walk()
        if item.ref[:2] == KNATIVE_SERVICE and item.obj is not None
    )
    if tables or node.obj is None or node.ref[:2] != INFERENCE_SERVICE:
        return tables
    try:
        service = InferenceService(node.obj)
    except ViewFault:
        return ()
    shares = tuple(_reported(service)) or tuple(_standard(service, tuple(rows), world))
    return (Splitting(node.ref, shares),)


def _standard(service: InferenceService, rows: tuple[Row, ...], world: World) -> Iterator[Share]:
    """The predictor and its canaries, by the rule that splits between the most of them."""
    canaries = {service.canary_name(item): item.trafficPercent for item in service.canaries}
    stable = service.object_name("predictor")
    wanted = {stable: WHOLE - sum(canaries.values()), **canaries}
    served = _served(tuple(wanted), rows)
    for name, percent in wanted.items():
        deployment = world.get(Ref(*DEPLOYMENT, service.namespace, name))
        state = states.of(deployment) if deployment is not None else states.SILENT
        role = "stable" if name == stable else "canary"
        yield Share(name, percent, served.get(name), state, role)


def _served(names: tuple[str, ...], rows: tuple[Row, ...]) -> Mapping[str, float]:
    """The percents of the rule that knows most of the names; none where no gateway takes it."""
    rules: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        name = row.backend.partition(":")[0].partition(".")[0]
        if name in names and row.weight is not None and row.ready != "False":
            rule = rules.setdefault((row.source, row.host, row.rule), {})
            rule[name] = rule.get(name, 0) + row.weight * WHOLE
    best = max(rules.values(), key=len, default=None)
    return {} if best is None else {name: best.get(name, 0) for name in names}


def _reported(service: InferenceService) -> Iterator[Share]:
    """What the status tells of the predictor's traffic, where no Knative Service is at hand."""
    component = (service.status.get("components") or {}).get("predictor") or {}
    canary = service.spec.predictor.canaryTrafficPercent
    for entry in component.get("traffic") or ():
        latest = bool(entry.get("latestRevision"))
        wanted = None if canary is None else canary if latest else WHOLE - canary
        yield _entry(entry, wanted, entry.get("percent") or 0, states.SILENT)


def _traffic(obj: Raw, world: World) -> Iterator[Share]:
    """The traffic table of a Knative Service: wanted entries, then those only served."""
    status = obj.get("status") or {}
    served = list(status.get("traffic") or ())
    for entry in (obj.get("spec") or {}).get("traffic") or ({"latestRevision": True},):
        found = next((item for item in served if _same(entry, item)), None)
        if found is not None:
            served.remove(found)
        latest = {"revisionName": status.get("latestCreatedRevisionName")}
        full = {**(latest if entry.get("latestRevision") else {}), **entry, **(found or {})}
        percent = (found or {}).get("percent") or 0
        wanted = entry.get(
            "percent", WHOLE if "percent" not in entry and not entry.get("tag") else 0
        )
        state = _revision(obj, full, world)
        yield _entry(full, wanted, percent if status.get("traffic") else None, state)
    for entry in served:
        yield _entry(entry, 0, entry.get("percent") or 0, _revision(obj, entry, world))


def _same(wanted: Mapping[str, Any], served: Mapping[str, Any]) -> bool:
    if (wanted.get("tag") or "") != (served.get("tag") or ""):
        return False
    if wanted.get("revisionName"):
        return bool(wanted["revisionName"] == served.get("revisionName"))
    return bool(served.get("latestRevision"))


def _revision(obj: Raw, entry: Mapping[str, Any], world: World) -> State:
    name = str(entry.get("revisionName") or "")
    found = world.get(Ref(*REVISION, ref_of(obj).namespace, name))
    return states.of(found) if found is not None else states.SILENT


def _entry(
    entry: Mapping[str, Any], wanted: float | None, served: float | None, state: State
) -> Share:
    revision = str(entry.get("revisionName") or "")
    latest = bool(entry.get("latestRevision"))
    name = f"@latest ({revision or '<pending>'})" if latest else revision
    tag, url = str(entry.get("tag") or ""), str(entry.get("url") or "")
    return Share(name, wanted, served, state, tag=tag, url=url)

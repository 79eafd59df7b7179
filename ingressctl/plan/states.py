"""What an object says of itself: ready, not ready and why, or nothing at all.

One reading of every kind's own habit: conditions of Knative's sort, the parents of HTTPRoutes,
Available and Progressing of Deployments, waiting containers of Pods. A kind without such words
(VirtualService, Ingress, Service) says nothing, which is no reason to blame it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from ingressctl.api.refs import Raw, ref_of
from ingressctl.core.world import Kind
from ingressctl.plan import overlay
from ingressctl.plan.kindnames import INTERNAL, KNATIVE

SUMMARY = ("Ready", "Succeeded")
"""Conditions that speak for all others of an object."""


class State(NamedTuple):
    """`status` is True, False, Unknown, or "" where the object says nothing."""

    status: Literal["True", "False", "Unknown", ""]
    reason: str = ""
    message: str = ""

    @property
    def is_bad(self) -> bool:
        """Whether something stands in the way, for good or for now."""
        return self.status in ("False", "Unknown")

    @property
    def text(self) -> str:
        """Reason and message; "" if there is neither."""
        return ": ".join(part for part in (self.reason, self.message.rstrip()) if part)


SILENT = State("")
READY = State("True")
UNSEEN = State("Unknown", "NoStatus", "no controller has written its status yet")


def of(obj: Raw) -> State:
    """The state of an object of any kind; one that only files hold has none yet."""
    ref = ref_of(obj)
    if not overlay.is_held(obj):
        return SILENT
    if (obj.get("metadata") or {}).get("deletionTimestamp"):
        return State("False", "Terminating", "it is being deleted")
    return _READERS.get((ref.group, ref.kind), _by_summary)(obj)


def conditions(obj: Raw) -> tuple[Mapping[str, Any], ...]:
    """The conditions of an object's status."""
    return tuple((obj.get("status") or {}).get("conditions") or ())


def condition(obj: Raw, kind: str) -> State:
    """One condition by type, in any spelling of case; SILENT where it is absent."""
    found = (item for item in conditions(obj) if str(item.get("type")).lower() == kind.lower())
    return next((read(item) for item in found), SILENT)


def read(item: Mapping[str, Any]) -> State:
    """One entry of a list of conditions."""
    status = str(item.get("status") or "Unknown")
    known: Literal["True", "False", "Unknown"] = "Unknown"
    if status == "True":
        known = "True"
    elif status == "False":
        known = "False"
    return State(known, str(item.get("reason") or ""), str(item.get("message") or ""))


def _outdated(obj: Raw) -> State | None:
    """A status that speaks of an earlier generation says nothing of this one.

    An InferenceService's observedGeneration is that of its Deployment (KServe writes it so).
    """
    if obj.get("kind") == "InferenceService":
        return None
    observed = (obj.get("status") or {}).get("observedGeneration")
    present = (obj.get("metadata") or {}).get("generation")
    if observed is None or present is None or observed == present:
        return None
    text = f"the status speaks of generation {observed}, the object is at {present}"
    return State("Unknown", "StatusOutdated", text)


def _by_summary(obj: Raw) -> State:
    for kind in SUMMARY:
        found = condition(obj, kind)
        if found.status:
            return _outdated(obj) or _worded(found, obj)
    return SILENT


def _worded(summary: State, obj: Raw) -> State:
    """A summary that is bad and says no more speaks by the first bad condition that does."""
    if not summary.is_bad or summary.text:
        return summary
    bad = [
        (str(item.get("type")), read(item))
        for item in conditions(obj)
        if item.get("type") not in SUMMARY and not is_info(item) and item.get("status") != "True"
    ]
    told = next((item for item in bad if item[1].text), next(iter(bad), None))
    if told is None:
        return summary
    name, state = told
    return State(summary.status, name, state.text or f"its status is {state.status}")


def is_info(item: Mapping[str, Any]) -> bool:
    """Whether a condition only informs: one of Knative's sort that is no part of the summary."""
    return item.get("severity") == "Info"


def _reported(obj: Raw) -> State:
    """As by summary; a controller that looked at the object would have left a word."""
    found = _by_summary(obj)
    return found if found.status else UNSEEN


def _deployment(obj: Raw) -> State:
    outdated = _outdated(obj)
    if outdated:
        return outdated
    for kind in ("Progressing", "Available"):
        found = condition(obj, kind)
        if found.status == "False":
            failure = condition(obj, "ReplicaFailure")
            return State("False", *failure[1:]) if failure.status == "True" else found
    return condition(obj, "Available") if conditions(obj) else UNSEEN


def _replica_set(obj: Raw) -> State:
    """One that is scaled to nothing is an old one, and fine; pods say why others wait."""
    wanted = (obj.get("spec") or {}).get("replicas", 1)
    failure = condition(obj, "ReplicaFailure")
    if wanted and failure.status == "True":
        return State("False", *failure[1:])
    ready = (obj.get("status") or {}).get("readyReplicas") or 0
    return READY if ready >= wanted else SILENT


def _pod(obj: Raw) -> State:
    status = obj.get("status") or {}
    if status.get("phase") == "Succeeded":
        return READY
    every = (
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    )
    stuck = next(_stuck(every), None)
    if stuck:
        return stuck
    for kind in ("PodScheduled", "Ready"):
        found = condition(obj, kind)
        if found.status == "False":
            return found
    return condition(obj, "Ready") if conditions(obj) else UNSEEN


_STARTING = ("ContainerCreating", "PodInitializing")


def _stuck(containers: Iterable[Mapping[str, Any]]) -> Iterator[State]:
    """Containers that wait for more than their start, or that ended badly."""
    for item in containers:
        state, last = item.get("state") or {}, item.get("lastState") or {}
        waiting = state.get("waiting") or {}
        ended = state.get("terminated") or {}
        reason = str(waiting.get("reason") or "")
        if reason and reason not in _STARTING:
            before = (last.get("terminated") or {}).get("message") or ""
            said = str(before or waiting.get("message") or "").strip()
            yield State("False", reason, f"container {item.get('name')}: {said or 'waits'}")
        elif ended and ended.get("exitCode"):
            said = str(ended.get("message") or f"ended with {ended['exitCode']}").strip()
            name = item.get("name")
            yield State("False", str(ended.get("reason") or "Error"), f"container {name}: {said}")


def _http_route(obj: Raw) -> State:
    parents = (obj.get("status") or {}).get("parents") or ()
    if not parents:
        return State("Unknown", "NoParentStatus", "no gateway has said that it takes the route")
    generation = (obj.get("metadata") or {}).get("generation")
    found = [item for parent in parents for item in parent.get("conditions") or ()]
    bad = (read(item) for item in found if item.get("status") != "True")
    worst = next(bad, None)
    if worst:
        return worst
    observed = (item.get("observedGeneration") for item in found)
    if any(seen is not None and generation is not None and seen != generation for seen in observed):
        return State("Unknown", "StatusOutdated", "its gateway has not looked at it since")
    return READY


def _gateway(obj: Raw) -> State:
    for kind in ("Accepted", "Programmed"):
        found = condition(obj, kind)
        if found.status in ("False", "Unknown"):
            return found
    return condition(obj, "Programmed") if conditions(obj) else SILENT


_READERS: Mapping[Kind, Callable[[Raw], State]] = {
    ("apps", "Deployment"): _deployment,
    ("apps", "ReplicaSet"): _replica_set,
    ("", "Pod"): _pod,
    ("gateway.networking.k8s.io", "HTTPRoute"): _http_route,
    ("gateway.networking.k8s.io", "GRPCRoute"): _http_route,
    ("gateway.networking.k8s.io", "Gateway"): _gateway,
    ("serving.kserve.io", "InferenceService"): _reported,
    ("serving.kserve.io", "InferenceGraph"): _reported,
    (KNATIVE, "Service"): _reported,
    (KNATIVE, "Configuration"): _reported,
    (KNATIVE, "Revision"): _reported,
    (KNATIVE, "Route"): _reported,
    (INTERNAL, "Ingress"): _reported,
}


def speaks(kind: Kind) -> bool:
    """Whether objects of the kind say at all whether they are ready."""
    return kind in _READERS

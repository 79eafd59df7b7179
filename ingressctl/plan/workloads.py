"""When a stored workload differs from the wanted one, and what is then written.

Workloads carry many defaults of the API server, so their specs are compared as a subset
(core/templates.py); what was taken out of a template is missed by who applied it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.refs import Raw, annotations_of, group_of, is_alias, labels_of
from ingressctl.core import managed, templates
from ingressctl.core.world import Reads

MANAGED = (
    "serving.knative.dev/rollout-duration",
    "serving.knative.openshift.io/enablePassthrough",
)
"""Annotations of a Knative Service that are ours; all others belong to somebody else."""


DEFAULTED = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})
"""Autoscalers: much of their specs is filled in by who serves them."""


DECISIVE = ("serving.kserve.io/stop", "serving.kserve.io/autoscalerClass")
"""Annotations whose change alone rewrites an autoscaler."""


def is_workload(obj: Raw) -> bool:
    """Deployments, Knative Services, Services in front of pods, and what belongs to them."""
    kind = obj.get("kind")
    if kind in DEFAULTED or kind in ("Deployment", "ConfigMap"):
        return True
    return kind == "Service" and not is_alias(obj)


def replacement(stored: Raw, wanted: Raw, reads: Reads) -> Raw | None:
    """The object to write over `stored`, or None when nothing differs."""
    if wanted.get("kind") == "Deployment":
        return _deployment(stored, wanted)
    if wanted.get("kind") == "ConfigMap":
        return _config_map(stored, wanted)
    if wanted.get("kind") in DEFAULTED:
        return _autoscaler(stored, wanted, follow=reads.differs("W27"))
    if group_of(str(wanted.get("apiVersion") or "")):
        return _knative_service(stored, wanted)
    return _service(stored, wanted, follow=reads.differs("W27"))


def _service(stored: Raw, wanted: Raw, *, follow: bool) -> Raw | None:
    """Ports and selector decide; labels and annotations only with W27 (`follow`)."""
    mine, theirs = wanted["spec"], stored.get("spec") or {}
    same = all(mine.get(key) == theirs.get(key) for key in ("ports", "selector"))
    if same and not (follow and templates.metadata_differs(stored, wanted)):
        return None
    return _written(stored, wanted, {**theirs, **mine})


def _autoscaler(stored: Raw, wanted: Raw, *, follow: bool) -> Raw | None:
    """The spec decides, as a subset, and whether the graph is stopped or has another class of
    autoscaler; all other labels and annotations only with W27 (`follow`)."""
    mine, theirs = wanted["spec"], stored.get("spec") or {}
    ours, before = annotations_of(wanted), annotations_of(stored)
    same = (
        all(ours.get(key) == before.get(key) for key in DECISIVE)
        and templates.within(mine, theirs)
        and not managed.owns_more(stored, wanted)
    )
    if same and not (follow and templates.metadata_differs(stored, wanted)):
        return None
    return _written(stored, wanted, mine)


def _config_map(stored: Raw, wanted: Raw) -> Raw | None:
    """The data decides; what somebody else put beside it goes."""
    labelled = labels_of(wanted).items() <= labels_of(stored).items()
    if labelled and stored.get("data") == wanted["data"]:
        return None
    return {**_framed(stored, wanted), "data": wanted["data"]}


def _deployment(stored: Raw, wanted: Raw) -> Raw | None:
    """The whole wanted object; the selector cannot change and the replicas may be an
    autoscaler's."""
    mine, theirs = wanted["spec"], stored.get("spec") or {}
    if (
        templates.within(mine, theirs)
        and templates.same_template(mine, theirs)
        and not managed.owns_more(stored, wanted)
    ):
        return None
    kept = {key: theirs[key] for key in ("selector", "replicas") if key in theirs}
    return _written(stored, wanted, {**kept, **mine})


def _knative_service(stored: Raw, wanted: Raw) -> Raw | None:
    """Labels, traffic and template decide, and the two managed annotations; foreign
    annotations stay (spec/kserve-ingress.md 12)."""
    ours = annotations_of(wanted)
    foreign = {key: text for key, text in annotations_of(stored).items() if key not in MANAGED}
    annotations = {**foreign, **ours}
    mine, theirs = wanted["spec"], stored.get("spec") or {}
    if (
        labels_of(stored) == labels_of(wanted)
        and annotations_of(stored) == annotations
        and _traffic(mine) == _traffic(theirs)
        and templates.within(mine, theirs)
        and templates.same_template(mine, theirs)
        and not managed.owns_more(stored, wanted)
    ):
        return None
    written = _written(stored, wanted, mine)
    return {**written, "metadata": {**written["metadata"], "annotations": annotations}}


def _traffic(spec: Mapping[str, Any]) -> Any:
    """Where nothing is said, all goes to the newest revision that is ready."""
    return spec.get("traffic") or [{"latestRevision": True, "percent": 100}]


def _written(stored: Raw, wanted: Raw, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The wanted object with its spec and what the API server owns of the stored one."""
    return {**_framed(stored, wanted), "spec": dict(spec)}


def _framed(stored: Raw, wanted: Raw) -> dict[str, Any]:
    meta = dict(stored.get("metadata") or {})
    for key in ("labels", "annotations", "ownerReferences"):
        meta.pop(key, None)
    meta.update(wanted.get("metadata") or {})
    return {**stored, **wanted, "metadata": meta}

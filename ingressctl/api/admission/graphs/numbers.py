"""Names, limits and scaling of a whole graph: what its mode could not do (IG-R10, R12, R19)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingressctl.api import dns
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.admission.scaling import CLASS_ANNOTATION, KNATIVE_CLASS_ANNOTATION
from ingressctl.api.inferencegraphs import Spec

APP_PREFIX = "isvc."
"""What stands before the name in the label `app`."""

LONGEST_NAME = dns.LABEL_LIMIT - len(APP_PREFIX)
KPA = "kpa.autoscaling.knative.dev"

_CLASSES = ("hpa", "keda", "none", "external")
_TIMEOUTS = ("serverRead", "serverWrite", "serverIdle", "serviceClient")


def refusals(
    name: str, spec: Spec, annotations: Mapping[str, str], mode: str, *, differs: Differs
) -> Iterator[Refusal]:
    """Faults of the graph as a workload."""
    if differs("IG-R12") and len(name) > LONGEST_NAME:
        yield Refusal(
            f"the name has {len(name)} characters, {LONGEST_NAME} may: with {APP_PREFIX} before "
            "it, it is the value of a label",
            "metadata.name",
            "choose a shorter name",
            "IG-R12",
        )
    if differs("IG-R19"):
        yield from _timeouts(spec)
        yield from _replicas(spec)
    if differs("IG-R10"):
        yield from _metric(spec, annotations, mode)


def _timeouts(spec: Spec) -> Iterator[Refusal]:
    given = {"spec.timeout": spec.timeout}
    if spec.routerTimeouts is not None:
        given |= {
            f"spec.routerTimeouts.{field}": getattr(spec.routerTimeouts, field)
            for field in _TIMEOUTS
        }
    for path, seconds in given.items():
        if seconds is not None and seconds < 0:
            yield Refusal(
                f"{path} must not be negative, it is {seconds}",
                path,
                "write a number of seconds; 0 is no limit",
                "IG-R19",
            )


def _replicas(spec: Spec) -> Iterator[Refusal]:
    least = 1 if spec.minReplicas is None else spec.minReplicas
    most = spec.maxReplicas or 0
    for field, number in (("minReplicas", least), ("maxReplicas", most)):
        if number < 0:
            text = f"spec.{field} must not be negative, it is {number}"
            yield Refusal(text, f"spec.{field}", "write 0 or more", "IG-R19")
    if 0 < most < least:
        yield Refusal(
            f"spec.maxReplicas is {most}, less than minReplicas, which is {least}",
            "spec.maxReplicas",
            f"write {least} or more, or 0 for no limit",
            "IG-R19",
        )
    if spec.scaleTarget is not None and spec.scaleTarget < 1:
        text = f"spec.scaleTarget must be 1 or more, it is {spec.scaleTarget}"
        yield Refusal(text, "spec.scaleTarget", "write 1 or more", "IG-R19")


def _metric(spec: Spec, annotations: Mapping[str, str], mode: str) -> Iterator[Refusal]:
    if mode == "Standard":
        yield from _standard(spec, annotations.get(CLASS_ANNOTATION, "hpa"))
    elif spec.scaleMetric in ("cpu", "memory") and annotations.get(KNATIVE_CLASS_ANNOTATION) == KPA:
        yield Refusal(
            f"the autoscaler {KPA} cannot scale by {spec.scaleMetric}",
            "spec.scaleMetric",
            f"write concurrency or rps, or remove the annotation {KNATIVE_CLASS_ANNOTATION}",
            "IG-R10",
        )


def _standard(spec: Spec, autoscaler: str) -> Iterator[Refusal]:
    if autoscaler not in _CLASSES:
        yield Refusal(
            f"{autoscaler!r} is no class of autoscaler",
            f"metadata.annotations[{CLASS_ANNOTATION}]",
            f"write one of {', '.join(_CLASSES)}",
            "IG-R10",
        )
    if autoscaler not in ("hpa", "keda"):
        return
    if spec.scaleMetric in ("concurrency", "rps"):
        yield Refusal(
            f"nothing can scale by {spec.scaleMetric} in Standard mode",
            "spec.scaleMetric",
            "write cpu or memory, or choose Knative mode",
            "IG-R10",
        )
    if spec.scaleMetric == "memory" and spec.scaleTarget is None:
        yield Refusal(
            "scaling by memory needs a target",
            "spec.scaleTarget",
            "write the percentage of the requested memory",
            "IG-R10",
        )

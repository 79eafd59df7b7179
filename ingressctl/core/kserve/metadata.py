"""Labels and annotations of routes: which of the service's are handed on.

The table of spec/kserve-ingress.md 1.5. `extra_labels` are those that follow from the
chosen serving runtime (spec/kserve-observed.md 1); they overwrite the user's. An API server
refuses an Ingress with both a class and the annotation that came before classes, so the
annotation is left out where the configuration names a class (F56).
"""

from __future__ import annotations

from collections.abc import Mapping

from ingressctl.api.refs import INGRESS_CLASS_ANNOTATION
from ingressctl.core.kserve import configuration
from ingressctl.core.kserve.configuration import Config
from ingressctl.core.kserve.served import Served
from ingressctl.core.model import Pairs
from ingressctl.core.world import Reads


def route_metadata(
    service: Served,
    config: Config,
    extra_labels: Mapping[str, str],
    provider: str,
    reads: Reads,
) -> tuple[Pairs, Pairs]:
    """Labels and annotations for the objects of one provider, sorted."""
    labels = {**service.labels, **extra_labels}
    annotations = filtered(service.annotations, config.disallowed_annotations)
    if provider == "ingress":
        labels = {}
        if not reads.differs("Q5"):
            annotations = filtered(service.annotations, frozenset())
        elif configuration.ingress(reads).ingressClassName:
            annotations.pop(INGRESS_CLASS_ANNOTATION, None)
    elif provider != "istio":
        labels = filtered(labels, config.disallowed_labels)
    return tuple(sorted(labels.items())), tuple(sorted(annotations.items()))


OURS = "ingressctl.dev/"
"""What is said to ingressctl stays where it is said: in a pod template it would roll the pods."""


def filtered(values: Mapping[str, str], disallowed: frozenset[str]) -> dict[str, str]:
    """The values whose key is not disallowed."""
    return {
        key: value
        for key, value in values.items()
        if key not in disallowed and not key.startswith(OURS)
    }

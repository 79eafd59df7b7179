"""Whether a service is cluster-local (spec/kserve-ingress.md 7.2, 17)."""

from __future__ import annotations

from collections.abc import Mapping

from ingressctl.api.configmaps import IngressConfig
from ingressctl.api.inferenceservices import (
    CLUSTER_LOCAL,
    KNATIVE_VISIBILITY,
    KSERVE_VISIBILITY,
)
from ingressctl.api.refs import Raw
from ingressctl.core.kserve.served import Served
from ingressctl.core.outcome import Keep
from ingressctl.core.world import Reads


def labelled_local(service: Served, mode: str, reads: Reads) -> bool:
    """The visibility label of the mode; of either mode with difference Q46."""
    if reads.differs("Q46"):
        return labelled_either(service.labels)
    own = KSERVE_VISIBILITY if mode == "Standard" else KNATIVE_VISIBILITY
    return service.labels.get(own) == CLUSTER_LOCAL


def labelled_either(labels: Mapping[str, str]) -> bool:
    """Whether the label of some mode asks for it."""
    return any(labels.get(key) == CLUSTER_LOCAL for key in (KNATIVE_VISIBILITY, KSERVE_VISIBILITY))


def asks_to_be_private(obj: Raw) -> bool:
    """The same of an object of which nothing else may be readable."""
    metadata = obj.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return isinstance(labels, Mapping) and labelled_either(labels)


def stays(obj: Raw, *, hides: bool) -> Keep:
    """What there is stays after a failure, but, where a difference `hides`, for what shows an
    owner outside that asked to be private. The mode may be what cannot be known: then the label
    of either counts."""
    return Keep(everything=True, hidden=hides and asks_to_be_private(obj))


def standard_local(service: Served, ingress: IngressConfig, reads: Reads) -> bool:
    """Standard mode: by label, or because the ingress domain is the cluster's own."""
    private = f"svc.{reads.settings.cluster_domain}" if reads.differs("Q48") else ""
    return labelled_local(service, "Standard", reads) or ingress.ingressDomain in (
        "svc.cluster.local",
        private,
    )

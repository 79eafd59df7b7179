"""Knative's initial-scale annotation, kept only where Knative allows it.

spec/kserve-ingress.md 1.1 and 3, step 6. KServe demands that config-autoscaler exists; with
IG-R18 the default (zero is not allowed) holds without it.
"""

from __future__ import annotations

import re

from ingressctl.api import configmaps
from ingressctl.api.refs import Ref
from ingressctl.core.kserve.served import Served
from ingressctl.core.world import Reads

ANNOTATION = "autoscaling.knative.dev/initial-scale"
NAME = "config-autoscaler"
KEY = "allow-zero-initial-scale"
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_INTEGER = re.compile(r"[+-]?\d+")


def holds(served: Served, reads: Reads) -> bool:
    """Whether the annotation, if there is one, is taken. Raises configmaps.ConfigFault."""
    zero_allowed = _zero_allowed(served, reads)
    text = served.annotations.get(ANNOTATION)
    return text is None or bool(_INTEGER.fullmatch(text) and (int(text) != 0 or zero_allowed))


def _zero_allowed(served: Served, reads: Reads) -> bool:
    namespace = reads.settings.knative_namespace
    obj = reads.get(Ref("", "ConfigMap", namespace, NAME))
    needed = not (reads.differs("IG-R18") or reads.assumes_ready(served.ref))
    if obj is None and needed:
        raise configmaps.ConfigFault(f'configmaps "{NAME}" not found in namespace {namespace}')
    return str(((obj or {}).get("data") or {}).get(KEY)) in _TRUE

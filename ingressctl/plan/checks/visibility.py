"""Somebody asked for a private object and got a public one (F23, F1).

Three label keys over time, each read in one place only; other values than cluster-local
are ignored by all of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ingressctl.api.inferenceservices import (
    CLUSTER_LOCAL,
    KNATIVE_VISIBILITY,
    KSERVE_VISIBILITY,
)
from ingressctl.api.refs import Raw, Ref, annotations_of, labels_of
from ingressctl.core.outcome import Finding
from ingressctl.plan import internal
from ingressctl.plan.checks.picture import KNATIVE_SERVICE, Picture

KEYS = (KNATIVE_VISIBILITY, KSERVE_VISIBILITY)


def find(picture: Picture) -> Iterator[Finding]:
    """Visibility labels that are not read, and domains that make everything internal."""
    for service in picture.services:
        if not picture.mode(service):
            continue
        standard = picture.mode(service) == "Standard"
        right = KSERVE_VISIBILITY if standard else KNATIVE_VISIBILITY
        yield from _labels(service.ref, service.raw, right, both=picture.reads.differs("Q46"))
        found = None if standard else internal.by_domain(service, picture.reads)
        if found is not None:
            yield found
    for ref, obj in picture.objects(KNATIVE_SERVICE):
        if ref not in picture.made:
            yield from _labels(ref, obj, KNATIVE_VISIBILITY, both=False)


def _labels(ref: Ref, obj: Raw, right: str, *, both: bool) -> Iterator[Finding]:
    labels = labels_of(obj)
    if labels.get(right) == CLUSTER_LOCAL:
        return
    other = next((key for key in KEYS if key != right), "")
    if labels.get(other) == CLUSTER_LOCAL:
        code = "IC1112" if both else "IC1111"
        yield Finding.of(code, ref, path=_path(other), written=other, right=right)
        return
    for key, value in _suspects(labels):
        yield Finding.of("IC1110", ref, path=_path(key), key=key, value=value, right=right)
    if annotations_of(obj).get(right) == CLUSTER_LOCAL:
        yield Finding.of(
            "IC1110",
            ref,
            path=f'metadata.annotations["{right}"]',
            key=f"{right} among the annotations",
            value=CLUSTER_LOCAL,
            right=right,
        )


def _path(key: str) -> str:
    return f'metadata.labels["{key}"]'


def _suspects(labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Labels that look like a wish to be private and are read by nobody."""
    for key, value in labels.items():
        known = key in KEYS
        wish = _close(value, CLUSTER_LOCAL)
        if (known and value != CLUSTER_LOCAL and wish) or (
            not known and wish and _close(key.rpartition("/")[2], "visibility")
        ):
            yield key, value


@lru_cache(maxsize=4096)
def _close(text: str, wanted: str) -> bool:
    if abs(len(text) - len(wanted)) > 3:
        return False
    return difflib.SequenceMatcher(None, text.lower(), wanted).ratio() > 0.8

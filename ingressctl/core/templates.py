"""Whether a stored pod template says what a wanted one says.

An API server fills many fields in, so the wanted one is compared as a subset
(spec/kserve-ingress.md 18 does a dry run instead). A field that was taken out of the wanted
template is not missed here: core/managed.py tells it by who applied the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.refs import Raw, annotations_of, labels_of


def metadata_differs(stored: Raw, wanted: Raw) -> bool:
    """Whether labels or annotations are not the same."""
    return labels_of(stored) != labels_of(wanted) or annotations_of(stored) != annotations_of(
        wanted
    )


def same_template(wanted: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Whether two specs have templates with the same metadata, and the wanted pod."""
    ours, theirs = wanted.get("template") or {}, stored.get("template") or {}
    return not metadata_differs(theirs, ours) and within(ours, theirs)


def within(wanted: Any, stored: Any) -> bool:
    """Whether `stored` says all that `wanted` says. Defaults add keys, never entries."""
    if isinstance(wanted, _MAPPINGS):
        fields = stored if isinstance(stored, _MAPPINGS) else {}
        for key, value in wanted.items():
            held = fields.get(key)
            if held != value and not within(value, held):
                return False
        return True
    if isinstance(wanted, list | tuple):
        entries = stored if isinstance(stored, list | tuple) else ()
        return len(wanted) == len(entries) and all(map(within, wanted, entries))
    return bool(wanted == stored) or (wanted in (None, "") and stored in (None, ""))


_MAPPINGS = (dict, Mapping)
"""dict first: whether something is a Mapping takes long to ask, and all of them are asked."""

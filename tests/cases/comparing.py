"""Comparing what came out with what a case expects (cases/kserve-ingress/INDEX.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from ingressctl.api.refs import Raw, Ref, ref_of

MISSING = object()


def documents(text: str | None) -> list[dict[str, Any]]:
    """The manifests of a text, Lists unfolded."""
    found: list[dict[str, Any]] = []
    for document in yaml.load_all(text or "", yaml.CSafeLoader):
        if document and document.get("kind", "").endswith("List") and "items" in document:
            found.extend(document["items"])
        elif document:
            found.append(document)
    return found


def compare_objects(actual: Iterable[Raw], expected: Iterable[Raw]) -> list[str]:
    """Spec, labels and annotations as a whole, of exactly the expected objects."""
    have = {ref_of(obj): obj for obj in actual}
    want = {ref_of(obj): obj for obj in expected}
    faults = [f"{ref}: not expected" for ref in sorted(set(have) - set(want))]
    faults += [f"{ref}: missing" for ref in sorted(set(want) - set(have))]
    for ref in sorted(set(have) & set(want)):
        faults += [f"{ref}: {fault}" for fault in compare_object(have[ref], want[ref])]
    return faults


def compare_object(actual: Raw, expected: Raw) -> list[str]:
    faults: list[str] = []
    for key in ("labels", "annotations"):
        mine = (actual.get("metadata") or {}).get(key) or {}
        theirs = (expected.get("metadata") or {}).get(key) or {}
        faults += differences(mine, theirs, f"metadata.{key}")
    faults += differences(actual.get("spec"), expected.get("spec"), "spec")
    return faults


def differences(actual: Any, expected: Any, path: str) -> list[str]:
    """Every place where two values differ, by path."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        faults: list[str] = []
        for key in sorted({*actual, *expected}, key=str):
            faults += differences(
                actual.get(key, MISSING), expected.get(key, MISSING), f"{path}.{key}"
            )
        return faults
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        return [
            fault
            for place, (mine, theirs) in enumerate(zip(actual, expected, strict=True))
            for fault in differences(mine, theirs, f"{path}[{place}]")
        ]
    if actual == expected:
        return []
    return [f"{path}: is {_show(actual)}, wanted {_show(expected)}"]


def _show(value: Any) -> str:
    return "absent" if value is MISSING else repr(value)


def subset(actual: Any, expected: Any, path: str) -> list[str]:
    """`expected` must be in `actual`; null means absent or empty; conditions by type."""
    if expected is None:
        empty = actual in (MISSING, None, "", {}, [])
        return [] if empty else [f"{path}: is {_show(actual)}, wanted absent"]
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping):
            return [f"{path}: is {_show(actual)}, wanted {_show(expected)}"]
        return [
            fault
            for key, value in expected.items()
            for fault in subset(actual.get(key, MISSING), value, f"{path}.{key}")
        ]
    if path.endswith("conditions") and isinstance(expected, list):
        return _conditions(actual, expected, path)
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return [f"{path}: is {_show(actual)}, wanted {_show(expected)}"]
        return [
            fault
            for place, (mine, theirs) in enumerate(zip(actual, expected, strict=True))
            for fault in subset(mine, theirs, f"{path}[{place}]")
        ]
    return [] if actual == expected else [f"{path}: is {_show(actual)}, wanted {_show(expected)}"]


def _conditions(actual: Any, expected: list[Mapping[str, Any]], path: str) -> list[str]:
    by_type = {item["type"]: item for item in (actual if isinstance(actual, list) else [])}
    faults: list[str] = []
    for condition in expected:
        kind = condition["type"]
        found = by_type.get(kind, MISSING)
        where = f"{path}[{kind}]"
        if condition.get("status", MISSING) is None:
            faults += [] if found is MISSING else [f"{where}: must not exist"]
        else:
            faults += subset(found, condition, where)
    return faults


def kind_of(ref: Ref) -> tuple[str, str]:
    return (ref.group, ref.kind)

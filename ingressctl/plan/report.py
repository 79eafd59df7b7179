"""Which findings are told: suppressed ones left out, those of a change set apart.

`--ignore CODE[=KIND/NS/NAME]` and the annotation ``ingressctl.dev/ignore`` leave findings out.
A suppression that matches nothing is a finding itself, so that none outlives its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ingressctl.api.refs import Ref, annotations_of, ref_of
from ingressctl.core import findings as table
from ingressctl.core.outcome import Fault, Finding, Level, Origin
from ingressctl.core.world import World
from ingressctl.plan.cascade import Step

ANNOTATION = "ingressctl.dev/ignore"
LEVELS: tuple[Level, ...] = ("info", "warning", "error")


UNDERIVED = frozenset({"IC4101"})
"""Codes that mean: an owner has no objects, for the provider could not make them."""


class IgnoreFault(ValueError):
    """The text of an --ignore names no code. Its message is for people."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """A suppression: a code, and the object it is for ("" for every one)."""

    code: str
    target: str
    written: str
    ref: Ref | None = None
    """The object whose annotation it is."""

    def matches(self, finding: Finding) -> bool:
        """Whether the finding is left out."""
        if finding.code != self.code:
            return False
        if self.ref is not None:
            return self.ref in finding.refs
        return not self.target or any(_slashed(ref) == self.target for ref in finding.refs)


def _slashed(ref: Ref) -> str:
    return "/".join(part for part in (ref.kind, ref.namespace, ref.name) if part).lower()


def parse_ignore(text: str) -> Ignore:
    """``IC3004`` or ``IC3004=Kind/namespace/name``. Raises IgnoreFault."""
    code, _, target = text.partition("=")
    if code not in table.TABLE:
        raise IgnoreFault(f"{code!r} is not the code of a finding")
    return Ignore(code, target.lower(), f"--ignore {text}")


def of_annotations(world: World) -> Iterator[Ignore]:
    """The suppressions that objects carry, codes separated by commas."""
    for obj in world:
        text = annotations_of(obj).get(ANNOTATION)
        for code in (text or "").replace(",", " ").split():
            ref = ref_of(obj)
            yield Ignore(code, "", f"annotation {ANNOTATION}: {code} of {ref}", ref)


def suppressed(
    found: Iterable[Finding], ignores: Iterable[Ignore], *, tell_idle: bool
) -> tuple[Finding, ...]:
    """The findings that are told; with `tell_idle` also suppressions that match nothing."""
    by_code: dict[str, list[Ignore]] = {}
    for ignore in ignores:
        by_code.setdefault(ignore.code, []).append(ignore)
    used: set[Ignore] = set()
    kept: list[Finding] = []
    for finding in found:
        hits = [item for item in by_code.get(finding.code, ()) if item.matches(finding)]
        used.update(hits)
        if not hits:
            kept.append(finding)
    if tell_idle:
        everyone = (item for items in by_code.values() for item in items)
        kept.extend(_idle(item) for item in everyone if item not in used)
    return tuple(kept)


def _idle(ignore: Ignore) -> Finding:
    refs = (ignore.ref,) if ignore.ref else ()
    return Finding.of("IC1501", *refs, written=ignore.written)


def located(found: Iterable[Finding], origins: Mapping[Ref, Origin]) -> tuple[Finding, ...]:
    """The findings with the file and line of the first object that has one."""
    return tuple(_located(finding, origins) for finding in found)


def _located(finding: Finding, origins: Mapping[Ref, Origin]) -> Finding:
    if finding.origin is not None:
        return finding
    origin = next((origins[ref] for ref in finding.refs if ref in origins), None)
    return replace(finding, origin=origin) if origin else finding


@dataclass(frozen=True, slots=True)
class Grouped:
    """One thing to say, and the other objects of which the same is to be said."""

    finding: Finding
    others: tuple[Ref, ...]


def grouped(found: Iterable[Finding]) -> tuple[Grouped, ...]:
    """Findings that say the same of many objects as one; that of a ConfigMap speaks for all.

    A template that cannot be read is one fault, however many services it is for.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.code, table.message(finding)), []).append(finding)
    return tuple(_grouped(group) for group in groups.values())


def _grouped(group: list[Finding]) -> Grouped:
    first = next((item for item in group if _about_config_map(item)), group[0])
    others = (ref for item in group if item is not first for ref in item.refs[:1])
    return Grouped(first, tuple(dict.fromkeys(others)))


def _about_config_map(finding: Finding) -> bool:
    return any(ref.kind == "ConfigMap" for ref in finding.refs)


def at_or_above(found: Iterable[Finding], level: Level) -> bool:
    """Whether a finding is as grave as `level`."""
    bar = LEVELS.index(level)
    return any(LEVELS.index(table.level(finding)) >= bar for finding in found)


def is_underived(found: Iterable[Finding]) -> bool:
    """Whether something could not be derived, suppressed or not."""
    return any(finding.code in UNDERIVED for finding in found)


def underived(step: Step) -> tuple[Finding, ...]:
    """Why a reconcile did not come to its end, or a provider made nothing of it."""
    return tuple(
        finding
        for finding in step.findings
        if finding.code in UNDERIVED or (step.faults and table.level(finding) == "error")
    )


def is_told(ref: Ref, fault: Fault, found: Iterable[Finding]) -> bool:
    """Whether an error says already why a reconcile did not come to its end."""
    for finding in found:
        if table.level(finding) != "error":
            continue
        text, own = table.message(finding), finding.refs[:1] == (ref,)
        if own and (fault.message in (text, f"{ref}: {text}") or text in fault.message):
            return True
        if fault.where == "config" and text == fault.message:
            return True
    return False


def count(found: Iterable[Finding], level: Level) -> int:
    """How many things of exactly that level are to be said."""
    return sum(table.level(group.finding) == level for group in grouped(found))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Findings of a change: those it brings, those it takes away, those that stay."""

    introduced: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    unchanged: tuple[Finding, ...]


def compare(before: Iterable[Finding], after: Iterable[Finding]) -> Comparison:
    """Findings are the same if they say the same of the same objects, wherever written."""
    old = {replace(finding, origin=None): finding for finding in before}
    new = {replace(finding, origin=None): finding for finding in after}
    return Comparison(
        tuple(finding for key, finding in new.items() if key not in old),
        tuple(finding for key, finding in old.items() if key not in new),
        tuple(finding for key, finding in new.items() if key in old),
    )

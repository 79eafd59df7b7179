"""A preview as text: unified, by field, in short, or for a pull request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ingressctl.cli.output import Paint, finding_lines, plural
from ingressctl.core import differences
from ingressctl.core.outcome import Finding
from ingressctl.plan import diff, report, writing
from ingressctl.plan.diff import Change, FieldChange
from ingressctl.plan.preview import Preview, Section

COLOURS: Mapping[str, str] = {"+": "green", "-": "red", "~": "yellow", "@": "cyan"}
Body = Callable[[Change, str], Iterable[str]]
"""The lines below a change, each behind a margin."""


def as_diff(seen: Preview, paint: Paint) -> Iterator[str]:
    """Unified lines below each object."""
    return _sections(seen, _unified, paint)


def as_human(seen: Preview, paint: Paint) -> Iterator[str]:
    """Fields by path below each object."""
    return _sections(seen, _fields, paint)


def as_summary(seen: Preview, paint: Paint) -> Iterator[str]:
    """A line an object."""
    return _sections(seen, lambda *_: (), paint)


def as_github(seen: Preview, found: tuple[Finding, ...]) -> Iterator[str]:
    """Markdown for a comment: what happens, why, and the diffs folded away."""
    yield f"### ingressctl preview: {closing(seen, found)}"
    yield ""
    for finding in found:
        yield f"- {' '.join(finding_lines(finding, Paint(False)))}"
    for line in difference_lines(seen):
        yield f"- {line}"
    for section in seen.sections:
        yield from _folded(section)


def _folded(section: Section) -> Iterator[str]:
    """A section behind its title, with diff marks in the first column for the colouring."""
    title = _title(section.own, Paint(False)) if section.own else str(section.ref)
    yield f"<details><summary>{_escaped(title)}</summary>"
    yield ""
    yield "```diff"
    for change in section.changes():
        if change is not section.own:
            yield f"# {_title(change, Paint(False))}"
        if change is not section.own or change.action != "created":
            yield from diff.unified(change)
    yield from ("```", "", "</details>", "")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def closing(seen: Preview, found: tuple[Finding, ...]) -> str:
    """``3 to create, 1 to change, 0 to remove; 2 warnings``"""
    numbers = (
        f"{seen.count('created')} to create, {seen.count('changed')} to change, "
        f"{seen.count('removed')} to remove"
    )
    errors, warnings = report.count(found, "error"), report.count(found, "warning")
    graver = f"{plural(errors, 'error')}, " if errors else ""
    return f"{numbers}; {graver}{plural(warnings, 'warning')}"


def difference_lines(seen: Preview) -> Iterator[str]:
    """A line for each difference that causes changes, with their number."""
    rows = {row.id: row for row in differences.TABLE}
    for identity, number in seen.by_difference().items():
        yield f"{identity}: {plural(number, 'change')}. {rows[identity].better}"


def usage(seen: Preview) -> Iterator[str]:
    """A request that works for each written service, where anything changes."""
    if seen.usage and any(True for _ in seen.changes()):
        yield "requests that work:"
        yield from (f"  {line}" for line in seen.usage)


def _sections(seen: Preview, body: Body, paint: Paint) -> Iterator[str]:
    for section in seen.sections:
        yield from _section(section, body, paint, "")
    causes = list(difference_lines(seen))
    if causes:
        yield "differences from KServe (switch one off with --compat better,-ID):"
        yield from (f"  {line}" for line in causes)


def _section(section: Section, body: Body, paint: Paint, indent: str) -> Iterator[str]:
    origin = f" ({section.origin})" if section.origin else ""
    if section.own is None:
        yield f"{indent}{paint('bold', f'{section.ref}{origin}')}"
    else:
        yield f"{indent}{_title(section.own, paint, origin)}"
        if section.own.action != "created":
            yield from _body(section.own, body, paint, f"{indent}    ")
    for change in section.made:
        yield f"{indent}  {_title(change, paint)}"
        yield from _body(change, body, paint, f"{indent}      ")
    for moved in section.moved:
        yield from _section(moved, body, paint, f"{indent}  ")


def _title(change: Change, paint: Paint, origin: str = "") -> str:
    mark = diff.MARKS[change.action]
    causes = f"  [{', '.join(change.differences)}]" if change.differences else ""
    return paint(COLOURS[mark], f"{mark} {change.action} {change.ref}{origin}{causes}")


def _body(change: Change, body: Body, paint: Paint, indent: str) -> Iterable[str]:
    if not paint.on:
        return body(change, indent)
    return [f"{indent}{_painted(line, paint)}" for line in body(change, "")]


def _painted(line: str, paint: Paint) -> str:
    colour = COLOURS.get(line.lstrip()[:1])
    return paint(colour, line) if colour else line


def _unified(change: Change, margin: str) -> list[str]:
    return diff.unified(change, margin=margin)


def _fields(change: Change, margin: str) -> Iterator[str]:
    """By field; of an object that comes or goes the name says enough."""
    if change.action != "changed":
        return
    for field in diff.fields(change.before, change.after):
        yield from (f"{margin}{line}" for line in _field(field))


def _field(field: FieldChange) -> Iterator[str]:
    if diff.is_short(field):
        yield f"~ {field.path}: {_short(field.old)} -> {_short(field.new)}"
        return
    mark = "+" if field.old is diff.absent else "-" if field.new is diff.absent else "~"
    yield f"{mark} {field.path}"
    for sign, value in (("-", field.old), ("+", field.new)):
        if value is not diff.absent and not field.path.endswith(f"[{value}]"):
            for line in writing.lines(value, ordered=True):
                yield f"    {sign} {line.text}"


def _short(value: Any) -> str:
    return writing.dump(value).strip()

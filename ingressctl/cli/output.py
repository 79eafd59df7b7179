"""What commands print: data on stdout, talk on stderr, colour only where it is wanted."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

import orjson

from ingressctl.cli.options import Talk
from ingressctl.cli.problems import Problem
from ingressctl.core import findings as table
from ingressctl.core.outcome import Finding, Level
from ingressctl.plan import report, writing
from ingressctl.plan.manifests import Note

SHOWN = 3
"""Objects that are named of those of which the same is to be said."""

_CODES: Mapping[str, str] = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1"}
_LEVELS: Mapping[str, str] = {"error": "red", "warning": "yellow", "info": "cyan"}


_CONTROL = re.compile(
    r"\x1b(?!\[\d{0,2}m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
"""What moves a terminal's cursor, writes its title or turns text around; colours may stay."""


_CONTROL_BYTES = bytes([*range(9), *range(11, 32), 127])


def safe(text: str) -> str:
    """Text for people: what inputs hold cannot give a terminal orders."""
    if text.isascii():  # most text is, and bytes are looked through in a tenth of the time
        data = text.encode()
        if len(data.translate(None, _CONTROL_BYTES)) == len(data):
            return text
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def coloured(choice: str, stream: TextIO) -> bool:
    """Whether a stream gets colour: the flag, then the environment, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


@dataclass(frozen=True, slots=True)
class Paint:
    """Puts colour on text, or leaves it."""

    on: bool

    def __call__(self, colour: str, text: str) -> str:
        """The text in a colour."""
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.on and text else text


class Printer:
    """The two streams of one command."""

    def __init__(self, talk: Talk) -> None:
        self.quiet = talk.quiet
        self.debug = talk.debug
        self.paint = Paint(coloured(talk.color, sys.stdout))
        self.loud = Paint(coloured(talk.color, sys.stderr))

    def data(self, lines: Iterable[str]) -> None:
        """Lines of data."""
        text = safe("\n".join(lines))
        if text:
            sys.stdout.write(f"{text}\n")

    def text(self, text: str) -> None:
        """Data that has its line ends."""
        sys.stdout.write(text)

    def json(self, value: Any) -> None:
        """One document of JSON, its keys in their order."""
        sys.stdout.write(f"{_json_text(value)}\n")

    def objects(self, objects: list[Mapping[str, Any]], form: str) -> None:
        """One complete document: the object, or a List of several."""
        value = objects[0] if len(objects) == 1 else as_list(objects)
        if form == "json":
            self.json(value)
        else:
            self.text(writing.dump(value))

    def say(self, text: str) -> None:
        """Talk that -q mutes."""
        if not self.quiet:
            sys.stderr.write(f"{safe(text)}\n")

    def warn(self, text: str) -> None:
        """What nobody may miss; never muted."""
        sys.stderr.write(f"{safe(text)}\n")

    def notices(self, notes: Iterable[Note]) -> None:
        """Notices about inputs."""
        for note in notes:
            remedy = f" ({note.remedy})" if note.remedy else ""
            self.say(f"{self.loud('cyan', 'notice:')} {note}{remedy}")

    def problem(self, problem: Problem) -> None:
        """An error; never muted."""
        where = f"{problem.where}: " if problem.where else ""
        sys.stderr.write(safe(f"{self.loud('red', 'error:')} {where}{problem.cause}\n"))
        if problem.remedy:
            sys.stderr.write(safe(f"  help: {problem.remedy}\n"))

    def findings(self, found: Iterable[Finding], *, bar: Level) -> None:
        """Findings as talk; when quiet only warnings, errors and what is as grave as `bar`."""
        loud = (
            item
            for item in found
            if not self.quiet or table.is_loud(item) or report.at_or_above((item,), bar)
        )
        sys.stderr.writelines(f"{safe(line)}\n" for line in findings_lines(loud, self.loud))


def _json_text(value: Any) -> str:
    """JSON with indents; numbers and keys that are not JSON's own take the slower way."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        return json.dumps(value, indent=2, ensure_ascii=False)


def plural(number: int, noun: str) -> str:
    """``1 change``, ``2 changes``"""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def finding_json(finding: Finding) -> dict[str, Any]:
    """A finding for machines; keys as in istioctl's messages where they mean the same."""
    return {
        "code": finding.code,
        "level": table.level(finding),
        "objects": [
            {"group": ref.group, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
            for ref in finding.refs
        ],
        "origin": str(finding.origin) if finding.origin else "",
        "path": finding.path,
        "message": table.message(finding),
        "help": table.remedy(finding),
        "difference": finding.difference,
    }


def as_list(objects: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Objects in a `List`, as kubectl prints several."""
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


def findings_lines(found: Iterable[Finding], paint: Paint) -> Iterator[str]:
    """Each thing once, with the other objects that it is about."""
    for group in report.grouped(found):
        yield from finding_lines(group.finding, paint)
        if group.others:
            named = ", ".join(map(str, group.others[:SHOWN]))
            rest = len(group.others) - SHOWN
            yield f"  also: {named}{f' and {rest} more' if rest > 0 else ''}"


def finding_lines(finding: Finding, paint: Paint) -> Iterable[str]:
    """``LEVEL [CODE] (Kind ns/name file:line) text``, then ``help:`` (ux.md 8.4)."""
    level = table.level(finding)
    where = " ".join(map(str, (*finding.refs[:1], *([finding.origin] if finding.origin else ()))))
    place = f" ({where})" if where else ""
    text = table.message(finding)
    if finding.path and finding.path not in text:
        text = f"{finding.path}: {text}"
    cause = f" [{finding.difference}]" if finding.difference else ""
    yield f"{paint(_LEVELS[level], level)} [{finding.code}]{place} {text}{cause}"
    remedy = table.remedy(finding)
    if remedy:
        yield f"  help: {remedy}"

r"""Regular expressions of proxies (RE2) evaluated by Python's `re`.

Envoy matches whole strings with RE2, which has no look-around and no back references and
never backtracks. A pattern is translated where the two spell differently (``\z``, ``\Q``,
POSIX classes, flags in the middle) and refused where RE2 refuses it. Repetition of a
repetition such as ``(a+)+`` takes Python for ever and is refused as well. Unicode classes
(``\pL``) are not evaluated.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from functools import lru_cache

MAX_REPEAT = 1000
MAX_LENGTH = 10_000
MANY = 10**9
"""Ways that are not told apart any more."""

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_QUANTIFIER = re.compile(r"[*+?]|\{(?P<low>\d+)(?P<comma>,(?P<high>\d*))?\}")
_FLAGS = re.compile(r"\(\?(?P<on>[ims]*)(?:-(?P<off>[ims]+))?(?P<end>[:)])")
_NAMED = re.compile(r"\(\?P?<(?P<name>\w+)>")
_HEXADECIMAL = re.compile(r"\\x\{(?P<digits>[0-9A-Fa-f]{1,6})\}")


class PatternFault(ValueError):
    """A pattern that the proxy refuses, or that is not evaluated here. One sentence."""


@lru_cache(maxsize=8192)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern for Python; use `fullmatch` with it. Raises PatternFault."""
    if len(pattern) > MAX_LENGTH:
        raise PatternFault(f"a pattern of {len(pattern)} characters is not evaluated")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(_Translator(pattern).run(), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternFault(f"{pattern!r} is no regular expression: {error}") from None


@lru_cache(maxsize=8192)
def ways(pattern: str, length: int) -> int:
    """In how many ways Python may try a text of that length, at most; no more than MANY.

    What has one way is tried once. Loops within loops have as many as there are ways to cut
    the text, which is beyond counting. Raises PatternFault.
    """
    compiled(pattern)
    translator = _Translator(pattern, length)
    translator.run()
    return translator.groups[0].all_ways()


@lru_cache(maxsize=8192)
def fault(pattern: str) -> str:
    """Why the pattern cannot be used; "" if it can."""
    try:
        compiled(pattern)
    except PatternFault as error:
        return str(error)
    return ""


def full_match(pattern: str, text: str) -> bool:
    """Whether the pattern takes the whole text, as Envoy asks. Raises PatternFault."""
    return compiled(pattern).fullmatch(text) is not None


def replace_all(pattern: str, replacement: str, text: str) -> str:
    r"""Every match replaced, groups as ``\1``, as Envoy's regex rewrite does.

    Raises PatternFault.
    """
    template = re.sub(r"\\0", r"\\g<0>", replacement)
    try:
        return compiled(pattern).sub(template, text)
    except (re.error, IndexError) as error:
        raise PatternFault(f"{replacement!r} does not fit {pattern!r}: {error}") from None


@dataclass(slots=True)
class _Group:
    """One open group: flags set within it, and whether its present branch only repeats.

    `ways` are those of the present branch, `others` those of the branches before.
    """

    wrappers: list[str] = field(default_factory=list)
    loops: int = 0
    solid: int = 0
    repeats: bool = False
    ways: int = 1
    others: int = 0

    def all_ways(self) -> int:
        return min(self.ways + self.others, MANY)

    def end_branch(self) -> None:
        self.repeats = self.repeats or (self.loops > 0 and self.solid == 0)
        self.loops = self.solid = 0
        self.others, self.ways = self.all_ways(), 1


class _Translator:
    """One walk over a pattern; a class because position, output and groups move together."""

    def __init__(self, pattern: str, length: int = MAX_LENGTH) -> None:
        self.pattern = pattern
        self.length = length
        self.place = 0
        self.out: list[str] = []
        self.groups = [_Group()]

    def run(self) -> str:
        while self.place < len(self.pattern):
            self._token()
        self._close_wrappers()
        return "".join(self.out)

    def _token(self) -> None:
        char = self.pattern[self.place]
        if char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char == "|":
            self._alternative()
        elif char == "[":
            self._atom(self._class())
        elif char == "\\":
            self._escape()
        elif char == "$":
            self._take(1, r"\Z")
        elif char == "^":
            self._take(1, "^")
        else:
            self._atom(self._literal(char))

    def _take(self, length: int, text: str) -> None:
        self.place += length
        self.out.append(text)

    def _literal(self, char: str) -> str:
        if char in "*+?":
            raise PatternFault(f"{self.pattern!r} has nothing to repeat before {char}")
        self.place += 1
        return char if char == "." or char.isalnum() else re.escape(char)

    def _atom(self, text: str, *, repeats: bool = False, ways: int = 1) -> None:
        """An atom with the quantifier that follows it."""
        self.out.append(text)
        found = _QUANTIFIER.match(self.pattern, self.place)
        group = self.groups[-1]
        if found is None:
            group.loops += repeats
            group.solid += not repeats
            group.ways = min(group.ways * ways, MANY)
            return
        group.ways = min(group.ways * self._ways(found, ways), MANY)
        self.place = found.end()
        unbounded = self._quantify(found)
        if unbounded and repeats:
            raise PatternFault(f"{self.pattern!r} repeats a repetition: it is not evaluated")
        optional = found[0] == "?" or found["low"] == "0"
        group.loops += unbounded or repeats
        group.solid += not (unbounded or repeats or optional)

    def _ways(self, found: re.Match[str], ways: int) -> int:
        """Those of an atom that is quantified: how often it is taken, and how each time."""
        low = 1 if found[0] == "+" else int(found["low"] or 0)
        high = 1 if found[0] == "?" else self.length
        if found["low"] and (found["high"] or not found["comma"]):
            high = int(found["high"] or low)
        times = min(high - low, self.length) + 1
        return times if ways == 1 else min(times * ways ** min(high, 30), MANY)

    def _quantify(self, found: re.Match[str]) -> bool:
        """Write a quantifier; whether it has no upper bound."""
        if max(int(found["low"] or 0), int(found["high"] or 0)) > MAX_REPEAT:
            raise PatternFault(f"{self.pattern!r} repeats more than {MAX_REPEAT} times")
        lazy = self.pattern[self.place : self.place + 1] == "?"
        self.place += lazy
        if _QUANTIFIER.match(self.pattern, self.place):
            raise PatternFault(f"{self.pattern!r} has two repetition operators in a row")
        self.out.append(found[0] + "?" * lazy)
        return found[0] in ("*", "+") or (found["comma"] is not None and not found["high"])

    def _open(self) -> None:
        flags = _FLAGS.match(self.pattern, self.place)
        named = _NAMED.match(self.pattern, self.place)
        if flags is not None and flags["end"] == ")":
            wrapper = f"(?{flags['on']}{'-' if flags['off'] else ''}{flags['off'] or ''}:"
            self.groups[-1].wrappers.append(wrapper)
            self._take(len(flags[0]), wrapper)
            return
        if flags is not None:
            self._take(len(flags[0]), flags[0])
        elif named is not None:
            self._take(len(named[0]), f"(?P<{named['name']}>")
        elif self.pattern.startswith("(?", self.place):
            what = self.pattern[self.place : self.place + 4]
            raise PatternFault(
                f"{self.pattern!r} uses {what}, which RE2 lacks: proxies refuse the route"
            )
        else:
            self._take(1, "(")
        self.groups.append(_Group())

    def _close(self) -> None:
        if len(self.groups) == 1:
            raise PatternFault(f"{self.pattern!r} closes a group that is not open")
        self._close_wrappers()
        group = self.groups.pop()
        group.end_branch()
        self.place += 1
        self._atom(")", repeats=group.repeats, ways=group.others)

    def _alternative(self) -> None:
        """Flags set in the middle hold in the branches that follow as well."""
        self._close_wrappers()
        self._take(1, "|")
        self.groups[-1].end_branch()
        self.out.extend(self.groups[-1].wrappers)

    def _close_wrappers(self) -> None:
        self.out.append(")" * len(self.groups[-1].wrappers))

    def _escape(self) -> None:
        pair = self.pattern[self.place : self.place + 2]
        if pair == r"\Q":
            self._quoted()
        elif pair in (r"\A", r"\b", r"\B", r"\z"):
            self._take(2, r"\Z" if pair == r"\z" else pair)
        else:
            self._atom(self._escaped())

    def _quoted(self) -> None:
        end = self.pattern.find(r"\E", self.place)
        end = len(self.pattern) if end < 0 else end
        text = self.pattern[self.place + 2 : end]
        self.place = end + 2
        if text:
            self.out.append(re.escape(text[:-1]))
            self.groups[-1].solid += len(text) - 1
            self._atom(re.escape(text[-1]))

    def _escaped(self) -> str:
        """The escape at this place, valid inside and outside of a class."""
        hexadecimal = _HEXADECIMAL.match(self.pattern, self.place)
        if hexadecimal is not None:
            self.place = hexadecimal.end()
            return re.escape(chr(min(int(hexadecimal["digits"], 16), 0x10FFFF)))
        pair = self.pattern[self.place : self.place + 2]
        if pair[1:] in ("p", "P", "C", "Z") or pair[1:] in tuple("123456789"):
            raise PatternFault(f"{self.pattern!r} uses {pair}, which is not evaluated or not RE2")
        self.place += 2
        return pair

    def _class(self) -> str:
        """A bracket expression, POSIX names spelt out."""
        parts = ["["]
        self.place += 1
        if self.pattern.startswith("^", self.place):
            parts.append("^")
            self.place += 1
        first = self.place
        while self.place < len(self.pattern):
            char = self.pattern[self.place]
            if char == "]" and self.place > first:
                self.place += 1
                return "".join([*parts, "]"])
            parts.append(self._class_item(char))
        raise PatternFault(f"{self.pattern!r} has a class without ]")

    def _class_item(self, char: str) -> str:
        posix = re.compile(r"\[:(\w+):\]").match(self.pattern, self.place)
        if posix is not None and posix[1] in _POSIX:
            self.place = posix.end()
            return _POSIX[posix[1]]
        if char == "\\":
            return self._escaped()
        self.place += 1
        return "\\" + char if char in "[]&~|" else char

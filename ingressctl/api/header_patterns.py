"""Patterns of header names, as graphs and PROPAGATE_HEADERS have them.

They are regular expressions for the whole name, in any case (IG-D16). KServe's documentation
has patterns that are none, such as ``Test-Header-*`` and ``*Trace-Id*``: in a name that has
nothing else of an expression a star is any text.

Clients choose the names, and Python tries a pattern in every way before it says no. So only
names of some length are asked about, and patterns that have too many ways are refused:
``X-(a|aa)+Id`` would not end within a life.
"""

from __future__ import annotations

import re

from ingressctl.api import re2

LONGEST_NAME = 128
"""Bytes of a header name that patterns may match; a longer one matches none."""
MOST_WAYS = 4 * (LONGEST_NAME + 1) ** 2
"""Two stars and an alternative: some milliseconds for a name at the very most."""

_STARRED = re.compile(r"[A-Za-z0-9_-]*\*[A-Za-z0-9_*-]*")


def compiled(pattern: str, *, whole: bool = True) -> re.Pattern[str]:
    """The pattern for `fullmatch`; without `whole` for `search`, as KServe reads it.

    Raises re2.PatternFault.
    """
    expression = _expression(pattern) if whole else pattern
    read = re2.compiled(expression)
    if re2.ways(expression, LONGEST_NAME) > MOST_WAYS:
        raise re2.PatternFault(
            f"{pattern!r} can match a name in too many ways: repeat fewer parts of it, "
            "and none with alternatives or repetitions in it"
        )
    return re.compile(read.pattern, read.flags | re.IGNORECASE) if whole else read


def fault(pattern: str, *, whole: bool = True) -> str:
    """Why the pattern cannot be used; "" if it can."""
    try:
        compiled(pattern, whole=whole)
    except re2.PatternFault as error:
        return str(error)
    return ""


def _expression(pattern: str) -> str:
    return pattern.replace("*", ".*") if _STARRED.fullmatch(pattern) else pattern

"""Patterns of header names, as graphs and PROPAGATE_HEADERS have them.

They are regular expressions for the whole name, in any case (IG-D16). KServe's documentation
has patterns that are none, such as ``Test-Header-*`` and ``*Trace-Id*``: in a name that has
nothing else of an expression a star is any text.
"""

from __future__ import annotations

import re

from ingressctl.api import re2

_STARRED = re.compile(r"[A-Za-z0-9_-]*\*[A-Za-z0-9_*-]*")


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern for `fullmatch`. Raises re2.PatternFault."""
    read = re2.compiled(_expression(pattern))
    return re.compile(read.pattern, read.flags | re.IGNORECASE)


def fault(pattern: str) -> str:
    """Why the pattern cannot be used; "" if it can."""
    return re2.fault(_expression(pattern))


def _expression(pattern: str) -> str:
    return pattern.replace("*", ".*") if _STARRED.fullmatch(pattern) else pattern

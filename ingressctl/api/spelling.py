"""Which known word somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CUTOFF = 0.75


def closest(word: str, known: Iterable[str]) -> str:
    """The known word that another resembles, letter case aside; "" if none does."""
    lower = {name.lower(): name for name in sorted(known)}
    found = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=CUTOFF)
    return lower[found[0]] if found else ""

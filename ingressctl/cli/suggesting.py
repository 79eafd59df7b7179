"""Names that a person may have meant: near in letters, or another word for the same."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

TARGET = "KIND/NAME"
"""How an object is named on a command line."""

ALIASES: Mapping[str, str] = {
    "nginx": "ingress",
    "haproxy": "ingress",
    "virtualservice": "istio",
    "httproute": "gateway_api",
    "gateway": "gateway_api",
    "xds": "envoy",
}
"""What people call providers by: the controller behind them, or the kind that they write."""


def near(word: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that are a slip of the finger or another spelling away."""
    known = {_plain(name): name for name in names}
    plain = _plain(word)
    if plain in known:
        return (known[plain],)
    if ALIASES.get(plain) in known.values():
        return (ALIASES[plain],)
    return tuple(known[found] for found in difflib.get_close_matches(plain, known, cutoff=0.7))


def _plain(name: str) -> str:
    return name.lower().lstrip("-").replace("-", "_").replace(" ", "_")


def or_one_of(word: str, names: Iterable[str]) -> str:
    """``did you mean istio?``, or all that can be chosen."""
    names = tuple(names)
    found = near(word, names)
    every = f"choose one of {', '.join(names)}"
    return f"did you mean {' or '.join(found)}? {every}" if found else every

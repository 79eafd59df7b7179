"""Completion of KIND and KIND/NAME. Names come from the cluster, within two seconds or not at all.

A shell that asks for candidates is told nothing of faults (ux.md 8.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ingressctl.cli import suggesting
from ingressctl.plan import kindnames

SECONDS = 2.0


def listed(incomplete: str) -> list[str]:
    """What `get` lists: routes, or a kind by its plural."""
    return [word for word in ("routes", *kindnames.plurals()) if word.startswith(incomplete)]


def objects(ctx: typer.Context, incomplete: str) -> list[str]:
    """KIND/ for kinds, then names of the namespace that -n or the kubeconfig names."""
    word, slash, begun = incomplete.partition("/")
    if not slash:
        return [f"{kind}/" for kind in kindnames.plurals() if kind.startswith(word)]
    try:
        found = _names(word, ctx.params)
    except Exception:  # no cluster, no right, no time: then there is nothing to complete
        return []
    return [f"{word}/{name}" for name in sorted(found) if name.startswith(begun)]


Object = Annotated[
    str,
    typer.Argument(
        metavar=suggesting.TARGET,
        help="An object such as isvc/iris.",
        autocompletion=objects,
    ),
]
"""The argument of describe, graph and wait."""


def _names(word: str, flags: Mapping[str, Any]) -> frozenset[str]:
    """Names of a kind in the cluster. Raises connection.Unusable and whatever else fails."""
    from ingressctl.cluster import connection, readonly  # noqa: PLC0415 - half a second

    chosen = {
        name: str(flags.get(name) or "")
        for name in ("kubeconfig", "context", "cluster", "user", "as_user")
    }
    choice = connection.Choice(**chosen, as_groups=tuple(flags.get("as_group") or ()))
    questions = [
        readonly.Question(resource, (readonly.HOME,) if resource.namespaced else ())
        for resource in kindnames.named(word)
    ]
    home = str(flags.get("namespace") or "")
    answer = readonly.read(questions, choice, seconds=SECONDS, home=home)
    return frozenset(str(obj["metadata"]["name"]) for obj in answer.objects)

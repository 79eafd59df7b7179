"""Completion of KIND and KIND/NAME. Names come from the cluster, within two seconds or not at all.

A shell that asks for candidates is told nothing of faults (ux.md 8.5).
"""

from __future__ import annotations

import os

from ingressctl.plan import kindnames

SECONDS = 2.0


def listed(incomplete: str) -> list[str]:
    """What `get` lists: routes, or a kind by its plural."""
    return [word for word in ("routes", *kindnames.plurals()) if word.startswith(incomplete)]


def objects(incomplete: str) -> list[str]:
    """KIND/ for kinds, then the names of the namespace that the kubeconfig or -n names."""
    word, slash, begun = incomplete.partition("/")
    if not slash:
        return [f"{kind}/" for kind in kindnames.plurals() if kind.startswith(word)]
    found = sorted({name for name in _names(word) if name.startswith(begun)})
    return [f"{word}/{name}" for name in found]


def _names(word: str) -> list[str]:
    """Names of a kind in the cluster; none where it cannot be asked in time."""
    from ingressctl.cluster import connection, readonly  # noqa: PLC0415 - half a second

    choice = connection.Choice(
        kubeconfig=os.environ.get("INGRESSCTL_KUBECONFIG", ""),
        context=os.environ.get("INGRESSCTL_CONTEXT", ""),
    )
    questions = [readonly.Question(item, (readonly.HOME,)) for item in kindnames.named(word)]
    home = os.environ.get("INGRESSCTL_NAMESPACE", "")
    answer = readonly.read(questions, choice, seconds=SECONDS, home=home)
    return [str(obj["metadata"]["name"]) for obj in answer.objects]

"""The parts of typer that complete words for shells.

typer has no public names for them, so they may move in a later version: then completion, and
nothing else, ends with a sentence. They are imported when a shell asks.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from ingressctl.cli.problems import CommandFault


@dataclass(frozen=True, slots=True)
class Completion:
    """typer's own: a candidate, its start, the one for bash, and the maker of scripts."""

    item: Any
    start: Any
    bash: Any
    script: Any


def of_typer() -> Completion:
    """What the installed typer has. Raises CommandFault."""
    try:
        classes = importlib.import_module("typer._completion_classes")
        shared = importlib.import_module("typer._completion_shared")
        click = importlib.import_module("typer._click.shell_completion")
        return Completion(
            click.CompletionItem,
            classes.completion_init,
            classes.BashComplete,
            shared.get_completion_script,
        )
    except (ImportError, AttributeError) as fault:
        raise CommandFault.of(
            f"the installed typer completes in another way: {fault}",
            "install the version of requirements.lock",
        ) from None

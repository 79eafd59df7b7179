"""The flag -l of get and run: one grammar, kubectl's."""

from __future__ import annotations

from typing import Annotated

import typer

from ingressctl.api import selectors
from ingressctl.api.selectors import Selector
from ingressctl.cli.problems import CommandFault

Labels = Annotated[
    str,
    typer.Option(
        "-l", "--selector", metavar="LABELS", help="Only with labels: a=b,c!=d,e,!f,g in (x,y)."
    ),
]


def selector(text: str) -> Selector:
    """What is meant. Raises CommandFault."""
    try:
        return selectors.parse(text)
    except selectors.BadSelector:
        raise CommandFault.of(
            f"-l cannot be {text!r}", "write labels such as 'a=b,c!=d,e,g in (x,y)'"
        ) from None

"""``ingressctl completion``: scripts for shells, and the helper that kubectl asks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import typer

from ingressctl.cli import options, shells, telling
from ingressctl.cli.problems import CommandFault

PROGRAM = "ingressctl"
VARIABLE = "_INGRESSCTL_COMPLETE"


@options.command
def command(
    *,
    shell: Annotated[
        Literal["bash", "zsh", "fish"], typer.Argument(metavar="bash|zsh|fish", help="The shell.")
    ],
    talk: options.Talk,
) -> None:
    """Print a completion script for a shell.

    kubectl completes `kubectl ingressctl` by itself where kubectl_complete-ingressctl, which
    is installed with ingressctl, is on the PATH.

    Examples:
      source <(ingressctl completion bash)
      ingressctl completion zsh > "${fpath[1]}/_ingressctl"
      ingressctl completion fish > ~/.config/fish/completions/ingressctl.fish
    """
    with telling.guarded(talk) as printer:
        script = shells.of_typer().script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell)
        printer.text(f"{script}\n")


def kubectl() -> None:
    """Entry point of ``kubectl_complete-ingressctl``: candidates, then the directive.

    kubectl passes the words after ``kubectl ingressctl``; the last one is unfinished. The
    closing line ``:0`` leaves the rest to the shell (cobra's ShellCompDirectiveDefault).
    """
    from ingressctl.cli import main  # noqa: PLC0415 - the tree names this file

    try:
        for line in candidates(main.tree(), sys.argv[1:]):
            sys.stdout.write(f"{line}\n")
    except CommandFault as fault:
        sys.stderr.write(f"error: {fault}\n")
    sys.stdout.write(":0\n")


def candidates(tree: Any, words: Sequence[str]) -> Iterator[str]:
    """What the last word may become, each with its help. Silent about faults (ux.md 8.5).

    Raises CommandFault if this typer cannot complete.
    """
    *before, unfinished = words or [""]
    complete = shells.of_typer().bash(tree, {}, PROGRAM, VARIABLE)
    try:
        found = complete.get_completions(list(before), unfinished)
    except Exception:  # a completion that cannot be made is none
        return
    for item in found:
        yield f"{item.value}\t{item.help}" if item.help else str(item.value)

"""The command tree. Each command lives in a file of its own and is imported when asked for,
so that ``ingressctl --help`` stays fast.
"""

from __future__ import annotations

import typer

from ingressctl import __version__

app = typer.Typer(
    name="ingressctl",
    help="Traffic routing for model serving on Kubernetes.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def root() -> None:
    """Traffic routing for model serving on Kubernetes."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"ingressctl {__version__}")


def main() -> None:
    """Entry point of ``ingressctl`` and ``kubectl-ingressctl``."""
    app()

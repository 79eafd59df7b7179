"""``ingressctl version``: the version, or the table of differences from KServe."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from ingressctl import __version__
from ingressctl.cli import options, output
from ingressctl.core import differences


@options.command
def command(
    *,
    show_differences: Annotated[
        bool,
        typer.Option("--differences", help="Print where ingressctl differs from KServe, and why."),
    ] = False,
    form: Annotated[
        Literal["text", "json"], typer.Option("-o", "--output", help="Form of the output.")
    ] = "text",
    talk: options.Talk,
) -> None:
    """Print the version, or the differences from KServe.

    Examples:
      ingressctl version
      ingressctl version --differences
    """
    printer = output.Printer(talk)
    if form == "json":
        printer.json(
            {"version": __version__, **({"differences": _rows()} if show_differences else {})}
        )
    elif show_differences:
        printer.data(_lines(printer.paint))
    else:
        printer.data([f"ingressctl {__version__}"])


def _rows() -> list[dict[str, Any]]:
    return [
        {"ids": list(row.ids), "kserve": row.reference, "better": row.better, "why": row.why}
        for row in differences.TABLE
    ]


def _lines(paint: output.Paint) -> Iterator[str]:
    for row in differences.TABLE:
        yield paint("bold", ", ".join(row.ids))
        for title, text in (
            ("KServe", row.reference),
            ("better", row.better),
            ("why", row.why),
        ):
            yield from textwrap.wrap(
                f"{title}: {text}", 78, initial_indent="  ", subsequent_indent="    "
            )

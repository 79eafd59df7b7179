"""Tables as kubectl prints them, and the forms of `-o` that go with tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingressctl.cli.output import Printer
from ingressctl.cli.problems import CommandFault
from ingressctl.plan import jsonpath
from ingressctl.plan.columns import Sheet

GAP = "   "
JSONPATH = "jsonpath="
FORMS = ("wide", "name", "json", "yaml", JSONPATH)


def lines(sheet: Sheet, *, titles: bool) -> Iterator[str]:
    """Columns as wide as their widest word; the last one is not filled up."""
    every = ([sheet.titles] if titles else []) + list(sheet.rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    for row in every:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield GAP.join(padded).rstrip()


def check_form(form: str) -> None:
    """Refuses what -o does not have, before anything is read. Raises CommandFault."""
    if form.startswith(JSONPATH):
        _path(form, {})
    elif form not in ("", *FORMS):
        raise CommandFault.of(
            f"-o cannot be {form!r}", "write -o wide, name, json, yaml or jsonpath={.items[*]...}"
        )


def machine(value: Mapping[str, Any], form: str, printer: Printer) -> None:
    """One document for a program: JSON, YAML, or what a path picks. Raises CommandFault."""
    if form.startswith(JSONPATH):
        printer.text(_path(form, value))
    else:
        printer.objects([value], form)


def _path(form: str, value: Mapping[str, Any]) -> str:
    try:
        return jsonpath.render(form.removeprefix(JSONPATH), value)
    except jsonpath.PathFault as fault:
        raise CommandFault.of(
            f"-o jsonpath: {fault}", "write a path such as {.items[*].metadata.name}"
        ) from None

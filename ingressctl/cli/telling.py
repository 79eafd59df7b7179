"""How a command ends: problems told, findings chosen, one exit code for every form (ux.md 8.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import typer

from ingressctl.api.refs import Ref
from ingressctl.cli import options, problems
from ingressctl.cli.output import Printer
from ingressctl.cli.problems import CommandFault, Problem
from ingressctl.cli.scene import Scene
from ingressctl.core.outcome import Fault, Finding, Origin
from ingressctl.plan import manifests, report
from ingressctl.plan.checks import inputs
from ingressctl.plan.written import Derived


@contextmanager
def guarded(talk: options.Talk) -> Iterator[Printer]:
    """A printer for the command; what it cannot do is told and ends it with 2."""
    printer = Printer(talk)
    try:
        yield printer
    except CommandFault as fault:
        for problem in fault.problems:
            printer.problem(problem)
        raise typer.Exit(problems.FAULT) from None


def of_inputs(shown: Scene) -> tuple[Finding, ...]:
    """What the written objects say in vain, and those that are given twice."""
    objects = (item.obj for item in shown.laid.written)
    return (*shown.laid.twice, *inputs.of_objects(objects))


def told(
    found: Iterable[Finding], shown: Scene, verdict: options.Verdict, *, idle: bool = False
) -> tuple[Finding, ...]:
    """The findings to tell: suppressed ones out, each with its file and line.

    `idle` adds a finding for each suppression that matched nothing. Raises CommandFault.
    """
    ignores = [*parse_ignores(verdict), *report.of_annotations(shown.laid.world)]
    kept = report.suppressed(dict.fromkeys(found), ignores, tell_idle=idle)
    origins = {item.ref: item.origin for item in shown.laid.written}
    return tuple(_at_field(item, shown) for item in report.located(kept, origins))


def parse_ignores(verdict: options.Verdict) -> list[report.Ignore]:
    """The suppressions of the command line. Raises CommandFault."""
    try:
        return [report.parse_ignore(text) for text in verdict.ignore]
    except report.IgnoreFault as fault:
        raise CommandFault.of(
            f"--ignore: {fault}", "write --ignore IC2001 or --ignore IC2001=Kind/namespace/name"
        ) from None


def _at_field(finding: Finding, shown: Scene) -> Finding:
    """The finding at the line of its field, where the file is known."""
    if finding.origin is None or not finding.path:
        return finding
    return replace(finding, origin=_field_origin(finding.origin, finding.path, shown))


def _field_origin(origin: Origin, path: str, shown: Scene) -> Origin:
    data = shown.texts.get(origin.file)
    if data is None or not path:
        return origin
    return Origin(origin.file, manifests.line_of(data, origin.line, path))


def faults(
    broken: Iterable[tuple[Ref, Fault]],
    found: Iterable[Finding],
    shown: Scene,
    printer: Printer,
) -> bool:
    """Tells why reconciles did not come to their end, unless a finding does so already.

    Returns whether any did not.
    """
    said = tuple(found)
    origins = {item.ref: item.origin for item in shown.laid.written}
    any_fault = False
    for ref, fault in broken:
        any_fault = True
        if report.is_told(ref, fault, said):
            continue
        origin = origins.get(ref)
        where = str(_field_origin(origin, fault.path, shown)) if origin else ""
        text = f"{ref}: {fault.path + ': ' if fault.path else ''}{fault.message}"
        printer.problem(Problem(text, _REMEDIES[fault.where], where))
    return any_fault


def of_derived(
    made: Derived, shown: Scene, printer: Printer, verdict: options.Verdict | None = None
) -> bool:
    """Tells why something that was written does not follow; whether anything does not."""
    verdict = verdict or options.Verdict()
    said = told((*of_inputs(shown), *made.refused, *made.underived), shown, verdict)
    printer.findings(said, bar=verdict.fail_on)
    return faults(made.faults, said, shown, printer) or made.is_incomplete


_REMEDIES = {
    "config": "correct the ConfigMap inferenceservice-config",
    "admission": "correct the field",
    "components": "correct the component",
    "routes": "correct what the message names",
}


def end(*, fault: bool, differs: bool, found: Iterable[Finding], verdict: options.Verdict) -> None:
    """Ends the command with the code that holds in every form of output."""
    raise typer.Exit(code(fault=fault, differs=differs, found=found, verdict=verdict))


def code(*, fault: bool, differs: bool, found: Iterable[Finding], verdict: options.Verdict) -> int:
    """2 for any fault, 1 for differences or findings, else 0."""
    if fault:
        return problems.FAULT
    if differs or report.at_or_above(found, verdict.fail_on):
        return problems.SAME if verdict.exit_zero else problems.DIFFERS
    return problems.SAME

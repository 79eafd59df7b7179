"""``ingressctl preview``: what applying files would change, before anything is applied."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ingressctl.cli import forms, options, output, scene, telling
from ingressctl.core.outcome import Finding
from ingressctl.plan import preview, report, showing
from ingressctl.plan.preview import Preview

Form = Literal["diff", "human", "summary", "yaml", "json", "github"]


@options.command
def command(
    *,
    given: options.Inputs,
    form: Annotated[Form, typer.Option("-o", "--output", help="Form of the output.")] = "diff",
    show_all: Annotated[
        bool,
        typer.Option("--show-all", help="Show status, bookkeeping and API defaults as well."),
    ] = False,
    rules: options.Rules,
    chosen: options.Providers,
    base: options.Base,
    verdict: options.Verdict,
    talk: options.Talk,
) -> None:
    """Show what applying files would change.

    Everything that follows from the objects of the files is derived and compared with what is
    there: a cluster (which is only read), a folder, or nothing. A section is an object of a
    file; below it stands what it makes. A change that a deliberate difference from KServe
    causes carries its id.

    Ends with 1 if something would change or a finding is as grave as --fail-on, and with 2 if
    an object would be refused or what it makes cannot be derived.

    Examples:
      ingressctl preview -f model.yaml
      ingressctl preview -f model.yaml --against dump/ --compat kserve
      ingressctl preview -f models/ -R --against none -o summary
      ingressctl preview -f model.yaml --set config-domain.data.example.org=
    """
    with telling.guarded(talk) as printer:
        shown = scene.build(given, rules, chosen, base, printer)
        seen = preview.preview(
            shown.laid,
            shown.settings,
            now=shown.now,
            providers=shown.providers,
            everything=show_all,
        )
        found = telling.told((*shown.laid.twice, *seen.refused, *seen.findings), shown, verdict)
        printer.findings(found, bar=verdict.fail_on)
        broken = telling.faults(seen.faults, found, shown, printer)
        fault = broken or bool(seen.refused) or report.is_underived(seen.findings)
        if not (fault and form in ("yaml", "json")):  # half of the objects are not to be applied
            _print(seen, found, form, printer, everything=show_all)
        telling.end(
            fault=fault,
            differs=any(True for _ in seen.changes()),
            found=found,
            verdict=verdict,
        )


def _print(
    seen: Preview,
    found: tuple[Finding, ...],
    form: Form,
    printer: output.Printer,
    *,
    everything: bool,
) -> None:
    if form in ("yaml", "json"):
        objects = [showing.shown(obj, everything=everything) for obj in seen.wanted]
        printer.objects(objects, form)
        printer.say(forms.closing(seen, found))
        return
    if form == "github":
        printer.data(forms.as_github(seen, found))
        return
    make = {"diff": forms.as_diff, "human": forms.as_human, "summary": forms.as_summary}[form]
    printer.data(make(seen, printer.paint))
    if form != "summary":
        printer.data(forms.usage(seen))
    printer.data([forms.closing(seen, found)])

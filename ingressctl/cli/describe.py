"""``ingressctl describe``: an object with its chain of owners, and the first cause on top."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from ingressctl.api.refs import Raw, Ref
from ingressctl.cli import names, options, output, scene, targets, telling
from ingressctl.cli.output import Printer
from ingressctl.cli.scene import Scene
from ingressctl.core.outcome import Finding
from ingressctl.plan import describing, describing_text, written
from ingressctl.plan.describing import Description


@options.command
def command(
    *,
    target: names.Object,
    form: Annotated[
        Literal["text", "yaml", "json"], typer.Option("-o", "--output", help="Form of the output.")
    ] = "text",
    given: options.Inputs,
    rules: options.Rules,
    chosen: options.Providers,
    base: options.Base,
    verdict: options.Verdict,
    talk: options.Talk,
) -> None:
    """Tell why an object is not ready, what it belongs to and what it makes.

    The first line names the deepest object of the chain that is not ready, with its reason.
    Below stand who wrote the object, its URLs, the split as it is wanted and as it is served,
    conditions, the chain from what a person wrote down to pods and gateways, and findings.
    An object that a cluster holds is described as it is; one of files as it would be.

    Ends with 0 whatever the state is, with 1 if a finding is as grave as --fail-on, and with 2
    if there is no such object.

    Examples:
      ingressctl describe isvc/model                   # needs a kubeconfig
      ingressctl describe vs/model -n team -o json     # needs a kubeconfig
      ingressctl describe isvc/model -f model.yaml --against none
      ingressctl describe httproute/model --against dump/
    """
    with telling.guarded(talk) as printer:
        targets.split(target)
        shown = scene.build(
            given, rules, chosen, base, printer, need_files=False, whole=True, beneath=True
        )
        obj, made, fault = targets.about(target, shown, given.namespace, printer, verdict)
        told = _described(obj, shown, made)
        found = telling.told(told.findings, shown, verdict)
        _print(told, found, form, shown, printer)
        telling.end(fault=fault, differs=False, found=found, verdict=verdict)


def _described(obj: Raw, shown: Scene, made: written.Derived) -> Description:
    return describing.describe(
        obj,
        made.world,
        shown.settings,
        now=shown.now,
        providers=shown.providers,
        carried=made.carried,
        blind=bool(shown.refused),
    )


def _print(
    told: Description, found: tuple[Finding, ...], form: str, shown: Scene, printer: Printer
) -> None:
    origin = _origin(told.ref, shown)
    if form == "text":
        printer.data(describing_text.lines(told, now=shown.now, origin=origin))
        if found:
            printer.data(("", "Findings:"))
            printer.data(f"  {line}" for line in output.findings_lines(found, printer.paint))
        return
    value: dict[str, Any] = describing_text.as_json(told, origin=origin)
    value["findings"] = [output.finding_json(item) for item in found]
    printer.objects([value], form)


def _origin(ref: Ref, shown: Scene) -> str:
    """The file and line that hold the object; "" where a cluster does."""
    return next((str(item.origin) for item in shown.laid.written if item.ref == ref), "")

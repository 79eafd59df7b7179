"""``ingressctl render``: the objects that routes become, by one provider or two compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

import typer

from ingressctl.api.refs import Raw
from ingressctl.cli import options, output, scene, suggesting, telling
from ingressctl.cli.problems import CommandFault
from ingressctl.cli.scene import Scene
from ingressctl.core.outcome import Finding
from ingressctl.plan import rendering, report
from ingressctl.plan.rendering import HostDifference, Rendering

LOSS = "IC4"
"""The block of findings that tell what a provider cannot express."""


@options.command
def command(
    *,
    given: options.Inputs,
    form: Annotated[
        Literal["yaml", "json"], typer.Option("-o", "--output", help="Form of the objects.")
    ] = "yaml",
    compare: Annotated[
        str,
        typer.Option(
            "--compare",
            metavar="A,B",
            autocompletion=options.two_providers,
            help="Tell how two providers differ in what they serve, and what each loses.",
        ),
    ] = "",
    rules: options.Rules,
    chosen: options.Providers,
    base: options.Base,
    verdict: options.Verdict,
    talk: options.Talk,
) -> None:
    """Print the objects that routes become.

    Without --provider the configured one is taken. Several objects come as one List. With
    --compare the objects of two providers are read back and their rules put side by side.

    Ends with 1 if a finding is as grave as --fail-on or compared providers differ, and with 2
    if an object would be refused or cannot be derived: then no objects are printed.

    Examples:
      ingressctl render -f model.yaml
      ingressctl render -f model.yaml --provider gateway_api | kubectl apply -f -  # needs a cluster
      ingressctl render -f model.yaml --provider envoy -o json
      ingressctl render -f model.yaml --compare istio,gateway_api
    """
    with telling.guarded(talk) as printer:
        shown = scene.build(given, rules, chosen, base, printer)
        if compare:
            _compare(compare, form, shown, verdict, printer)
        else:
            _render(form, shown, verdict, printer)


def _render(form: str, shown: Scene, verdict: options.Verdict, printer: output.Printer) -> None:
    made = _rendered(shown.settings.provider, shown)
    said = (*telling.of_inputs(shown), *made.refused, *made.findings)
    found = telling.told(said, shown, verdict)
    printer.findings(found, bar=verdict.fail_on)
    broken = telling.faults(made.faults, found, shown, printer)
    fault = broken or bool(made.refused) or report.is_underived(made.findings)
    if fault:
        printer.warn("warning: no objects are printed, for some are missing")
    elif not made.objects:
        printer.warn("warning: no objects follow from the input")
    else:
        printer.objects([_tidy(obj) for obj in made.objects], form)
    telling.end(fault=fault, differs=False, found=found, verdict=verdict)


def _rendered(provider: str, shown: Scene) -> Rendering:
    settings = replace(shown.settings, provider=provider)
    return rendering.render(shown.laid, settings, now=shown.now, providers=shown.providers)


def _tidy(obj: Raw) -> Raw:
    """The object as it is to be applied: an owner that has no uid yet cannot be named."""
    metadata = dict(obj.get("metadata") or {})
    owners = [owner for owner in metadata.pop("ownerReferences", ()) if owner.get("uid")]
    if owners:
        metadata["ownerReferences"] = owners
    return {**obj, "metadata": metadata} if metadata else obj


def _compare(
    text: str, form: str, shown: Scene, verdict: options.Verdict, printer: output.Printer
) -> None:
    given = telling.told(telling.of_inputs(shown), shown, verdict)
    printer.findings(given, bar=verdict.fail_on)
    one, other = (_rendered(name, shown) for name in _two(text, shown))
    differing = rendering.compare(one, other, shown.settings, shown.providers)
    losses = {made.provider: telling.told(_losses(made), shown, verdict) for made in (one, other)}
    found = tuple(dict.fromkeys(finding for told in losses.values() for finding in told))
    if form == "json":
        printer.json(_comparison(differing, losses))
    else:
        printer.data(_comparison_lines(one, other, differing, losses, printer.paint))
    faults = telling.faults((*one.faults, *other.faults), found, shown, printer)
    telling.end(
        fault=faults
        or bool(one.refused or other.refused)
        or report.is_underived((*one.findings, *other.findings)),
        differs=bool(differing),
        found=(*given, *found),
        verdict=verdict,
    )


def _two(text: str, shown: Scene) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2:
        raise CommandFault.of(f"--compare needs two providers, not {text!r}", "write --compare A,B")
    for name in names:
        if name not in shown.providers:
            raise CommandFault.of(
                f"there is no provider {name!r}", suggesting.or_one_of(name, shown.providers)
            )
    return names[0], names[1]


def _losses(made: Rendering) -> tuple[Finding, ...]:
    refused = made.refused
    return (*refused, *(item for item in made.findings if item.code.startswith(LOSS)))


def _comparison(
    differing: tuple[HostDifference, ...], losses: dict[str, tuple[Finding, ...]]
) -> dict[str, object]:
    return {
        "hosts": [{"host": item.host, "diff": list(item.lines)} for item in differing],
        "lost": {
            name: [output.finding_json(finding) for finding in found]
            for name, found in losses.items()
        },
    }


def _comparison_lines(
    one: Rendering,
    other: Rendering,
    differing: tuple[HostDifference, ...],
    losses: dict[str, tuple[Finding, ...]],
    paint: output.Paint,
) -> Iterator[str]:
    for sign, made in (("-", one), ("+", other)):
        yield f"{sign} {made.provider}: {output.plural(len(made.objects), 'object')}"
    for item in differing:
        yield paint("bold", item.host)
        yield from (f"  {line}" for line in item.lines if not line.startswith("@@"))
    for name, found in losses.items():
        yield f"lost by {name}:" if found else f"lost by {name}: nothing"
        for finding in found:
            yield from (f"  {line}" for line in output.finding_lines(finding, paint))

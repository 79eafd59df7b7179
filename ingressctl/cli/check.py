"""``ingressctl check``: faults in files, a folder or a cluster, and what a change does to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from ingressctl.cli import options, output, scene, telling
from ingressctl.cli.scene import Scene
from ingressctl.core.outcome import Finding
from ingressctl.core.world import World
from ingressctl.plan import applying, cascade, findings, report
from ingressctl.plan.report import Comparison

TITLES = (
    ("introduced", "introduced by the files"),
    ("fixed", "fixed by the files"),
    ("unchanged", "there before and after"),
)


@options.command
def command(
    *,
    given: options.Inputs,
    form: Annotated[
        Literal["text", "json"], typer.Option("-o", "--output", help="Form of the output.")
    ] = "text",
    rules: options.Rules,
    chosen: options.Providers,
    base: options.Base,
    verdict: options.Verdict,
    talk: options.Talk,
) -> None:
    """Find faults in files, folders or a cluster.

    With -f and something to compare with, findings are set apart: those that the files
    introduce, those that they fix, and those that stay. Then only introduced ones make the
    command fail. An object carries its own suppressions in the annotation
    ingressctl.dev/ignore; one that matches nothing is told.

    Ends with 1 if a finding is as grave as --fail-on, be it that an object would be refused,
    and with 2 if the input cannot be read or there is none.

    Examples:
      ingressctl check                           # needs a kubeconfig
      ingressctl check -f models/ -R --against none
      ingressctl check -f model.yaml --fail-on warning --ignore IC4001
      ingressctl check -f model.yaml --ignore IC2101=InferenceService/default/model
    """
    with telling.guarded(talk) as printer:
        shown = scene.build(given, rules, chosen, base, printer, need_files=False, whole=True)
        compared = report.compare(_before(shown), _after(shown))
        compared = _told(compared, shown, verdict)
        if form == "json":
            printer.json(_as_json(compared, shown))
        else:
            printer.data(_lines(compared, shown, printer.paint))
        telling.end(fault=False, differs=False, found=compared.introduced, verdict=verdict)


def _before(shown: Scene) -> tuple[Finding, ...]:
    """Findings of what exists; nothing to compare with where everything comes from files."""
    if not _compares(shown):
        return ()
    return _found(shown.laid.base, shown.laid.base, shown)


def _after(shown: Scene) -> tuple[Finding, ...]:
    applied, _ = applying.apply(shown.laid, shown.settings)
    return (*shown.laid.twice, *_found(applied.world, shown.laid.world, shown))


def _compares(shown: Scene) -> bool:
    return bool(shown.laid.written) and len(shown.laid.base) > 0


def _found(world: World, raw: World, shown: Scene) -> tuple[Finding, ...]:
    """Findings of a world; `raw` has its objects as written, for admission."""
    done = cascade.run(world, shown.settings, now=shown.now, providers=shown.providers)
    return findings.find(done, base=raw, settings=shown.settings)


def _told(compared: Comparison, shown: Scene, verdict: options.Verdict) -> Comparison:
    """The three groups without what is suppressed; idle suppressions are told once."""
    everything = (*compared.introduced, *compared.unchanged)
    kept = telling.told(everything, shown, verdict, idle=True)
    located = {_key(item): item for item in kept}
    introduced = {_key(item) for item in compared.introduced}
    unchanged = {_key(item) for item in compared.unchanged}
    return Comparison(
        tuple(item for key, item in located.items() if key in introduced or key not in unchanged),
        telling.told(compared.fixed, shown, verdict),
        tuple(item for key, item in located.items() if key in unchanged),
    )


def _key(finding: Finding) -> tuple[Any, ...]:
    return (finding.code, finding.refs, finding.path, finding.args, finding.difference)


def _groups(compared: Comparison) -> Iterator[tuple[str, str, tuple[Finding, ...]]]:
    for name, title in TITLES:
        yield name, title, getattr(compared, name)


def _as_json(compared: Comparison, shown: Scene) -> dict[str, Any]:
    if not _compares(shown):
        return {"findings": [output.finding_json(item) for item in compared.introduced]}
    return {
        name: [output.finding_json(item) for item in found] for name, _, found in _groups(compared)
    }


def _lines(compared: Comparison, shown: Scene, paint: output.Paint) -> Iterator[str]:
    if not _compares(shown):
        yield from _findings(compared.introduced, paint, "")
        yield _closing(compared.introduced)
        return
    for _, title, found in _groups(compared):
        if found:
            yield paint("bold", f"{title}:")
            yield from _findings(found, paint, "  ")
    yield ", ".join(_counted(name, found) for name, _, found in _groups(compared))


def _findings(found: tuple[Finding, ...], paint: output.Paint, indent: str) -> Iterator[str]:
    return (f"{indent}{line}" for line in output.findings_lines(found, paint))


def _counted(name: str, found: tuple[Finding, ...]) -> str:
    """``2 unchanged (1 error, 1 warning, 0 infos)``"""
    number = len(report.grouped(found))
    return f"{number} {name} ({_closing(found)})" if number else f"0 {name}"


def _closing(found: tuple[Finding, ...]) -> str:
    """``1 error, 2 warnings, 0 infos``"""
    return ", ".join(
        output.plural(report.count(found, level), level) for level in reversed(report.LEVELS)
    )

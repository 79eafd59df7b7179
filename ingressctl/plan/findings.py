"""Everything that `check` finds, and what `preview` and `render` add to their output.

Findings of the cascade itself (what a reconcile, a provider or settling had to say), of
admission, and of the checks of plan/checks. Sorted, so that one input has one output.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator

from ingressctl.api.refs import Ref
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import admitting, report
from ingressctl.plan.cascade import Cascade
from ingressctl.plan.checks import (
    backends,
    canaries,
    configuration,
    gateways,
    graphs,
    inputs,
    listeners,
    names,
    picture,
    shadowing,
    timeouts,
    visibility,
)

Check = Callable[[picture.Picture], Iterable[Finding]]
CHECKS: tuple[Check, ...] = (
    inputs.find,
    configuration.find,
    names.find,
    visibility.find,
    canaries.find,
    timeouts.find,
    gateways.find,
    listeners.find,
    shadowing.find,
    backends.find,
    graphs.find,
)


def find(cascade: Cascade, *, base: World, settings: Settings) -> tuple[Finding, ...]:
    """Every finding of a cascade over `base`, once, by code and object."""
    found = [finding for step in cascade.steps for finding in step.findings]
    found += _admission(base, settings)
    found += _checked(cascade, base, settings)
    found += _untold(cascade, found)
    return tuple(sorted(dict.fromkeys(found), key=order))


def about(
    refs: Container[Ref], cascade: Cascade, *, base: World, settings: Settings
) -> tuple[Finding, ...]:
    """What the checks find about some objects, or about what these make."""
    makers = picture.makers(cascade)
    found = (
        finding
        for finding in _checked(cascade, base, settings)
        if any(ref in refs or makers.get(ref) in refs for ref in finding.refs)
    )
    return tuple(sorted(dict.fromkeys(found), key=order))


def _checked(cascade: Cascade, base: World, settings: Settings) -> Iterator[Finding]:
    seen = picture.of(cascade, base=base, settings=settings)
    return (finding for check in CHECKS for finding in check(seen))


def _untold(cascade: Cascade, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """What could not be derived, where nothing that was found says so."""
    said = tuple(found)
    return tuple(
        Finding.of("IC1304", step.ref, path=fault.path, text=fault.message)
        for step in cascade.steps
        for fault in step.faults
        if not report.is_told(step.ref, fault, said)
    )


def _admission(base: World, settings: Settings) -> Iterator[Finding]:
    for obj in base:
        yield from admitting.found(obj, world=base, settings=settings)


def order(finding: Finding) -> tuple[str, tuple[str, ...], str, str]:
    """The order in which findings are shown."""
    return (finding.code, tuple(map(str, finding.refs)), finding.path, str(finding.args))

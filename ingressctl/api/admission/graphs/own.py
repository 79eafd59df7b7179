"""The fields that KServe does not have: targets, limits, retries, fallback, headers.

Nobody can have stored a wrong one through the reference, so no switch turns this off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingressctl.api import dns, header_patterns
from ingressctl.api.admission.graphs import places, shapes, steps
from ingressctl.api.admission.graphs.places import Place
from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.inferencegraphs import Fallback, Retries, Spec

PROTOCOLS = ("", "http", "kubernetes.io/h2c")
MAX_ATTEMPTS = 10

_DURATION = re.compile(r"([0-9]{1,5}(h|m|s|ms)){1,4}")


def refusals(spec: Spec) -> Iterator[Refusal]:
    """Faults of the graph's own fields and of those of its steps."""
    yield from _patterns(spec.requestHeaders, "spec.requestHeaders")
    yield from _patterns(spec.responseHeaders, "spec.responseHeaders")
    yield from _at_least_one(spec.maxRequestBytes, "spec.maxRequestBytes")
    for place in places.steps(spec):
        yield from _step(place)


def _step(place: Place) -> Iterator[Refusal]:
    step, path = place.step, place.path
    yield from _graph_name(step.graphName, f"{path}.graphName", str(place))
    yield from _path(place)
    yield from _duration(step.timeout, f"{path}.timeout")
    yield from _at_least_one(step.concurrency, f"{path}.concurrency")
    yield from _patterns(step.requestHeaders, f"{path}.requestHeaders")
    yield from _patterns(step.responseHeaders, f"{path}.responseHeaders")
    if step.appProtocol not in PROTOCOLS:
        yield Refusal(
            f"{place} has the appProtocol {step.appProtocol!r}, which is not known",
            f"{path}.appProtocol",
            "write kubernetes.io/h2c for HTTP/2 without TLS, or nothing for HTTP/1.1",
        )
    if step.retries is not None:
        yield from _retries(step.retries, f"{path}.retries")
    if step.fallback is not None:
        yield from _fallback(step.fallback, f"{path}.fallback", str(place))


def _graph_name(name: str, path: str, who: str) -> Iterator[Refusal]:
    fault = dns.label_fault(name) if name else ""
    if fault:
        yield Refusal(
            f"{who} names the graph {name!r}, and no graph can be called so: {fault}",
            path,
            "write the name of an InferenceGraph of this namespace",
        )


def _path(place: Place) -> Iterator[Refusal]:
    """The path belongs to a service by name: a URL has its own, and a node has none."""
    step, field = place.step, f"{place.path}.path"
    if not step.path:
        return
    if not step.path.startswith("/") or any(character <= " " for character in step.path):
        yield Refusal(
            f"{place} has the path {step.path!r}: a path begins with / and has no spaces",
            field,
            "write a path such as /v1/chat/completions",
        )
    if not step.serviceName and not step.graphName:
        yield Refusal(
            f"{place} has a path, but its target is not a service by name",
            field,
            "write the path into serviceUrl" if step.serviceUrl else "remove it",
        )


def _duration(text: str, path: str) -> Iterator[Refusal]:
    if text and (not _DURATION.fullmatch(text) or not re.search("[1-9]", text)):
        yield Refusal(
            f"{path} is {text!r}, which is no duration above 0",
            path,
            shapes.duration(path.rpartition(".")[2], text),
        )


def _at_least_one(number: int | None, path: str) -> Iterator[Refusal]:
    if number is not None and number < 1:
        yield Refusal(f"{path} must be 1 or more, it is {number}", path, "write 1 or more")


def _patterns(patterns: list[str] | None, path: str) -> Iterator[Refusal]:
    for index, pattern in enumerate(patterns or ()):
        fault = header_patterns.fault(pattern) if pattern else "it is empty"
        if fault:
            yield Refusal(
                f"{path}[{index}] is no pattern for header names: {fault}",
                f"{path}[{index}]",
                "write a name such as Authorization, or a regular expression such as X-Trace-.*",
            )


def _retries(retries: Retries, path: str) -> Iterator[Refusal]:
    if not 0 <= retries.attempts <= MAX_ATTEMPTS:
        yield Refusal(
            f"{path}.attempts must be 0 to {MAX_ATTEMPTS}, it is {retries.attempts}",
            f"{path}.attempts",
            f"write a whole number from 0 to {MAX_ATTEMPTS}",
        )
    yield from _duration(retries.backoff, f"{path}.backoff")
    for index, status in enumerate(retries.statuses or ()):
        if not 400 <= status <= 599:
            yield Refusal(
                f"{path}.statuses[{index}] is {status}: only failures are tried again",
                f"{path}.statuses[{index}]",
                "write a status from 400 to 599, such as 503",
            )


def _fallback(fallback: Fallback, path: str, who: str) -> Iterator[Refusal]:
    given = [field for field in places.TARGETS if getattr(fallback, field)]
    resolved = fallback.serviceUrl and (fallback.serviceName or fallback.graphName)
    if len(given) != 1 and not (resolved and len(given) == 2):
        yield Refusal(
            f"the fallback of {who} must have one target, it has {len(given)}",
            path,
            f"write one of {', '.join(places.TARGETS)}",
        )
    if fallback.serviceUrl:
        yield from steps.url(fallback.serviceUrl, f"{path}.serviceUrl", f"the fallback of {who}")
    if fallback.serviceName:
        yield from steps.service(
            fallback.serviceName, f"{path}.serviceName", f"the fallback of {who}"
        )
    yield from _graph_name(fallback.graphName, f"{path}.graphName", f"the fallback of {who}")

"""What a person should know of the way a request takes, beside where it ends."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.refs import Ref
from ingressctl.core.model import External, Service
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Hop, NoRoute, Table
from ingressctl.core.world import Reads
from ingressctl.plan import limits, policies
from ingressctl.plan.entries import Doors
from ingressctl.plan.explanation import Attempt, leaves, walk


def of_answer(table: Table, entry: str, answer: Hop | NoRoute) -> Iterator[Finding]:
    """Findings of the table that are about this entry or an object that was looked at."""
    looked = {loss.source for loss in answer.losers}
    looked |= {answer.rule.source} if isinstance(answer, Hop) else set()
    for finding in table.findings:
        about = finding.refs[0]
        if about in looked or f"{about.namespace}/{about.name}" == entry:
            yield finding
    for loss in answer.losers:
        if loss.broken:
            yield Finding.of("IC3305", loss.source, path=loss.rule, text=loss.reason)
    if isinstance(answer, Hop) and answer.rule.note:
        yield Finding.of("IC3304", answer.rule.source, what=answer.rule.note)


def of_way(attempt: Attempt, doors: Doors) -> Iterator[Finding]:
    """Policies, time limits and retries from the first entry to the last backend."""
    for hop in walk(attempt):
        yield from _of_hop(hop, doors)
    for leaf in leaves(attempt):
        yield from limits.findings(leaf)
    knative = any(hop.entry in doors.private for hop in walk(attempt)) or any(
        doors.behind_target(branch.split.target) for branch in attempt.branches
    )
    for namespace in sorted(_namespaces(attempt, doors.reads)):
        yield from policies.at_backend(
            namespace, attempt.request, knative=knative, reads=doors.reads
        )


def _of_hop(hop: Attempt, doors: Doors) -> Iterator[Finding]:
    if hop.entry not in doors.private or _is_known(hop.entry, doors.reads):
        yield from policies.at_gateway(hop.entry, hop.request, reads=doors.reads)
    if isinstance(hop.answer, Hop) and hop.answer.rule.retries and hop.branches:
        rule = hop.answer.rule
        yield Finding.of(
            "IC3311",
            rule.source,
            entry=hop.entry,
            method=hop.request.method,
            attempts=rule.retries,
            rule=rule.name,
        )


def _is_known(entry: str, reads: Reads) -> bool:
    """Whether the labels of a gateway's pods are known; those of a public one are guessed."""
    namespace, _, name = entry.partition("/")
    return reads.get(Ref("networking.istio.io", "Gateway", namespace, name)) is not None


def _namespaces(attempt: Attempt, reads: Reads) -> set[str]:
    """Namespaces of the backends, also of one that only the Host names so far."""
    suffix = f".svc.{reads.settings.cluster_domain}"
    found: set[str] = set()
    for leaf in leaves(attempt):
        if leaf.branch is None:
            continue
        target, host = leaf.branch.split.target, leaf.branch.host
        if host.endswith(suffix):
            found.add(host.removesuffix(suffix).rpartition(".")[2])
        elif isinstance(target, Service):
            found.add(target.namespace)
        elif isinstance(target, External):
            found.add(target.host.removesuffix(suffix).rpartition(".")[2])
    return found

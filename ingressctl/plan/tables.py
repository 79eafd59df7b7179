"""Tables of the README that follow from tables of the code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ingressctl.core import differences, findings
from ingressctl.core.ports import EVERYTHING, Provider
from ingressctl.plan import rights

CAPABILITIES: Mapping[str, str] = {
    "weights": "canary weights",
    "path-rewrite": "path template (prefix cut off)",
    "exact-path": "exact paths (`:explain` of one model)",
    "regex-path": "path expressions (`:explain` of any model)",
    "regex-rewrite": "rewrites by expression",
    "header-match": "header matches (gRPC beside REST)",
    "method-match": "method matches",
    "grpc": "gRPC to the backend",
    "set-headers": "request headers set",
    "split-headers": "headers by backend",
    "host-rewrite": "Host rewritten",
    "timeout": "time limit of a rule",
    "retries-off": "retries switched off",
    "wildcard-host": "wildcard hosts",
    "external-target": "targets in other namespaces",
    "local-entry": "in-cluster gateway",
    "mesh": "mesh sidecars",
}
"""What each capability means to a person, the ones asked for most first."""


def differences_table() -> str:
    """Where ingressctl differs from KServe, and why: a row a switch."""
    return _differences(differences.TABLE)


def always_table() -> str:
    """What is different under every `compat`."""
    return _differences(differences.ALWAYS)


def _differences(table: Iterable[differences.Difference]) -> str:
    rows = [
        (f"`{row.id}`", ", ".join(row.ids[1:]), row.reference, row.better, row.why) for row in table
    ]
    return markdown(("id", "also", "the reference", "ingressctl", "why"), rows)


def providers_table(providers: Mapping[str, Provider]) -> str:
    """What each provider can express; what it cannot is finding IC4001."""
    names = sorted(providers)
    rows = [
        (text, *("yes" if key in providers[name].capabilities else "-" for name in names))
        for key, text in CAPABILITIES.items()
    ]
    return markdown(("", *(f"`{name}`" for name in names)), rows)


PLACES: Mapping[rights.Place, str] = {
    "everywhere": "where models are",
    "config": "namespace of KServe's configuration",
    "knative": "`knative-serving`",
    "own": "its own namespace",
}


def rights_table(providers: Mapping[str, Provider]) -> str:
    """What each role of the chart allows: a row a role."""
    rows = [
        (
            f"`{role.name}`",
            PLACES[role.place],
            "; ".join(_resource(rule) for rule in role.rules if rights.READ[0] in rule.verbs),
            "; ".join(_changes(rule) for rule in role.rules if _changing(rule)),
        )
        for role in rights.roles(providers.values())
    ]
    return markdown(("role", "holds in", "reads", "writes"), rows)


def _changing(rule: rights.Rule) -> list[str]:
    return [verb for verb in rule.verbs if verb not in rights.READ]


def _changes(rule: rights.Rule) -> str:
    return f"{_resource(rule)}: {', '.join(_changing(rule))}"


def _resource(rule: rights.Rule) -> str:
    """As kubectl takes it; with its group where a resource of the core has the same name."""
    shared = rule.group and rule.resource == "services"
    named = f" `{'`, `'.join(rule.names)}`" if rule.names else ""
    return f"{rule.resource}.{rule.group}{named}" if shared else f"{rule.resource}{named}"


def reports_table() -> str:
    """Field report to finding codes."""
    by_report: dict[str, list[str]] = {}
    for row in findings.TABLE.values():
        for report in row.reports:
            by_report.setdefault(report, []).append(f"`{row.code}` {row.title}")
    rows = [
        (report, "; ".join(sorted(by_report[report])))
        for report in sorted(by_report, key=lambda report: int(report[1:]))
    ]
    return markdown(("report", "found as"), rows)


def markdown(head: tuple[str, ...], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; pipes in cells are escaped."""
    lines = [_line(head), _line("---" for _ in head)]
    return "\n".join([*lines, *(_line(row) for row in rows)]) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def undescribed() -> frozenset[str]:
    """Capabilities that the table forgot."""
    return EVERYTHING - set(CAPABILITIES)

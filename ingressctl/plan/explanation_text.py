"""An explanation as text for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingressctl.core import findings
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Hop, Loss, NoRoute
from ingressctl.plan import limits
from ingressctl.plan.explanation import Attempt, Branch, Explanation, leaves

STEP = "  "


def render_text(explanation: Explanation, *, trace: bool = False) -> str:
    """The way of the request, indented by hop; with `trace` why other rules lost."""
    request = explanation.request
    lines = [f"{request.method} {request.scheme}://{request.host}{request.path}", ""]
    if explanation.private:
        lines += ["Only from inside the cluster: no public gateway admits this host.", ""]
    if not explanation.attempts:
        lines += ["No gateway is known that could take it.", ""]
    for attempt in explanation.attempts:
        lines += [*_attempt(attempt, "", trace), *_end(attempt), ""]
    lines += [*explanation.hints, *([""] if explanation.hints else [])]
    lines += [line for finding in explanation.findings for line in _finding(finding)]
    return "\n".join(lines).rstrip() + "\n"


def _attempt(attempt: Attempt, indent: str, trace: bool) -> Iterator[str]:
    places = ", ".join((attempt.entry or "any entry", *attempt.also))
    yield f"{indent}at {places} ({attempt.provider})"
    inner = indent + STEP
    answer = attempt.answer
    if isinstance(answer, NoRoute):
        yield f"{inner}{answer.status}: {_why_none(answer)}"
    else:
        yield from (f"{inner}{line}" for line in _hop(attempt, answer))
        for branch in attempt.branches:
            yield from _branch(branch, inner, trace)
    if trace:
        yield from (f"{inner}not: {line}" for line in map(_loss, answer.losers))


def _why_none(answer: NoRoute) -> str:
    if answer.virtual_host:
        return f"no rule of host {answer.virtual_host} matches"
    reasons = dict.fromkeys(loss.reason for loss in answer.losers)
    return "; ".join(reasons) or "no route has this host"


def _hop(attempt: Attempt, hop: Hop) -> Iterator[str]:
    rule, request = hop.rule, attempt.request
    yield f"rule     {rule.source} {rule.name}, host {hop.virtual_host}"
    if hop.host != request.host:
        yield f"host     {request.host} -> {hop.host}"
    if hop.path != request.path:
        yield f"path     {request.path} -> {hop.path}"
    for name, value in hop.headers.items():
        if request.headers.get(name) != value:
            yield f"header   {name}: {value}"
    if rule.status:
        yield f"answers  {rule.status}"
    elif attempt.limit is not None:
        yield f"limit    {attempt.limit.text}"


def _branch(branch: Branch, indent: str, trace: bool) -> Iterator[str]:
    yield f"{indent}{_percent(branch.share):>5}  {branch.backend}{_remark(branch)}"
    if branch.then is not None:
        yield from _attempt(branch.then, indent + STEP * 2, trace)


def _remark(branch: Branch) -> str:
    if branch.status:
        return f"  answers {branch.status}: {branch.reason}"
    return f"  ({branch.reason})" if branch.reason else ""


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _end(attempt: Attempt) -> Iterator[str]:
    """The limit that ends a request first, where several hops have one."""
    found = {limits.effective(leaf) for leaf in leaves(attempt)}
    for limit in sorted((item for item in found if item), key=lambda item: item.where):
        yield f"{STEP}ends at the latest after {limit.text}: {limit.where}"


def _loss(loss: Loss) -> str:
    return f"{loss.source} {loss.rule}: {loss.reason}".replace(" :", ":")


def _finding(finding: Finding) -> Iterator[str]:
    level = findings.level(finding)
    subject = f"({finding.refs[0]}) " if finding.refs else ""
    yield f"{level} [{finding.code}] {subject}{findings.message(finding)}"
    remedy = findings.remedy(finding)
    if remedy:
        yield f"{STEP}help: {remedy}"


def as_json(explanation: Explanation) -> dict[str, Any]:
    """The same as plain values; losing rules are always there."""
    request = explanation.request
    return {
        "request": {
            "method": request.method,
            "scheme": request.scheme,
            "host": request.host,
            "path": request.path,
            "headers": dict(request.headers),
        },
        "private": explanation.private,
        "attempts": [_attempt_json(attempt) for attempt in explanation.attempts],
        "hints": list(explanation.hints),
        "findings": [_finding_json(finding) for finding in explanation.findings],
    }


def _attempt_json(attempt: Attempt) -> dict[str, Any]:
    answer = attempt.answer
    body: dict[str, Any] = {
        "entry": attempt.entry,
        "also": list(attempt.also),
        "provider": attempt.provider,
        "status": attempt.status or None,
        "virtualHost": answer.virtual_host or None,
        "losers": [
            {"object": str(loss.source), "rule": loss.rule, "reason": loss.reason}
            for loss in answer.losers
        ],
    }
    if isinstance(answer, Hop):
        body |= {
            "object": str(answer.rule.source),
            "rule": answer.rule.name,
            "host": answer.host,
            "path": answer.path,
            "headers": dict(answer.headers),
            "limit": attempt.limit.text if attempt.limit else None,
            "limitSeconds": attempt.limit.seconds if attempt.limit else None,
            "backends": [_branch_json(branch) for branch in attempt.branches],
        }
    return body


def _branch_json(branch: Branch) -> dict[str, Any]:
    return {
        "backend": branch.backend,
        "share": branch.share,
        "role": branch.split.role,
        "host": branch.host,
        "headers": dict(branch.headers),
        "status": branch.status or None,
        "reason": branch.reason or None,
        "limitSeconds": branch.limit.seconds if branch.limit else None,
        "then": _attempt_json(branch.then) if branch.then else None,
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "level": findings.level(finding),
        "objects": [str(ref) for ref in finding.refs],
        "message": findings.message(finding),
        "help": findings.remedy(finding) or None,
    }

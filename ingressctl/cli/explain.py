"""``ingressctl explain``: where a request goes, and why."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer

from ingressctl.api import dns
from ingressctl.api.inferenceservices import ViewFault
from ingressctl.api.refs import Raw
from ingressctl.cli import options, scene, telling, walks
from ingressctl.cli.output import Printer, safe
from ingressctl.cli.problems import CommandFault
from ingressctl.cli.scene import Scene
from ingressctl.core.table import Request, Table
from ingressctl.core.world import World
from ingressctl.dataplane.router.ports import Target
from ingressctl.dataplane.router.walking import Graph, Stub, Walk
from ingressctl.plan import addressing, explain, graphs, missing, written

_TOKEN = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
"""What a method or the name of a header may be (RFC 9110 5.6.2)."""

_HOST = re.compile(r"[^\x00-\x20\x7f/?#@\\<>^`{|}\"]+")
"""What a Host header may be; more than names that DNS has, for gateways take more."""


@options.command
def command(
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="What is asked for: http://HOST/PATH.")],
    header: Annotated[
        list[str],
        typer.Option("-H", "--header", metavar="NAME:VALUE", help="A header (repeat)."),
    ] = [],  # noqa: B006 - typer copies it
    method: Annotated[
        str,
        typer.Option(
            "-X", "--method", metavar="METHOD", help="Method [default: GET, POST with -d]."
        ),
    ] = "",
    body: walks.Body,
    via: Annotated[
        str,
        typer.Option(
            "--via",
            metavar="ENTRY",
            help="Where the request comes in: a gateway NAMESPACE/NAME, mesh, or an ingress "
            "class [default: every public entry that takes the host].",
        ),
    ] = "",
    trace: Annotated[bool, typer.Option("--trace", help="Tell why the other rules lost.")] = False,
    form: Annotated[
        Literal["text", "json"], typer.Option("-o", "--output", help="Form of the output.")
    ] = "text",
    given: options.Inputs,
    rules: options.Rules,
    chosen: options.Providers,
    base: options.Base,
    verdict: options.Verdict,
    talk: options.Talk,
) -> None:
    """Say where a request would go, and why.

    What is evaluated is what was emitted and is read back, hop by hop down to the Service or
    revision: entry, rule, rewritten host and path, share of each backend, time limits. Files
    are optional; routes that somebody else wrote count as well.

    With -d a request that comes to an InferenceGraph is taken through its steps by the router's
    own engine, against stubs: what each step got and gave, which were left out and why, and the
    status in the end. Nothing is sent.

    Ends with 0 whatever the answer is, a 404 as well, with 1 if a finding is as grave as
    --fail-on, and with 2 if the URL is none or an object of the files would be refused or
    cannot be derived.

    Examples:
      ingressctl explain http://model-default.example.com/v1/models/model:predict -f model.yaml
      ingressctl explain http://model.example.com/ --trace               # needs a kubeconfig
      ingressctl explain http://model.example.com/ -H 'x-user: me' -X POST -f models/ -R
      ingressctl explain http://model.default/ --via mesh -o json --against dump/
      ingressctl explain http://graph-ns.example.com/ -f graph.yaml -d '{"instances": [[1]]}'
      ingressctl explain http://graph-ns.example.com/ -f graph.yaml -d @b.json --answer dogs=503
    """
    with telling.guarded(talk) as printer:
        request = parse_request(url, header, method or ("GET" if body.data is None else "POST"))
        trial = walks.trial(body)
        shown = scene.build(given, rules, chosen, base, printer, need_files=False)
        made = _derived(shown, request)
        told = _asked(request, via, made.world, shown, made.carried)
        walked = _walked(told, made.world, shown, trial) if trial else {}
        heard = (*telling.of_inputs(shown), *made.refused, *made.underived)
        said = telling.told(heard, shown, verdict)
        printer.findings(said, bar=verdict.fail_on)
        broken = telling.faults(made.faults, said, shown, printer)
        if made.is_incomplete and told.missed:
            printer.warn("warning: no answer is printed, for what may take the request is missing")
        else:
            if trial and not walked and not told.missed:
                printer.warn("warning: -d is for graphs, and no graph is behind this host")
            _print(told, walked, printer, form, trace=trace)
        telling.end(
            fault=broken or made.is_incomplete,
            differs=False,
            found=telling.told((*heard, *told.findings), shown, verdict),
            verdict=verdict,
        )


def _print(
    answer: explain.Explanation,
    walked: Mapping[str, Walk],
    printer: Printer,
    form: Literal["text", "json"],
    *,
    trace: bool,
) -> None:
    if form == "json":
        graphs_told = [walks.as_json(name, walk) for name, walk in walked.items()]
        printer.json({**explain.as_json(answer), **({"walks": graphs_told} if walked else {})})
        return
    printer.text(safe(explain.render_text(answer, trace=trace)))
    for name, walk in walked.items():
        printer.data(("", *walks.lines(name, walk, trace=trace)))


def _walked(
    answer: explain.Explanation, world: World, shown: Scene, trial: walks.Trial
) -> dict[str, Walk]:
    """The request through each graph that it may come to, and through those that are its
    steps. Raises CommandFault."""

    def ready(obj: Raw) -> graphs.Runnable:
        return graphs.runnable(obj, world, shown.settings, shown.providers)

    compat = shown.settings.compat

    @cache
    def behind(host: str) -> Graph | Stub | None:
        obj = graphs.of_host(host, world, shown.settings)
        try:
            found = None if obj is None else ready(obj)
        except ViewFault:  # what it does cannot be said: it answers as any service
            return None
        if found is None:
            return None
        return Stub(0) if found.stopped else walks.graph(found, compat)

    def at(target: Target) -> Graph | Stub | None:
        """Routers listen for HTTP at the port of their Service."""
        if target.tls or target.port != addressing.HTTP_PORT:
            return None
        return behind(target.host)

    met = [walks.graph(ready(obj), compat) for obj in graphs.met(answer, world)]
    if met:
        walks.check_names(trial.answers, met, at)
    return {
        graph.name: walks.walk(graph, answer.request, trial, compat=compat, behind=at)
        for graph in met
    }


def _asked(
    request: Request, via: str, world: World, shown: Scene, carried: tuple[Table, ...]
) -> explain.Explanation:
    """The answer, with hints where nothing takes the request. Raises CommandFault."""
    try:
        answer = explain.explain(
            request, world, shown.settings, via=via, providers=shown.providers, carried=carried
        )
    except explain.UnknownEntry as fault:
        raise CommandFault.of(f"--via: {fault}", "name one of them, or leave --via out") from None
    if not answer.missed:
        return answer
    hints = missing.hints(
        request, shown.laid, shown.settings, now=shown.now, providers=shown.providers
    )
    return replace(answer, hints=hints)


def parse_request(url: str, headers: list[str], method: str) -> Request:
    """A request as a client would send it. Raises CommandFault."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port or 0
    except ValueError as fault:
        raise CommandFault.of(f"{url!r} is not a URL: {fault}", "write http://HOST/PATH") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandFault.of(f"{url!r} is not a URL of http or https", "write http://HOST/PATH")
    if not _TOKEN.fullmatch(method):
        raise CommandFault.of(f"-X cannot be {method!r}", "write a method such as GET")
    strange = _host_fault(parts.hostname)
    if strange:
        raise CommandFault.of(
            f"{parts.hostname!r} can be no host: {strange}",
            "write http://HOST/PATH with a name such as model.example.com",
        )
    given = dict(_header(text) for text in headers)
    host = given.pop("host", parts.netloc.rpartition("@")[2])
    if not _HOST.fullmatch(host):
        raise CommandFault.of(f"{host!r} can be no host", "write a name such as model.example.com")
    path = parts.path or "/"
    return Request(
        method.upper(),
        host,
        f"{path}?{parts.query}" if parts.query else path,
        given,
        scheme="https" if parts.scheme == "https" else "http",
        port=port,
    )


def _host_fault(host: str) -> str:
    """Why nobody can ask this host; "" for an IP address and a name of DNS."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return dns.subdomain_fault(host.removesuffix("."))
    return ""


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not _TOKEN.fullmatch(name.strip()) or not value.isprintable():
        raise CommandFault.of(f"-H cannot be {text!r}", "write -H 'name: value'")
    return name.strip().lower(), value.strip()


def _derived(shown: Scene, request: Request) -> written.Derived:
    """What follows from the written sources that may concern the request."""
    kept = explain.relevant(
        (item.ref for item in shown.laid.written), request, shown.laid.world, shown.settings
    )
    narrowed = tuple(item for item in shown.laid.written if item.ref in kept)
    return written.derive(
        replace(shown.laid, written=narrowed),
        shown.settings,
        now=shown.now,
        providers=shown.providers,
    )

"""``ingressctl router``: the router of one InferenceGraph."""

from __future__ import annotations

import functools
import gc
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ingressctl.cli import options
from ingressctl.cli.problems import FAULT, CommandFault, Problem

if TYPE_CHECKING:
    from ingressctl.core.differences import Compat
    from ingressctl.dataplane.router.serving import Plan


@dataclass(frozen=True, slots=True)
class Graph:
    """What is served."""

    graph_json: Annotated[
        str, typer.Option("--graph-json", metavar="JSON", help="The spec of the graph.")
    ] = ""
    graph_file: Annotated[
        str,
        typer.Option(
            "--graph-file",
            metavar="FILE",
            help="The graph as JSON or YAML, up to 4 MiB; a change of the file is served without "
            "a restart.",
        ),
    ] = ""
    compat: Annotated[
        str,
        typer.Option(
            "--compat",
            metavar="COMPAT",
            autocompletion=options.values("better", "kserve"),
            help="better or kserve, with single differences added or removed: kserve,+IG-D6 or "
            "better,-IG-D21; see version --differences.",
        ),
    ] = "better"


@dataclass(frozen=True, slots=True)
class Process:
    """How the router runs."""

    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="For requests.")
    ] = 8080
    metrics_port: Annotated[
        int,
        typer.Option("--metrics-port", metavar="PORT", min=0, max=65535, help="/metrics; 0: none."),
    ] = 9095
    workers: Annotated[
        int,
        typer.Option("--workers", metavar="N", min=1, max=64, help="Processes on the port."),
    ] = 1
    max_request_bytes: Annotated[
        int,
        typer.Option(
            "--max-request-bytes",
            metavar="BYTES",
            min=1,
            help="The largest body of a request, where the graph says nothing.",
        ),
    ] = 100 * 1024 * 1024
    max_in_flight: Annotated[
        int,
        typer.Option(
            "--max-in-flight",
            metavar="N",
            min=0,
            help="Requests that run at a time in a process; more wait in order. "
            "0: from 16 on, as many as it can carry.",
        ),
    ] = 0
    drain_seconds: Annotated[
        float | None,
        typer.Option(
            "--drain-seconds",
            metavar="SECONDS",
            min=0.0,
            help="How long it serves on, unready, after SIGTERM [default: 20; under kserve 30].",
        ),
    ] = None
    access_log: Annotated[
        bool,
        typer.Option(
            "--access-log",
            help="A line of JSON for each request on stdout, with the cause where no step has "
            "answered.",
        ),
    ] = False
    log_format: options.LogFormat = "json"
    log_level: options.LogLevel = "info"


@options.command
def command(*, graph: Graph, process: Process, talk: options.Talk) -> None:
    """Route requests through an InferenceGraph.

    Answers POST on the port by calling the steps of the graph; /readyz, /livez and /healthz
    are its own. A graph with faults is refused at the start, with a line for each. SIGTERM:
    /readyz fails at once, requests are served for a while, and what runs then is finished. A
    second SIGTERM ends the while at once, a third one cuts off what runs.

    PROPAGATE_HEADERS names the headers of clients that reach the steps, as a JSON list of
    regular expressions, or as KServe writes it, with commas between.

    Examples:
      ingressctl router --graph-file graph.yaml --port 8080
      ingressctl router --graph-json "$(cat graph.json)" --access-log
      PROPAGATE_HEADERS='["x-tenant"]' ingressctl router --graph-file graph.json --workers 2
    """
    try:
        plan = _plan(graph, process)
        code = _serve(plan, process)
    except CommandFault as fault:
        for problem in fault.problems:
            sys.stderr.write(f"error: {problem.cause}\n  help: {problem.remedy}\n")
        raise typer.Exit(FAULT) from None
    raise typer.Exit(code)


def _plan(graph: Graph, process: Process) -> Plan:
    """What the flags mean. Raises CommandFault."""
    from ingressctl.dataplane.router import engine, graphs  # noqa: PLC0415
    from ingressctl.dataplane.router.serving import Plan  # noqa: PLC0415

    compat = _compat(graph.compat)
    try:
        read = graphs.parse(_text(graph), compat, name=graph.graph_file or "--graph-json")
    except graphs.Unfit as unfit:
        raise CommandFault(Problem(text, remedy) for text, remedy in unfit.faults) from None
    found = patterns(os.environ.get("PROPAGATE_HEADERS"), compat)
    drain = process.drain_seconds
    return Plan(
        spec=read.spec,
        unknown=read.unknown,
        propagate=tuple(found or ()),
        build=functools.partial(engine.build, propagate=found, compat=compat),
        compat=compat,
        file=Path(graph.graph_file) if graph.graph_file else None,
        max_request_bytes=process.max_request_bytes,
        max_in_flight=process.max_in_flight,
        drain_seconds=(20.0 if compat.differs("IG-D26") else 30.0) if drain is None else drain,
        access_log=process.access_log,
    )


def patterns(text: str | None, compat: Compat) -> list[str] | None:
    """The headers of clients that reach the steps, by PROPAGATE_HEADERS. Raises CommandFault."""
    from ingressctl.dataplane.router import propagation  # noqa: PLC0415

    try:
        return propagation.of_environment(text, compat)
    except propagation.NoList as fault:
        raise CommandFault.of(
            f"PROPAGATE_HEADERS is no JSON list of texts: {fault}",
            """write a list such as ["x-tenant", "x-b3-.*"], or names with commas between""",
        ) from None


def _compat(text: str) -> Compat:
    """The differences that are on. Raises CommandFault."""
    from ingressctl.core.differences import Compat, UnknownDifference  # noqa: PLC0415

    try:
        return Compat.parse(text)
    except UnknownDifference as fault:
        raise CommandFault.of(f"--compat: {fault}", "see version --differences") from None


def _text(graph: Graph) -> bytes:
    """The graph as it was given. Raises CommandFault, and Unfit."""
    from ingressctl.dataplane.router.graphs import GraphFile  # noqa: PLC0415

    if bool(graph.graph_json) == bool(graph.graph_file):
        raise CommandFault.of(
            "the graph must be given once", "write --graph-json JSON or --graph-file FILE"
        )
    if graph.graph_json:
        return graph.graph_json.encode()
    try:
        return GraphFile(Path(graph.graph_file)).read()
    except OSError as fault:
        raise CommandFault.of(
            f"{graph.graph_file} cannot be read: {fault.strerror}", "correct --graph-file"
        ) from None


def _serve(plan: Plan, process: Process) -> int:
    """Until a signal. Raises CommandFault."""
    from ingressctl.cluster import logs  # noqa: PLC0415 - each only where it is needed
    from ingressctl.dataplane.router import graphs, propagation, workers  # noqa: PLC0415

    logs.configure(process.log_format, process.log_level)
    graphs.warn(plan.unknown)
    propagation.warn(plan.propagate, plan.compat)
    gc.collect()
    gc.freeze()  # nothing of the start is garbage
    gc.set_threshold(10_000, 10, 10)  # requests leave hardly any circles
    gc.enable()
    try:
        return workers.serve(
            plan,
            port=process.port,
            metrics_port=process.metrics_port,
            workers=process.workers,
        )
    except workers.PortTaken as fault:
        raise CommandFault.of(
            str(fault), "choose another one with --port or --metrics-port"
        ) from None

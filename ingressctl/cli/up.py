"""``ingressctl up``: serve the routes of files on this machine."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import signal
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

import typer

from ingressctl.cli import inputs, options, output, scene, telling
from ingressctl.cli.output import Printer
from ingressctl.cli.problems import CommandFault, Problem
from ingressctl.providers.envoy import dumping
from ingressctl.proxy import backends, envoy
from ingressctl.proxy.local import Input
from ingressctl.proxy.up import Options, Reason, Refused, Up

ENVOY = options.Providers(provider="envoy")
NOTHING = options.Base(against="none")


@options.command
def command(
    *,
    given: options.Inputs,
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="PORT", min=0, max=65535, help="Where to listen; 0 takes a free one."
        ),
    ] = 8080,
    address: Annotated[
        str, typer.Option("--address", metavar="IP", help="Address to listen at.")
    ] = "127.0.0.1",
    backend: Annotated[
        list[str],
        typer.Option(
            "--backend",
            metavar="SERVICE[.NS]=HOST:PORT",
            help="Where a Service is served (repeat).",
        ),
    ] = [],  # noqa: B006 - typer copies it
    stub: Annotated[
        bool,
        typer.Option("--stub", help="Stand in for Services that nothing serves: say who they are."),
    ] = False,
    dump: Annotated[
        bool, typer.Option("--dump", help="Print the xDS resources as JSON and end.")
    ] = False,
    rules: options.Rules,
    talk: options.Talk,
) -> None:
    """Serve the routes of files with an Envoy on this machine.

    What is served is what the routes mean, not what the configured provider can say of them;
    what that one would lose is told at the start.

    Files are followed: a change is live at once, a broken one is refused while the last good
    routes go on being served. A host is found by the Host header in any letter case, with or
    without port, and below .localhost. Ctrl-C ends everything that was started.

    Ends with 0 when it is told to end, and with 2 if the first files cannot be served.

    Examples:
      ingressctl up -f model.yaml --stub
      ingressctl up -f models/ -R --backend model-predictor.team-a=127.0.0.1:9000
      ingressctl up -f model.yaml --dump
    """
    with telling.guarded(talk) as printer:
        run = Up(
            Options(
                load=_Loader(given, rules, talk),
                paths=_followed(given),
                recursive=given.recursive,
                port=port,
                address=_address(address),
                backends=_backends(backend),
                stub=stub,
            ),
            printer.say,
            printer.warn,
            lambda finding: output.finding_lines(finding, printer.loud),
        )
        _serve(run, printer, dump=dump)


class _Loader:
    """Reads the files; notices about them are told the first time alone."""

    def __init__(self, given: options.Inputs, rules: options.Rules, talk: options.Talk) -> None:
        self._given, self._rules, self._talk = given, rules, talk

    def __call__(self) -> Input:
        printer = Printer(self._talk)
        self._talk = replace(self._talk, quiet=True)
        try:
            built = scene.build(self._given, self._rules, ENVOY, NOTHING, printer)
        except CommandFault as fault:
            reasons = (Reason(item.cause, item.remedy, item.where) for item in fault.problems)
            raise Refused(tuple(reasons)) from None
        return Input(built.laid, built.settings, built.providers)


def _followed(given: options.Inputs) -> tuple[str, ...]:
    """Files that can change: not standard input, which ends, nor what is fetched."""
    if inputs.STDIN in given.filename:
        return ()
    files = (name for name in given.filename if not name.startswith(("http://", "https://")))
    return (*files, *([given.kustomize] if given.kustomize else ()))


def _backends(texts: Iterable[str]) -> tuple[backends.Backend, ...]:
    try:
        return tuple(map(backends.parse, texts))
    except backends.BackendFault as fault:
        raise CommandFault.of(f"--backend {fault}", "correct it") from None


def _address(text: str) -> str:
    """An IP address, which is all that Envoy binds. Raises CommandFault."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise CommandFault.of(
            f"--address cannot be {text!r}", "write an IP address: 127.0.0.1, or 0.0.0.0 for all"
        ) from None


def _serve(run: Up, printer: Printer, *, dump: bool) -> None:
    """Serve until a signal, or print what would be served. Raises CommandFault."""
    gc.enable()  # what changes leave behind would pile up
    try:
        if dump:
            printer.json(list(dumping.objects(run.resources(run.derive()))))
        else:
            asyncio.run(_until_signal(run))
    except Refused as refused:
        problems = (Problem(item.text, item.remedy, item.where) for item in refused.reasons)
        raise CommandFault(problems) from None
    except envoy.EnvoyFault as fault:
        raise CommandFault.of(fault.text, fault.remedy) from None


async def _until_signal(run: Up) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    await run.run(stop)

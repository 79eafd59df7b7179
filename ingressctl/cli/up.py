"""``ingressctl up``: serve the routes of files on this machine."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterable
from typing import Annotated

import typer

from ingressctl.cli import inputs, plugins, problems
from ingressctl.core.differences import Compat, UnknownDifference
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import overlay
from ingressctl.plan.manifests import Note
from ingressctl.plan.overlay import Laid
from ingressctl.providers.envoy import dumping
from ingressctl.proxy import backends, envoy
from ingressctl.proxy.up import Options, Refused, Up

Files = Annotated[
    list[str],
    typer.Option("--filename", "-f", help="File, folder, or - for standard input; repeat."),
]
Recursive = Annotated[bool, typer.Option("--recursive", "-R", help="Read subfolders as well.")]
Namespace = Annotated[
    str, typer.Option("--namespace", "-n", help="For objects that carry no namespace.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes a free one.")]
Address = Annotated[str, typer.Option(help="IP address to listen at.")]
Backends = Annotated[
    list[str],
    typer.Option("--backend", metavar="SERVICE[.NS]=HOST:PORT", help="Where a Service is served."),
]
Stub = Annotated[
    bool, typer.Option(help="Serve Services that nothing serves by stubs that say who they are.")
]
Dump = Annotated[bool, typer.Option(help="Print the xDS resources as JSON and end.")]
CompatText = Annotated[str, typer.Option("--compat", help="kserve, better, or with ,+ID ,-ID.")]
ConfigNamespace = Annotated[str, typer.Option(help="Where inferenceservice-config lies.")]


def up(
    files: Files,
    recursive: Recursive = False,
    namespace: Namespace = "",
    port: Port = 8080,
    address: Address = "127.0.0.1",
    backend: Backends = [],  # noqa: B006 - typer copies it
    stub: Stub = False,
    dump: Dump = False,
    compat: CompatText = "better",
    config_namespace: ConfigNamespace = "kserve",
) -> None:
    """Serve the routes of files on this machine by an embedded Envoy.

    Files are followed: a change is live at once, a broken one is refused while the last
    good routes go on being served. Ctrl-C ends everything that was started.
    """
    said: set[str] = set()

    def notice(note: Note) -> None:
        if str(note) not in said:
            said.add(str(note))
            talk(f"notice: {note}")

    def load() -> Laid:
        try:
            sources = inputs.read(files, recursive=recursive)
        except problems.CommandFault as fault:
            raise Refused(tuple(map(_line, fault.problems))) from None
        laid = overlay.lay(
            World.of(()),
            sources.documents,
            namespace=namespace or "default",
            named=bool(namespace),
        )
        for note in (*sources.notices, *laid.notices):
            notice(note)
        return laid

    settings = _settings(compat, config_namespace)
    options = Options(
        load=load,
        paths=tuple(path for path in files if _is_followed(path)),
        recursive=recursive,
        settings=settings,
        providers=dict(plugins.providers()),
        port=port,
        address=address,
        backends=_backends(backend),
        stub=stub,
    )
    run(Up(options, talk), dump=dump)


def run(command: Up, *, dump: bool) -> None:
    """Serve or dump; faults become sentences and exit code 2."""
    try:
        if dump:
            resources = command.resources(command.derive())
            typer.echo(json.dumps(list(dumping.objects(resources)), indent=2))
            return
        asyncio.run(_until_signal(command))
    except Refused as refused:
        for text in refused.lines:
            talk(f"error: {text}")
        raise typer.Exit(problems.FAULT) from None
    except envoy.EnvoyFault as fault:
        talk(f"error: {fault}")
        raise typer.Exit(problems.FAULT) from None


async def _until_signal(command: Up) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await command.run(stop)


def _settings(compat: str, config_namespace: str) -> Settings:
    try:
        return Settings(
            compat=Compat.parse(compat), config_namespace=config_namespace, provider="envoy"
        )
    except UnknownDifference as fault:
        raise typer.BadParameter(str(fault), param_hint="--compat") from None


def _backends(texts: Iterable[str]) -> tuple[backends.Backend, ...]:
    try:
        return tuple(map(backends.parse, texts))
    except backends.BackendFault as fault:
        raise typer.BadParameter(str(fault), param_hint="--backend") from None


def _is_followed(path: str) -> bool:
    return path != inputs.STDIN and not path.startswith(("http://", "https://"))


def _line(problem: problems.Problem) -> str:
    where = f"{problem.where}: " if problem.where else ""
    return f"{where}{problem.cause}: {problem.remedy}" if problem.remedy else where + problem.cause


def talk(text: str) -> None:
    """A line for people, on standard error."""
    typer.echo(text, err=True)

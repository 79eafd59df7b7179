"""``ingressctl run``: the controller of a cluster."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ingressctl.cli import clusters, gateway, labels, options, scene, suggesting, telling
from ingressctl.cli.problems import CommandFault
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.world import Kind
from ingressctl.plan import cascade, rights
from ingressctl.plan.cascade import Reconcile

if TYPE_CHECKING:
    from ingressctl.cluster.installation import Follower, Plan


@dataclass(frozen=True, slots=True)
class Scope:
    """What of a cluster is this controller's."""

    controllers: Annotated[
        str,
        typer.Option(
            "--controllers",
            metavar="KIND,-KIND",
            help="Kinds to reconcile, or with a dash to leave out [default: all].",
        ),
    ] = ""
    namespace: Annotated[
        list[str],
        typer.Option(
            "-n", "--namespace", metavar="NAMESPACE", help="Stay within a namespace (repeat)."
        ),
    ] = field(default_factory=list)
    selector: labels.Labels = ""
    providers: Annotated[
        str,
        typer.Option(
            "--providers",
            metavar="NAME,...",
            help="Providers whose objects are followed; --provider chooses the one that writes "
            "[default: istio, ingress and gateway_api, or that of --provider beside them].",
        ),
    ] = ""
    knative: Annotated[
        bool,
        typer.Option("--knative/--no-knative", help="Whether Knative's objects are followed."),
    ] = True
    cluster_scoped: Annotated[
        bool,
        typer.Option(
            "--cluster-scoped/--no-cluster-scoped",
            help="With --namespace: whether kinds outside of namespaces are read all the same.",
        ),
    ] = True


@dataclass(frozen=True, slots=True)
class Process:
    """How the process behaves."""

    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")
    ] = False
    dev: Annotated[
        bool,
        typer.Option(
            "--dev",
            help="For a terminal: no lease, lines of text, debug level, no ports of its own.",
        ),
    ] = False
    leader_elect: Annotated[
        bool,
        typer.Option(
            "--leader-elect/--no-leader-elect", help="Whether replicas elect the one that writes."
        ),
    ] = True
    lease_namespace: Annotated[
        str,
        typer.Option(
            "--lease-namespace",
            metavar="NAMESPACE",
            help="Where the lease lies [default: the pod's own namespace].",
        ),
    ] = ""
    settle_seconds: Annotated[
        float,
        typer.Option(
            "--settle-seconds",
            metavar="SECONDS",
            min=0.0,
            help="How long a gateway may take to follow a route: the first Ready, and the end "
            "of what it led to, wait so long.",
        ),
    ] = 5.0
    probe_gateway: Annotated[
        list[str],
        typer.Option(
            "--probe-gateway",
            metavar="NAMESPACE/NAME[=HOST:PORT]",
            help="Ask this gateway for a route's host: the first Ready comes once it answers for "
            "it (repeat) [default address: that of a Gateway's status].",
        ),
    ] = field(default_factory=list)
    resync_seconds: Annotated[
        float,
        typer.Option(
            "--resync-seconds",
            metavar="SECONDS",
            min=0.0,
            help="Look at everything again so often; 0 never. SIGHUP does it once.",
        ),
    ] = 36000.0
    workers: Annotated[
        int,
        typer.Option("--workers", metavar="N", min=1, max=1024, help="Objects at a time."),
    ] = 32
    health_port: Annotated[
        int,
        typer.Option(
            "--health-port", metavar="PORT", min=0, max=65535, help="/healthz and /readyz; 0: none."
        ),
    ] = 8081
    metrics_port: Annotated[
        int,
        typer.Option("--metrics-port", metavar="PORT", min=0, max=65535, help="/metrics; 0: none."),
    ] = 9090
    watch_silence_seconds: Annotated[
        float,
        typer.Option(
            "--watch-silence-seconds",
            metavar="SECONDS",
            min=1.0,
            help="A watch without a line for so long is begun anew.",
        ),
    ] = 90.0
    log_format: options.LogFormat = "json"
    log_level: options.LogLevel = "info"


@options.command
def command(
    *,
    rules: options.Standing,
    chosen: options.Providers,
    reach: options.Reach,
    scope: Scope,
    process: Process,
    proxies: gateway.Gateway,
    talk: options.Talk,
) -> None:
    """Make and keep the routes of a cluster.

    Looks at InferenceServices and what they stand on, writes the routes by server-side apply,
    and follows every change. Objects of somebody else are never touched. Several replicas elect
    the one that writes. It ends with SIGTERM: what is under way is finished, the lease given up.

    Examples:
      ingressctl run --beside kserve
      ingressctl run --write routes,workloads --provider gateway_api
      ingressctl run --dry-run --dev --namespace team-a
    """
    with telling.guarded(talk):
        plan = _plan(rules, chosen, scope, process)
        _run(plan, reach, process, gateway.follower(plan, proxies))


def _plan(
    rules: options.Standing, chosen: options.Providers, scope: Scope, process: Process
) -> Plan:
    """What the flags mean. Raises CommandFault."""
    from ingressctl.cluster.controller import Options  # noqa: PLC0415 - half a second
    from ingressctl.cluster.informers import Timing  # noqa: PLC0415
    from ingressctl.cluster.installation import Plan  # noqa: PLC0415

    settings, installed = scene.decide(rules, chosen)
    providers = _followed(installed, scope.providers, settings.provider)
    return Plan(
        settings=settings,
        providers=providers,
        sources=_sources(scope.controllers, _known(settings, knative=scope.knative)),
        options=Options(
            settle=process.settle_seconds,
            workers=process.workers,
            dry_run=process.dry_run,
            selector=labels.selector(scope.selector),
            probes=_probes(process.probe_gateway),
        ),
        namespaces=tuple(dict.fromkeys(scope.namespace)),
        knative=scope.knative,
        cluster_scoped=scope.cluster_scoped,
        elect=process.leader_elect and not process.dev,
        lease_namespace=process.lease_namespace or os.environ.get("POD_NAMESPACE", ""),
        identity=os.environ.get("POD_NAME", ""),
        health_port=0 if process.dev else process.health_port,
        metrics_port=0 if process.dev else process.metrics_port,
        resync=process.resync_seconds,
        timing=Timing(silence=process.watch_silence_seconds),
    )


DEFAULT_PROVIDERS = ("istio", "ingress", "gateway_api")


def _followed(installed: Mapping[str, Provider], text: str, chosen: str) -> Mapping[str, Provider]:
    """The providers whose objects are followed. Raises CommandFault."""
    named = [name.strip() for name in text.split(",") if name.strip()] or [*DEFAULT_PROVIDERS]
    for name in named:
        if name not in installed:
            raise CommandFault.of(
                f"there is no provider {name!r}", suggesting.or_one_of(name, installed)
            )
    if chosen and chosen not in named:
        if text:
            raise CommandFault.of(
                f"--provider {chosen} is not among --providers {text}", "name it in both"
            )
        named.append(chosen)
    for name in named:
        _check_rights(installed[name])
    return {name: installed[name] for name in sorted(named)}


def _check_rights(provider: Provider) -> None:
    try:
        rights.of_provider(provider)
    except KeyError as missing:
        raise CommandFault.of(
            f"provider {provider.name} writes {missing}, a kind that cannot be followed",
            "use it with render, or leave it out",
        ) from None


def _known(settings: Settings, *, knative: bool) -> Mapping[Kind, Reconcile]:
    """All sources: where proxies of ours serve, the second hop of Knative mode is ours too."""
    if knative and settings.provider == gateway.PROVIDER:
        return {**cascade.SOURCES, **cascade.SECOND_HOPS}
    return cascade.SOURCES


def _sources(text: str, sources: Mapping[Kind, Reconcile]) -> Mapping[Kind, Reconcile]:
    """The kinds that are reconciled. Raises CommandFault."""
    known = {_called(kind): kind for kind in sources}
    named = [part.strip().lower() for part in text.split(",") if part.strip()]
    for name in named:
        if name.lstrip("-") not in known:
            raise CommandFault.of(
                f"--controllers: there is no controller for {name.lstrip('-')!r}",
                f"write some of {', '.join(sorted(known))}",
            )
    wanted = {name for name in named if not name.startswith("-")} or set(known)
    wanted -= {name[1:] for name in named if name.startswith("-")}
    if not wanted:
        raise CommandFault.of("--controllers leaves nothing to do", "name at least one kind")
    return {known[name]: sources[known[name]] for name in sorted(wanted)}


def _called(kind: Kind) -> str:
    """What --controllers calls a kind: Services are not Knative's alone."""
    return f"knative{kind[1]}".lower() if kind in cascade.SECOND_HOPS else kind[1].lower()


def _probes(texts: list[str]) -> dict[str, str]:
    """Gateways with the addresses they are asked at, "" by status. Raises CommandFault."""
    found: dict[str, str] = {}
    for text in texts:
        gateway, equals, address = text.partition("=")
        namespace, _, name = gateway.partition("/")
        host, _, port = address.rpartition(":")
        if not (namespace and name) or (equals and not (host and port.isdecimal())):
            raise CommandFault.of(
                f"--probe-gateway cannot be {text!r}",
                "write NAMESPACE/NAME, or NAMESPACE/NAME=HOST:PORT",
            )
        found[gateway] = address
    return found


def _run(plan: Plan, reach: options.Reach, process: Process, follower: Follower | None) -> None:
    """Until a signal. Raises CommandFault."""
    from ingressctl.cluster import connection, logs, probes, running  # noqa: PLC0415 - half a second

    gc.enable()  # what changes leave behind would pile up
    form = "text" if process.dev else process.log_format
    logs.configure(form, "debug" if process.dev else process.log_level)
    unable: tuple[type[Exception], ...] = (probes.PortTaken, *gateway.faults(follower))
    try:
        _loop(running.run(plan, clusters.choice(reach), follower))
    except connection.Unusable as fault:
        raise CommandFault.of(str(fault), "check kubeconfig and network") from None
    except unable as fault:
        raise CommandFault.of(str(fault), "choose another one, or 0 for none") from None


def _loop(main: Coroutine[Any, Any, None]) -> None:
    """uvloop where it runs: a tenth less CPU for each request."""
    if sys.platform == "win32":
        asyncio.run(main)
        return
    import uvloop  # noqa: PLC0415 - only this command needs it

    uvloop.run(main)

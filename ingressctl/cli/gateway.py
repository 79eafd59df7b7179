"""Flags of ``run`` about Envoys that it serves itself, and what they come to."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ingressctl.cli.problems import CommandFault

if TYPE_CHECKING:
    from ingressctl.cluster.installation import Follower, Plan

XDS_PORT, GATEWAY_PORT = 18000, 8080
PROVIDER = "envoy"


@dataclass(frozen=True, slots=True)
class Gateway:
    """Where Envoys find us, and where clients find them."""

    xds_port: Annotated[
        int,
        typer.Option(
            "--xds-port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Where proxies of provider envoy connect; 0: nowhere.",
        ),
    ] = XDS_PORT
    gateway_address: Annotated[
        str,
        typer.Option(
            "--gateway-address",
            metavar="ADDRESS",
            help="Where these proxies listen; :: is IPv4 and IPv6, 0.0.0.0 for nodes without IPv6.",
        ),
    ] = "::"
    gateway_port: Annotated[
        int,
        typer.Option(
            "--gateway-port", metavar="PORT", min=1, max=65535, help="The port they listen on."
        ),
    ] = GATEWAY_PORT


def faults(follower: Follower | None) -> tuple[type[Exception], ...]:
    """Why it may be unable to serve."""
    if follower is None:
        return ()
    from ingressctl.proxy.xds import CannotListen  # noqa: PLC0415 - half a second

    return (CannotListen,)


def follower(plan: Plan, flags: Gateway) -> Follower | None:
    """What serves the routes of provider envoy; None when nothing is to be served.

    Raises CommandFault.
    """
    served = PROVIDER in plan.providers and "routes" in plan.settings.write
    if not (served and flags.xds_port) or plan.options.dry_run:
        return None
    try:
        ipaddress.ip_address(flags.gateway_address)
    except ValueError:
        raise CommandFault.of(
            f"--gateway-address cannot be {flags.gateway_address!r}",
            "write an IP address such as :: or 0.0.0.0",
        ) from None
    from ingressctl.proxy.cluster import Listening, Proxies  # noqa: PLC0415 - half a second

    listening = Listening(
        xds=f"[::]:{flags.xds_port}",
        gateway_port=flags.gateway_port,
        gateway_address=flags.gateway_address,
        settle=plan.options.settle,
        peers=plan.options.settle if plan.elect else 0.0,
    )
    return Proxies(listening)

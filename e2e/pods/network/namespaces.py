"""The node's namespace with its bridge, and a namespace for each pod.

A pod's address has no neighbours: all its packets go by the node, so that what nftables did to
a connection on its way out is undone on its way back, between pods as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from e2e.pods.network import addresses, commands

PREFIX = "ingressctl-"
HOST_LINK = "ingressctl0"
# A bridge without an address of its own takes the lowest of its ports: with a new pod it could
# change, and the others would send to the old one until they asked again, half a minute later.
BRIDGE = "02:00:0a:f4:00:01"
RESOLVERS = Path("/etc/netns")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pod runs."""

    namespace: str
    link: str
    address: str


class Node:
    """The node and the places of its pods. Raises commands.Failed."""

    def __init__(self, hosts: Sequence[str] = ()) -> None:
        self.hosts = (addresses.HOST, *hosts)
        self._run = f"{PREFIX}{os.getpid()}"
        self._name = f"{self._run}.node"
        self._addresses = addresses.Addresses()
        self._count = 0

    async def start(self) -> None:
        """Sweep what a crashed run left, make the bridge and the way to the host."""
        await sweep()
        await commands.run("ip", "netns", "add", self._name)
        await commands.ip(
            "link set lo up",
            f"link add pods address {BRIDGE} type bridge",
            f"addr add {addresses.NODE}/16 dev pods",
            "link set pods up",
            # Without a route a connection to a Service without endpoints would not be refused.
            f"route add {addresses.SERVICES} dev pods",
            inside=self._name,
        )
        await self.run("sh", "-c", _SETTINGS)
        await commands.ip(
            f"link add {HOST_LINK} type veth peer name host netns {self._name}",
            *(f"addr add {address}/32 dev {HOST_LINK}" for address in self.hosts),
            f"link set {HOST_LINK} up",
            f"route add {addresses.NODE} dev {HOST_LINK} src {addresses.HOST}",
            *(
                f"route add {net} via {addresses.NODE} src {addresses.HOST}"
                for net in (addresses.PODS, addresses.SERVICES)
            ),
        )
        await commands.ip("link set host master pods", "link set host up", inside=self._name)

    async def run(self, *command: str, text: str = "") -> str:
        """The output of a command on the node."""
        return await commands.run("ip", "netns", "exec", self._name, *command, text=text)

    async def add(self, pod: str, *, namespace: str) -> Place:
        """A place for a pod."""
        self._count += 1
        link = f"pod{self._count}"
        place = Place(f"{self._run}.{link}.{namespace}.{pod}", link, self._addresses.take())
        _write_resolver(place.namespace, namespace)
        await commands.run("ip", "netns", "add", place.namespace)
        await commands.ip(
            f"link add {link} type veth peer name eth0 netns {place.namespace}",
            f"link set {link} master pods",
            f"link set {link} up",
            inside=self._name,
        )
        await commands.ip(
            "link set lo up",
            f"addr add {place.address}/32 dev eth0",
            "link set eth0 up",
            f"route add {addresses.NODE} dev eth0 scope link",
            f"route add default via {addresses.NODE}",
            inside=place.namespace,
        )
        return place

    async def remove(self, place: Place) -> None:
        """End what still runs there, and the place itself."""
        await _remove(place.namespace)
        self._addresses.give_back(place.address)

    async def stop(self) -> None:
        """Nothing of this run is left."""
        await sweep(f"{self._run}.")


# Packets go out by the bridge they came in by. So the node must not tell pods of a shorter way,
# and the bridge must leave Services to the node: it would not send back to where it came from.
_SETTINGS = """
cd /proc/sys/net
echo 1 > ipv4/ip_forward
for each in all default pods; do echo 0 > ipv4/conf/$each/send_redirects; done
test ! -e bridge/bridge-nf-call-iptables || echo 0 > bridge/bridge-nf-call-iptables
"""


async def of_pod(namespace: str, pod: str) -> str:
    """The network namespace of a pod that runs here, "" if there is none."""
    return next(
        (name for name in await names() if name.split(".", 2)[2:] == [f"{namespace}.{pod}"]), ""
    )


async def names() -> list[str]:
    """The network namespaces of all runs on this machine."""
    listed = json.loads(await commands.run("ip", "-json", "netns", "list") or "[]")
    return sorted(one["name"] for one in listed if one["name"].startswith(PREFIX))


async def sweep(prefix: str = PREFIX) -> None:
    """Remove the namespaces whose names begin so, with everything that runs in them."""
    for name in await names():
        if name.startswith(prefix):
            await _remove(name)
    with contextlib.suppress(commands.Failed):
        await commands.run("ip", "link", "del", HOST_LINK)


async def _remove(namespace: str) -> None:
    with contextlib.suppress(commands.Failed):
        await _end_processes(namespace)
        await commands.run("ip", "netns", "del", namespace)
    shutil.rmtree(RESOLVERS / namespace, ignore_errors=True)


async def _end_processes(namespace: str) -> None:
    for _ in range(50):
        pids = (await commands.run("ip", "netns", "pids", namespace)).split()
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        await asyncio.sleep(0.02)


def _write_resolver(place: str, namespace: str) -> None:
    folder = RESOLVERS / place
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "resolv.conf").write_text(
        f"search {namespace}.svc.cluster.local svc.cluster.local cluster.local\n"
        f"nameserver {addresses.HOST}\n"
        "options ndots:5\n"
    )

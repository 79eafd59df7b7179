"""Pods for a cluster, until its input ends or SIGTERM comes: `python -m e2e.pods --kubeconfig F`.

A process of its own, so that the load of tests does not slow its probes. It prints `ready` when
pods can run. Its life hangs on its input: whoever started it and dies, ends it too.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
import sys
import tempfile
from pathlib import Path

from e2e.pods import api
from e2e.pods.images import table
from e2e.pods.kubelet import serving
from e2e.pods.network import addresses, commands, following, lock, namespaces

SERVER_SECONDS = 60


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(prog="python -m e2e.pods", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--node", default="node", help="name of the Node object")
    parser.add_argument("--host-address", action="append", default=[], help="10.244.0.x, also ours")
    parser.add_argument("--images", type=Path, help="JSON: pattern to command line")
    parser.add_argument("--folder", type=Path, help="logs and volumes of pods stay here")
    args = parser.parse_args()
    logging.basicConfig(format="%(name)s: %(message)s")
    why = commands.missing()
    if why:
        sys.exit(f"skipped: {why}")
    with lock.held(), contextlib.ExitStack() as stack:
        folder = args.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        asyncio.run(_serve(args, folder))


async def _serve(args: argparse.Namespace, folder: Path) -> None:
    images = table.Table(table.read(args.images) if args.images else None)
    node = namespaces.Node(args.host_address)
    ending = asyncio.create_task(_end())
    async with api.connect(args.kubeconfig) as client:
        room = serving.Room(client, node, args.node, folder, images)
        try:
            await node.start()
            await serving.wait_for_server(client, SERVER_SECONDS)
            await serving.register(client, args.node, addresses.NODE)
            running = asyncio.create_task(_run(room))
            print("ready", flush=True)
            await asyncio.wait({running, ending}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        finally:
            await node.stop()


async def _run(room: serving.Room) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(following.Following(room.client, room.node).run())
        tasks.create_task(serving.serve(room))


async def _end() -> None:
    """Until SIGTERM, SIGINT, or the end of the input."""
    loop = asyncio.get_running_loop()
    end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end.set)
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    waiting = {asyncio.create_task(end.wait()), asyncio.create_task(reader.read())}
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)


if __name__ == "__main__":
    main()

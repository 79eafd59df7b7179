"""A network of its own for a command: `python -m e2e.pods.private COMMAND ARGUMENTS`.

Addresses and routes of pods then meet neither those of the machine nor those of other runs, and
whoever is not root is root there. There is no way out of it: everything that has to be fetched
must be there before. What the machine does not allow is left out, with a word why.
"""

from __future__ import annotations

import os
import subprocess
import sys

from e2e.pods.network import commands

# Names of network namespaces and files for them live below /run and /etc, here on layers.
PREPARE = """
set -e
mount -t tmpfs none /run
mkdir /run/netns /run/upper /run/work
mount -t overlay none -o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work /etc
ip link set lo up
"""


def prefix() -> list[str]:
    """What goes before a command to give it a network of its own. Raises OSError."""
    own = ["--map-root-user"] if os.geteuid() else []
    return [commands.found("unshare"), *own, "--net", "--mount"]


def main() -> None:
    """Become the command."""
    command = sys.argv[1:]
    os.environ["PATH"] = commands.PATH
    tried = subprocess.run(
        [*prefix(), "sh", "-c", PREPARE], capture_output=True, text=True, check=False
    )
    if tried.returncode == 0:
        command = [*prefix(), "sh", "-c", f'{PREPARE} exec "$@"', "sh", *command]
    else:
        print(f"pods share the machine's network: {tried.stderr.strip()}", file=sys.stderr)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()

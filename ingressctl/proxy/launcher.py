"""Becomes Envoy, after asking the kernel to end it together with its parent.

Run as a script of its own (``python -I -S launcher.py PARENT ENVOY ARGUMENTS``): code between
fork and exec in the parent is unsafe once gRPC has threads. Where the kernel offers no such
request (macOS), Envoy starts all the same and only an orderly end stops it.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ask, check that the parent still lives, and become Envoy."""
    parent, program = int(sys.argv[1]), sys.argv[2]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit("the parent ended before Envoy started")
    os.execv(program, sys.argv[2:])


if __name__ == "__main__":
    main()

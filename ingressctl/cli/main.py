"""The command tree. A command's file is imported when the command is asked for, so that
``ingressctl --help`` stays fast.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from ingressctl.api import wording
from ingressctl.cli import shells, suggesting
from ingressctl.cli.problems import CommandFault

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "preview": "Show what applying files would change.",
        "check": "Find faults in files, folders or a cluster.",
        "explain": "Say where a request would go, and why.",
        "describe": "Tell why an object is not ready, and what it is made of.",
        "get": "List routes, or the objects of a kind.",
        "wait": "Wait until an object is ready, with reasons.",
        "graph": "Draw the steps of an InferenceGraph, or an object and what it makes.",
        "render": "Print the objects that routes become.",
        "up": "Serve the routes of files with an Envoy on this machine.",
        "run": "Make and keep the routes of a cluster.",
        "router": "Route requests through an InferenceGraph.",
        "version": "Print the version, or the differences from KServe.",
        "completion": "Print a completion script for a shell.",
    }
)
"""Commands in the order of help, with their first line; the file is cli/NAME.py."""

HELP = """Traffic routing for model serving on Kubernetes.

\b
Examples:
  ingressctl preview -f model.yaml
  ingressctl check -f folder/ -R
  ingressctl explain http://model-default.example.com/v1/models/model:predict -f model.yaml
  ingressctl render -f model.yaml --provider gateway_api

Every flag has an environment variable: --config-namespace is INGRESSCTL_CONFIG_NAMESPACE.

\b
Exit codes: 0 nothing to change and no finding; 1 differences or findings;
2 any fault of usage, input or cluster, and an object that is refused or
cannot be derived (for check that is a finding); 3 waited and not ready.
"""


class Commands(TyperGroup):
    """Commands by name, imported one at a time."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One command, or None."""
        return load(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command, or a usage mistake that names what is near."""
        named = args[0] if args and not ctx.resilient_parsing else "-"
        if not named.startswith("-") and named not in COMMANDS:
            found = suggesting.near(named, COMMANDS)
            meant = f" Did you mean {' or '.join(found)}?" if found else ""
            ctx.fail(f"No such command {named!r}.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Names of commands, without importing them."""
        item = shells.of_typer().item
        return [
            item(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)
        ]


class Command(TyperCommand):
    """A command that suggests only what is near when a flag is unknown, and names no exception."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer's: there --foo suggests --color, for the dashes are counted as well."""
        try:
            return super().parse_args(ctx, args)
        except Exception as fault:
            if getattr(fault, "possibilities", None):
                flags = [flag for param in self.params for flag in param.opts]
                fault.possibilities = suggesting.near(fault.option_name, flags)  # type: ignore[attr-defined]
            if isinstance(fault, typer.BadParameter):
                fault.message = wording.bare(fault.message)
            elif "unexpected extra argument" in str(getattr(fault, "message", "")):
                fault.message += self._instead()  # type: ignore[attr-defined]
            raise

    def _instead(self) -> str:
        """How what stands too many is meant to be written."""
        if any(param.metavar == suggesting.TARGET for param in self.params):
            return f". An object is written {suggesting.TARGET}, such as isvc/model"
        if any("--filename" in param.opts for param in self.params):
            return ". Files are named with -f"
        return ""


def load(name: str) -> Any:
    """The command of cli/NAME.py as typer's parser sees it."""
    module = importlib.import_module(f"ingressctl.cli.{name}")
    holder = typer.Typer(add_completion=False, rich_markup_mode=None)
    holder.command(name=name, cls=Command)(module.command)
    made: Any = get_command(holder)
    for param in made.params:
        param.split_envvar_value = str.splitlines  # headers and paths have spaces in them
    return made


app = typer.Typer(
    name="ingressctl",
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def root() -> None:
    """Only holds the commands."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of ``ingressctl`` and ``kubectl-ingressctl``. Ends the process.

    Nothing that is imported or that an answer is made of is garbage before the end, so nobody
    looks for any, at the end neither; `up`, which stays, turns that on again.
    """
    gc.disable()
    atexit.register(gc.freeze)
    try:
        _run(arguments)
    finally:
        gc.enable()


def _run(arguments: Sequence[str] | None) -> None:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if completion_variable() in os.environ:
        try:
            shells.of_typer().start()
        except CommandFault as fault:
            sys.exit(f"error: {fault}")
    atexit.register(gc.freeze)  # the end of the process frees everything without a search
    try:
        app(words, prog_name=_program())
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:  # such as a full disk that the answer is to be written to
        sys.exit(_refused(error, debug="--debug" in words))
    except Exception as error:  # the last guard: people see a sentence, never a traceback
        sys.exit(_internal(error, debug="--debug" in words))


def tree() -> Any:
    """The whole command tree as typer's parser sees it."""
    return get_command(app)


def completion_variable() -> str:
    """The environment variable by which a shell asks for candidates."""
    return "_INGRESSCTL_COMPLETE"


def _program() -> str:
    """How the program was called: kubectl runs plugins by their own name."""
    name = os.path.basename(sys.argv[0])
    return "kubectl ingressctl" if name.startswith("kubectl") else "ingressctl"


def _refused(error: OSError, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    where = f" ({error.filename})" if error.filename else ""
    sys.stderr.write(f"error: the system refuses: {error.strerror or error}{where}\n")
    sys.stderr.write("  help: mend what it names, and run again\n")
    return 2


def _internal(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    text = str(error).splitlines()[0] if str(error) else ""
    sys.stderr.write(f"error: internal fault {type(error).__name__}: {text}\n")
    sys.stderr.write("  help: run again with --debug and report what it prints\n")
    return 2

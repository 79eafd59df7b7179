"""The flags that several commands share, each written once.

A group of flags is a frozen dataclass; a command takes it as one argument and `command`
spreads it out for typer. Every flag has an environment variable: ``--config-namespace`` is
INGRESSCTL_CONFIG_NAMESPACE.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeGuard, TypeVar, get_args, get_type_hints

import typer
from typer.models import OptionInfo

Level = Literal["info", "warning", "error"]
PREFIX = "INGRESSCTL_"
G = TypeVar("G")

LogFormat = Annotated[
    Literal["json", "text"], typer.Option("--log-format", help="A JSON object a line, or text.")
]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"],
    typer.Option("--log-level", help="The least level that is told."),
]


def provider_names(incomplete: str) -> list[str]:
    """Names of providers for completion."""
    from ingressctl.cli import plugins  # noqa: PLC0415 - only shells ask for it

    return [name for name in plugins.providers() if name.startswith(incomplete)]


def two_providers(incomplete: str) -> list[str]:
    """``A,B`` for completion, the second once the first is written."""
    first, comma, begun = incomplete.partition(",")
    if not comma:
        return [f"{name}," for name in provider_names(first)]
    return [f"{first},{name}" for name in provider_names(begun) if name != first]


def values(*names: str) -> Callable[[str], list[str]]:
    """Completion of a flag that has these values, maybe among others."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a person wrote."""

    filename: Annotated[
        list[str],
        typer.Option(
            "-f",
            "--filename",
            metavar="FILE",
            help="File, folder, URL, or - for standard input (repeat).",
        ),
    ] = field(default_factory=list)
    recursive: Annotated[
        bool, typer.Option("-R", "--recursive", help="Read subfolders of -f as well.")
    ] = False
    kustomize: Annotated[
        str,
        typer.Option(
            "-k",
            "--kustomize",
            metavar="DIR",
            help="Build a kustomization; needs kustomize or kubectl on the PATH.",
        ),
    ] = ""
    namespace: Annotated[
        str,
        typer.Option(
            "-n",
            "--namespace",
            metavar="NAMESPACE",
            help="Namespace of objects that carry none [default: that of the kubeconfig, "
            "else default].",
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How routes follow from what a cluster holds."""

    compat: Annotated[
        str,
        typer.Option(
            "--compat",
            metavar="COMPAT",
            autocompletion=values("better", "kserve"),
            help="better or kserve, with single differences added or removed: kserve,+F29 or "
            "better,-Q4; see version --differences.",
        ),
    ] = "better"
    write: Annotated[
        str,
        typer.Option(
            "--write",
            metavar="PARTS",
            autocompletion=values("routes", "routes,workloads"),
            help="What is ours to write: routes, or routes,workloads.",
        ),
    ] = "routes"
    beside: Annotated[
        str,
        typer.Option(
            "--beside",
            metavar="kserve",
            autocompletion=values("kserve"),
            help="Beside a KServe that keeps the workloads: routes only, and its switches for "
            "its own routing are not obeyed.",
        ),
    ] = ""
    config_namespace: Annotated[
        str,
        typer.Option(
            "--config-namespace",
            metavar="NAMESPACE",
            help="Where inferenceservice-config lies; it must be there [default: "
            "$POD_NAMESPACE, else kserve].",
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class Rules(Standing):
    """How routes follow from what was written."""

    assume: Annotated[
        str,
        typer.Option(
            "--assume",
            metavar="ready|observed",
            autocompletion=values("ready", "observed"),
            help="Take objects as ready, or believe only a written status [default: ready for "
            "objects that only files hold, without status].",
        ),
    ] = ""
    set: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="SETTING",
            help="Try a configuration: CONFIGMAP.data.KEY=VALUE, or into JSON "
            "CONFIGMAP.KEY.FIELD=VALUE (repeat).",
        ),
    ] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Providers:
    """By whom routes are written down."""

    provider: Annotated[
        str,
        typer.Option(
            "--provider",
            metavar="NAME",
            autocompletion=provider_names,
            help="Provider of both deployment modes, instead of the configured one.",
        ),
    ] = ""
    templates: Annotated[
        str,
        typer.Option(
            "--templates",
            metavar="DIR",
            help="Folder of a template provider of your own, or the folder above several; their "
            "names are those in provider.yaml.",
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class Reach:
    """How a cluster is reached, in kubectl's words."""

    kubeconfig: Annotated[
        str,
        typer.Option("--kubeconfig", metavar="FILE", help="Kubeconfig [default: as kubectl]."),
    ] = ""
    context: Annotated[
        str, typer.Option("--context", metavar="NAME", help="Context of the kubeconfig.")
    ] = ""
    cluster: Annotated[
        str, typer.Option("--cluster", metavar="NAME", help="Cluster of the kubeconfig.")
    ] = ""
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="User of the kubeconfig.")] = (
        ""
    )
    as_user: Annotated[str, typer.Option("--as", metavar="USER", help="User to impersonate.")] = ""
    as_group: Annotated[
        list[str], typer.Option("--as-group", metavar="GROUP", help="Group to impersonate.")
    ] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Base(Reach):
    """What exists already, and how it is reached. Nothing is ever written to it."""

    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="cluster|none|DIR",
            autocompletion=values("cluster", "none"),
            help="What files are laid over [default: cluster if there is a kubeconfig, else none].",
        ),
    ] = ""
    request_timeout: Annotated[
        str,
        typer.Option(
            "--request-timeout",
            metavar="DURATION",
            help="How long the cluster may take in all, such as 10s or 1m.",
        ),
    ] = "30s"


@dataclass(frozen=True, slots=True)
class Verdict:
    """When findings and differences make the command fail."""

    fail_on: Annotated[
        Level, typer.Option("--fail-on", help="Findings of this level or above end with 1.")
    ] = "error"
    ignore: Annotated[
        list[str],
        typer.Option(
            "--ignore",
            metavar="CODE[=KIND/NS/NAME]",
            help="Leave a finding out, everywhere or for one object (repeat).",
        ),
    ] = field(default_factory=list)
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="End with 0 where it would be 1.")
    ] = False


@dataclass(frozen=True, slots=True)
class Talk:
    """How much is said, and how it looks."""

    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="No notices; warnings and errors are always told.")
    ] = False
    color: Annotated[
        Literal["auto", "always", "never"],
        typer.Option("--color", help="Colour; auto obeys NO_COLOR and FORCE_COLOR."),
    ] = "auto"
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an internal error.")
    ] = False


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as typer wants it: groups of flags spread out, environment named.

    Examples at the end of its docstring keep their lines in the help.
    """
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    groups = {name: hint for name, hint in hints.items() if is_group(hint)}
    defaults = inspect.signature(function).parameters

    def run(**values: Any) -> Any:
        for name, group in groups.items():
            values[name] = _gather(group, values)
        return function(**values)

    parameters = [
        parameter
        for name, hint in hints.items()
        for parameter in (
            _spread(hint) if name in groups else (_parameter(name, hint, defaults[name].default),)
        )
    ]
    run.__name__ = function.__name__
    run.__doc__ = (function.__doc__ or "").replace("    Examples:", "    \b\n    Examples:")
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def is_group(hint: Any) -> TypeGuard[type]:
    """Whether a parameter stands for a group of flags."""
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def _spread(group: type) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for item in dataclasses.fields(group):
        made = item.default_factory
        default = item.default if made is dataclasses.MISSING else made()
        yield _parameter(item.name, hints[item.name], default)


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_with_variable(hint)
    )


def _with_variable(hint: Any) -> Any:
    """The annotation, its option read from the environment as well."""
    kind, *notes = get_args(hint)
    named = [_named(note) if isinstance(note, OptionInfo) else note for note in notes]
    return Annotated[(kind, *named)]


def _named(option: OptionInfo) -> OptionInfo:
    # Until typer has read the annotation, the first name stands where the default would.
    names = (option.default, *(option.param_decls or ()))
    long = next((name for name in names if str(name).startswith("--")), "")
    if not long or option.envvar:
        return option
    named = copy(option)
    named.envvar = variable(long)
    named.show_envvar = False
    return named


def variable(flag: str) -> str:
    """``--config-namespace`` -> ``INGRESSCTL_CONFIG_NAMESPACE``."""
    return PREFIX + flag.split("/", maxsplit=1)[0].lstrip("-").upper().replace("-", "_")


def _gather(group: type[G], values: dict[str, Any]) -> G:
    names = [item.name for item in dataclasses.fields(group)]  # type: ignore[arg-type]
    return group(**{name: values.pop(name) for name in names})

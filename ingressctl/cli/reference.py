"""The command reference of the README, made from the command tree.

``python -m ingressctl.cli.reference README.md`` writes it between its markers; a test holds
the two equal, so that no flag is without a line.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard, get_args

from ingressctl.cli import main, options

BEGIN, END = "<!-- reference: begin -->", "<!-- reference: end -->"

GROUPS: tuple[tuple[type, str], ...] = (
    (options.Inputs, "Inputs"),
    (options.Standing, "How routes follow"),
    (options.Rules, "What is tried"),
    (options.Providers, "Providers"),
    (options.Reach, "How a cluster is reached"),
    (options.Base, "What exists already"),
    (options.Verdict, "Verdict"),
    (options.Talk, "Talk"),
)


def markdown() -> str:
    """The reference: a part a command, then the flags that several share."""
    commands = {name: main.load(name) for name in main.COMMANDS}
    lines: list[str] = []
    for name, command in commands.items():
        lines += _command(name, command)
    for group, title in GROUPS:
        lines += _group(group, title, commands)
    return "\n".join(lines)


def _command(name: str, command: Any) -> Iterator[str]:
    own = [param for param in command.params if _group_of(param, command) is None]
    words = " ".join(_argument(param) for param in own if param.param_type_name == "argument")
    yield f"### ingressctl {name}{' ' + words if words else ''}"
    yield ""
    text, _, examples = _help(command).partition("Examples:")
    yield " ".join(text.split())
    yield ""
    yield "```console"
    yield from (f"$ {line.strip()}" for line in examples.strip().splitlines())
    yield "```"
    yield ""
    flags = [param for param in own if param.param_type_name == "option" and not _is_help(param)]
    if flags:
        yield from _table(flags)
    shared = [title for group, title in GROUPS if _has(command, group)]
    yield f"Shared flags: {', '.join(shared)}."
    yield ""


def _help(command: Any) -> str:
    return str(command.help or "").replace("\b", "").replace("\f", "")


def _argument(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _is_help(param: Any) -> bool:
    return "--help" in param.opts


def _group(group: type, title: str, commands: dict[str, Any]) -> Iterator[str]:
    having = [name for name, command in commands.items() if _has(command, group)]
    yield f"### Flags: {title}"
    yield ""
    yield f"Of {', '.join(having)}."
    yield ""
    first = commands[having[0]]
    yield from _table([param for param in first.params if _group_of(param, first) is group])


def _group_of(param: Any, command: Any) -> type | None:
    """The group that a flag of a command belongs to; a command has a group whole or not."""
    given = {item.name for item in command.params}
    for group, _ in GROUPS:
        names = _own(group)
        if param.name in names and names <= given:
            return group
    return None


def _own(group: type) -> frozenset[str]:
    """The flags of a group that it does not share with the group below it."""
    fields: Any = dataclasses.fields(group)
    below: Any = dataclasses.fields(group.__base__) if _is_narrower(group.__base__) else ()
    return frozenset(field.name for field in fields) - {field.name for field in below}


def _is_narrower(base: type | None) -> TypeGuard[type]:
    return any(group is base for group, _ in GROUPS)


def _has(command: Any, group: type) -> bool:
    return any(_group_of(param, command) is group for param in command.params)


def _table(params: list[Any]) -> Iterator[str]:
    yield "| flag | meaning |"
    yield "|---|---|"
    for param in params:
        names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
        value = _value(param)
        flag = f"{names} `{value}`" if value else names
        yield f"| {_cell(flag)} | {_cell(_meaning(param))} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _value(param: Any) -> str:
    if param.is_flag:
        return ""
    if param.metavar:
        return str(param.metavar)
    choices = get_args(param.type_descriptor.annotation)
    return "|".join(map(str, choices)) or "NUMBER"


def _meaning(param: Any) -> str:
    text = str(param.help or "")
    default = param.default
    if param.is_flag or default in (None, "", [], ()) or callable(default):
        return text
    return f"{text} Default: {default}."


def rewritten(readme: str) -> str:
    """The README with the reference as it is now."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{markdown()}\n{END}{after}"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(rewritten(target.read_text("utf-8")), "utf-8")

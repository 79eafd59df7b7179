"""The command reference of the README is what the program says."""

from __future__ import annotations

from pathlib import Path

from ingressctl.cli import main, reference

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_holds_the_reference_of_the_command_tree() -> None:
    """Written by `python -m ingressctl.cli.reference README.md`."""
    text = README.read_text("utf-8")
    assert reference.BEGIN in text
    assert reference.rewritten(text) == text


def test_every_command_has_help_and_examples() -> None:
    for name in main.COMMANDS:
        command = main.load(name)
        assert "Examples:" in command.help, name
        assert f"ingressctl {name}" in command.help, name


def test_every_flag_has_help_and_an_environment_variable() -> None:
    """ux.md 8.5; short flags are kubectl's."""
    shorts = set("f R k n A l o w q v H X d h".split())
    for name in main.COMMANDS:
        for param in main.load(name).params:
            assert param.help, (name, param.name)
            if param.param_type_name != "option" or "--help" in param.opts:
                continue
            assert str(param.envvar or "").startswith("INGRESSCTL_"), (name, param.name)
            used = {flag[1:] for flag in param.opts if not flag.startswith("--")}
            assert used <= shorts, (name, param.opts)

"""Printing the acts of the demo, for a terminal of 80 columns."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from trueweave.cli.demo.acts import DEPTH, METHODS, BuildAct, CheckAct, RemoveAct, SearchAct
from trueweave.cli.demo.folder import default_folder, short
from trueweave.cli.demo.script import END, START
from trueweave.cli.render.console import out
from trueweave.cli.render.lines import count

_TITLES = {"naive": "vectors alone", "weave": "weave"}
_WIDTH = 78
_INDENT = (0, 0, 0, 2)


def opening() -> list[RenderableType]:
    """What the demo is."""
    return [
        Text.assemble(("The archive of a harbour", "bold"), ": letters, minutes, mails, a register, a scan."),
        Text("All of it is invented. No language model, no key and no network is used.", style="dim"),
    ]


def built(act: BuildAct, seconds: float) -> RenderableType:
    """Act 1."""
    skipped = f'{count(act.skipped, "file")} skipped. For PDF files: pip install "trueweave[documents]"'
    return _act(
        1,
        "The index is built" if act.added else "The index is there from an earlier run",
        seconds,
        _command("trueweave add documents"),
        f"{count(act.documents, 'document')}, {count(act.entities, 'entity')}, {count(act.relations, 'relation')}",
        *([Text(skipped, "yellow")] if act.skipped else []),
    )


def searched(act: SearchAct, seconds: float) -> RenderableType:
    """Act 2."""
    width = max(map(len, _TITLES.values()))
    found = [
        Text.assemble(
            f"{_TITLES[name]:<{width}}  ",
            ("●" * act.found[name], "bold green"),
            ("○" * (act.passages - act.found[name]), "dim"),
            f"  {act.found[name]} of the {act.passages} passages that hold the answer",
        )
        for name in METHODS
    ]
    return _act(
        2,
        f"A question that takes {act.passages} documents to answer",
        seconds,
        _command("trueweave ask --method weave \\"),
        Text(f'    "{act.question}"', "cyan"),
        Text(f"Among the first {DEPTH} passages that each method finds:", "dim"),
        *found,
        _command(f'trueweave path "{START}" {END}'),
        _path(act.path),
    )


def checked(act: CheckAct, seconds: float) -> RenderableType:
    """Act 3."""
    lines: list[RenderableType] = []
    for one in act.sentences:
        sign = ("✓ ", "bold green") if one.confirmed else ("✗ ", "bold red")
        lines.append(Text.assemble(sign, one.text))
        if not one.confirmed:
            lines.append(Padding(Text(one.finding, "red"), _INDENT, expand=False))
            lines.append(Padding(Text(f"the source: “{one.source}”", "dim"), _INDENT, expand=False))
    return _act(
        3,
        "An answer with a false sentence",
        seconds,
        _command('trueweave ask "…"'),
        Text("Written in advance, in place of a language model that errs once.", "dim"),
        *lines,
    )


def removed(act: RemoveAct, seconds: float) -> RenderableType:
    """Act 4."""
    return _act(
        4,
        "A letter is removed, and nothing of it stays",
        seconds,
        _command(f"trueweave remove {act.letter}"),
        Text.assemble(("The same question: ", "dim"), act.answer),
        Text.assemble((f"From {START} to {END}: ", "dim"), _path(act.path)),
        _command("trueweave verify"),
        _fact(act.exact, "Exact: the index is the same as one that never had the letter."),
        _fact(act.restored, "With the letter added again, it is the same as before."),
    )


def closing(folder: Path) -> list[RenderableType]:
    """What to do next."""
    given = "" if folder == default_folder() else f" --folder {short(folder)}"
    steps = {
        f"cd {short(folder)}": "the commands above work here",
        "trueweave ui": "here, too: the same in the browser",
        f"trueweave demo --remove{given}": "deletes the demo",
        "trueweave init": "starts with your own documents",
    }
    width = max(map(len, steps))
    return ["", *(Text.assemble((f"{name:<{width}}", "cyan"), (f"  {why}", "dim")) for name, why in steps.items())]


def _act(number: int, title: str, seconds: float, *lines: RenderableType) -> RenderableType:
    took = f"{seconds:.1f} s"
    gap = " " * max(1, min(out.width, _WIDTH) - len(title) - len(took) - 3)
    head = Text.assemble((f"{number}  ", "bold cyan"), (title, "bold"), gap, (took, "dim"))
    return Group(Text(), head, *(Padding(line, (0, 0, 0, 3), expand=False) for line in lines))


def _path(names: tuple[str, ...]) -> Text:
    return Text(" ─ ".join(names), "bold") if names else Text("no path", "bold")


def _fact(is_so: bool, text: str) -> Text:
    return Text.assemble(("✓ ", "bold green") if is_so else ("✗ ", "bold red"), text)


def _command(command: str) -> Text:
    return Text.assemble(("$ ", "dim"), (command, "cyan"))

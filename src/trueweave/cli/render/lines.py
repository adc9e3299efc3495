"""Single lines of text: counted nouns, warnings, indented lines, and the next command to run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from trueweave.cli.render.console import out

if TYPE_CHECKING:
    pass

_SHORT = 8  # characters of an id


def next_step(command: str, why: str = "", heading: str = "Next") -> Text:
    """A line with the next command to run."""
    return Text.assemble((f"{heading}: ", "dim"), (command, "bold cyan"), (f"  ({why})" if why else "", "dim"))


def heading(what: str, shown: int, there: int | None = None, *, more: str = "") -> Text:
    """A heading with the total number, how many of them are shown, and how to see `more`."""
    there = shown if there is None else there
    of = f"  {there:,}" if shown >= there else f"  {there:,}, the first {shown:,} of them{more}"
    return Text.assemble((what, "bold"), (of, "dim"))


def warning(text: str) -> Text:
    """A line in the colour of warnings."""
    return Text(text, style="yellow")


def indented(text: str, columns: int = 2) -> RenderableType:
    """An indented line, which stays indented where it is wrapped."""
    return Padding(text, (0, 0, 0, columns)) if out.is_terminal else Text(f"{' ' * columns}{text}")


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 document`, `1,200 documents`, `12 entities`."""
    return f"{number:,} {noun if number == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    if noun.endswith(("ty", "ly")):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"


def short_id(id_: object) -> str:
    """The first characters of an id, as shown and typed. Commands accept any unique prefix of an id."""
    return str(id_)[:_SHORT]


def one_line(text: str, longest: int = 200) -> str:
    """A text on one line, cut between words if it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest + 1].rpartition(' ')[0] or line[:longest]} …"


def path_from_here(file: Path) -> Path:
    """A path in the form that is easiest to type: relative, if it is within the current folder."""
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file


def decimal(value: float) -> str:
    """A number with up to three decimals."""
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def megabytes(size: float) -> str:
    """A number of bytes, in megabytes."""
    return f"{size / 1e6:,.1f} MB"

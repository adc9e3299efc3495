"""The three questions of `trueweave init`: documents, language model, database. Each has an option instead."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from trueweave.cli.render.console import err, print_to
from trueweave.cli.render.printable import printable
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.models.found import FoundModel

NO_MODEL = "none"


@dataclass(frozen=True)
class InitChoices:
    """What the new index is made of. None is the default: no documents yet, no language model, the bundled database."""

    documents: Path | None
    model: str | None
    database_url: str | None


def ask_for(given: InitChoices, *, has_model: bool, has_database: bool) -> InitChoices:
    """The choices, where those that neither an option nor the settings make are asked for on the terminal."""
    return InitChoices(
        given.documents or _documents(),
        given.model if given.model or has_model else _model(),
        given.database_url if given.database_url or has_database else _database(),
    )


def _documents() -> Path | None:
    _explain("Which documents?", "A folder or a file. Enter adds none yet.")
    answer: Path | None = typer.prompt("  Path", default="", show_default=False, value_proc=_existing, err=True)
    return answer


def _existing(answer: str) -> Path | None:
    if not answer.strip():
        return None
    path = Path(answer.strip()).expanduser()
    if not path.exists():
        raise typer.BadParameter(f"{printable(str(path))} does not exist.")
    return path


def _model() -> str:
    from trueweave.core.settings import secret
    from trueweave.models.found import found_models

    found = found_models(secret)
    _explain("Which language model?", "It extracts entities and relations, and writes answers.")
    print_to(err, Text("  0  none: names are recognised by capitalisation, and answers are passages"))
    for number, one in enumerate(found, start=1):
        print_to(err, Text(f"  {number}  {one.name} ({_cost(one)})"))
    chosen: str = typer.prompt(
        "  Number, or provider/model", default="0", value_proc=lambda answer: _named(answer, found), err=True
    )
    return chosen


def _cost(found: FoundModel) -> str:
    from trueweave.core.money import money
    from trueweave.models.prices import CURRENCY, listed

    price = listed(found.name)
    if price is None:
        return f"{found.reason}, free"
    to, back = money(price.tokens_in, CURRENCY), money(price.tokens_out, CURRENCY)
    return f"{found.reason}; a million tokens cost {to} in, {back} out"


def _named(answer: str, found: list[FoundModel]) -> str:
    from trueweave.models.names import check_name

    given = answer.strip()
    if given in ("", "0", NO_MODEL):
        return NO_MODEL
    if given.isdecimal():
        if int(given) > len(found):
            raise typer.BadParameter(f"There is no model {given} in the list.")
        return found[int(given) - 1].name
    try:
        check_name(given)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from error
    return given


def _database() -> str | None:
    _explain("Which PostgreSQL?", "A URL. Enter starts the bundled one.")
    answer: str = typer.prompt("  URL", default="", show_default=False, err=True)
    return answer.strip() or None


def _explain(question: str, hint: str) -> None:
    print_to(err, Text.assemble((question, "bold"), f" {hint}"))

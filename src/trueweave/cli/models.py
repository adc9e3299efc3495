"""`trueweave models`: known embedding models, and the prices of models."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.model_files import download, download_line
from trueweave.cli.options import Json
from trueweave.cli.render.lines import next_step
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.reply import replying
from trueweave.cli.session import load_settings
from trueweave.core.money import Price

if TYPE_CHECKING:
    from trueweave.core.money import Price
    from trueweave.models.catalogue import HubModel
    from trueweave.models.hub import ModelFiles
    from trueweave.models.prices import PriceList

app = typer.Typer(
    no_args_is_help=True,
    help="""Embedding models known by name, their files on this machine, and what models cost.

    embedding_model = "local/NAME" in trueweave.toml uses one. It is downloaded when it is first used, from Hugging Face
    or the mirror that HF_ENDPOINT names, and checked.
    """,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from `trueweave models list`.")]
To = Annotated[
    Path | None,
    typer.Option(
        "--to",
        metavar="FOLDER",
        file_okay=False,
        help="Download to this folder, for example to copy it to an offline machine.",
    ),
]


@app.command("list")
def list_(json: Json = False) -> None:
    """List the models, and which of them are on this machine. Nothing is downloaded."""
    with replying(json) as reply:
        settings = load_settings()
        from trueweave.models import catalogue, hub

        found = {model: hub.find(model, settings.model_folder) for model in catalogue.MODELS.values()}
        rows = [
            {
                "name": model.name,
                "repository": model.repository,
                "revision": model.revision,
                "dimensions": model.dimensions,
                "tokens": model.most_tokens,
                "pooling": model.pooling,
                "query_prefix": model.prefixes.query,
                "document_prefix": model.prefixes.document,
                "languages": model.languages,
                "licence": model.licence,
                "folder": files.folder if files else None,
            }
            for model, files in found.items()
        ]
        in_use = (settings.embedding_model or "").removeprefix("local/")
        then = next_step("trueweave models fetch NAME", "downloads one ahead")
        reply({"models": rows}, _model_table(found, in_use), "", then)


@app.command()
def fetch(name: Name, to: To = None, json: Json = False) -> None:
    """Download and check a model in advance. Existing files are not downloaded again."""
    with replying(json) as reply:
        settings = load_settings()
        from trueweave.models import catalogue, hub

        model = catalogue.named(name)
        folder = to or settings.model_folder or hub.default_folder()
        files = download(model, folder.absolute())
        answer = {
            "model": model.name,
            "folder": files.folder,
            "commit": files.commit,
            "bytes": files.size,
            "files": [{"name": one, "bytes": file.size, "checksum": file.checksum} for one, file in files.files],
        }
        then = (
            next_step(f'model_folder = "{folder}"', "in trueweave.toml there", heading="To use it")
            if to
            else next_step(f'embedding_model = "local/{model.name}"', "in trueweave.toml", heading="To use it")
        )
        reply(answer, download_line(model, files), f"It is in {files.folder}", then)


@app.command()
def prices(json: Json = False) -> None:
    """List the prices of models per million tokens, from your settings or from the built-in list."""
    with replying(json) as reply:
        settings = load_settings()
        from trueweave.models.prices import CURRENCY, price_list

        listed = price_list()
        theirs = listed.prices if settings.currency == CURRENCY else {}
        own = {name: Price(*said) for name, said in settings.prices.items()}
        rows = [
            {
                "model": name,
                "tokens_in": price.tokens_in,
                "tokens_out": price.tokens_out,
                "from": "settings" if name in own else "list",
                "as_of": None if name in own else listed.as_of,
            }
            for name, price in {**own, **{name: one for name, one in theirs.items() if name not in own}}.items()
        ]
        answer = {"currency": settings.currency, "prices": rows, "list": {"as_of": listed.as_of, "of": listed.source}}
        then = next_step('"MODEL" = [0.50, 2.00]', "under [prices] in trueweave.toml", heading="To set one")
        reply(answer, _price_table(own, theirs), "", _price_notes(settings.currency, listed), "", then)


def _model_table(found: Mapping[HubModel, ModelFiles | None], in_use: str) -> TextTable:
    """Models, one a line: what they are, and whether they are on this machine."""
    made = table("model", ">dimensions", ">tokens", "languages", "licence", "")
    for model, files in found.items():
        here = (
            "here, in use" if files and model.name == in_use else "here" if files else "in use" * (model.name == in_use)
        )
        made.add_row(
            model.name, f"{model.dimensions:,}", f"{model.most_tokens:,}", model.languages, model.licence, here
        )
    return made


def _price_table(own: Mapping[str, Price], listed: Mapping[str, Price]) -> TextTable:
    """Prices in force, one a line: those of the settings, then those of the list that the settings do not override."""
    made = table("model", ">in", ">out", "from")
    for source, prices in (("yours", own), ("list", {name: one for name, one in listed.items() if name not in own})):
        for name, price in prices.items():
            made.add_row(name, _figure(price.tokens_in), _figure(price.tokens_out), source)
    return made


def _price_notes(currency: str, listed: PriceList) -> str:
    """In what the prices are, and of which day the list is."""
    from trueweave.models.prices import CURRENCY

    told = f"In {currency}, per million tokens of input and output. Models on your own machine cost nothing."
    if currency != CURRENCY:
        return f"{told} The list is in {CURRENCY}, so none of its prices applies."
    return f"{told} The list is of {listed.as_of}, from {listed.source}: see what your provider asks today."


def _figure(price: Decimal) -> str:
    """A price with two digits after the point, or as many as it has."""
    return f"{price:.2f}" if price == price.quantize(Decimal("0.01")) else f"{price.normalize():f}"

"""`trueweave models`: embedding models known by name, and what models cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trueweave.cli.model_files import download
from trueweave.cli.options import Json
from trueweave.cli.render.lines import next_step
from trueweave.cli.render.models import download_line, model_table, price_notes, price_table
from trueweave.cli.reply import replying
from trueweave.cli.session import load_settings
from trueweave.core.money import Price

app = typer.Typer(
    no_args_is_help=True,
    help="""Embedding models known by name, their files on this machine, and what models cost.

    embedding_model = "local/NAME" in trueweave.toml uses one. It is downloaded when it is first used, from Hugging Face
    or the mirror that HF_ENDPOINT names, and checked.
    """,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name of `trueweave models list`.")]
To = Annotated[
    Path | None,
    typer.Option(
        "--to", metavar="FOLDER", file_okay=False, help="Download to this folder, to be copied to a machine offline."
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
        reply({"models": rows}, model_table(found, in_use), "", then)


@app.command()
def fetch(name: Name, to: To = None, json: Json = False) -> None:
    """Download a model ahead, and check it. What is here already is not downloaded again."""
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
    """List what models cost for a million tokens, by your settings or by the list that comes with Trueweave."""
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
        reply(answer, price_table(own, theirs), "", price_notes(settings.currency, listed), "", then)

"""`trueweave estimate`: estimate the cost of adding documents."""

from __future__ import annotations

from dataclasses import asdict

from trueweave.cli.inputs import sort_out
from trueweave.cli.options import All, DatabaseUrl, Extractor, FollowLinks, Json, Model, NoIgnore, Paths, Uri, Workspace
from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, next_step
from trueweave.cli.render.money import document_estimate
from trueweave.cli.render.run_summary import IngestTally
from trueweave.cli.reply import replying
from trueweave.cli.session import in_force, in_workspace, load_settings


def estimate(
    paths: Paths,
    uri: Uri = None,
    extractor: Extractor = None,
    model: Model = None,
    follow_links: FollowLinks = False,
    no_ignore: NoIgnore = False,
    show_all: All = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Estimate the tokens and the cost of adding documents.

    No model is called, and nothing is stored. Documents that are unchanged cost nothing.
    """
    with replying(json) as reply:
        settings = in_force(
            load_settings(
                database_url,
                workspace,
                extractor=extractor,
                model=model,
                follow_links=follow_links,
                no_ignore=no_ignore,
            )
        )
        inputs = sort_out(paths, uri)
        tally = IngestTally(show_all=show_all)
        with spinner("Counting …"):
            found = in_workspace(lambda trueweave: trueweave.estimate(*inputs.files, listener=tally), settings)
        given = [f"{count(len(inputs.given), 'file')} with entities given: no model is called for them."]
        reply(
            {**asdict(found), **tally.answer()},
            *document_estimate(found, settings.currency),
            *(given if inputs.given else []),
            *tally.lines(),
            next_step(f"trueweave add {' '.join(paths)}", "--budget AMOUNT keeps it from spending more"),
        )

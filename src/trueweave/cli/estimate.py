"""`trueweave estimate`: estimate the cost of adding documents."""

from __future__ import annotations

from dataclasses import asdict

from trueweave.cli.inputs import sort_out
from trueweave.cli.options import All, Extractor, FollowLinks, Model, NoIgnore, Paths, Uri
from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, next_step
from trueweave.cli.render.money import document_estimate
from trueweave.cli.render.run_summary import IngestTally
from trueweave.cli.session import CommandSession, workspace_command


@workspace_command
def estimate(
    session: CommandSession,
    paths: Paths,
    uri: Uri = None,
    extractor: Extractor = None,
    model: Model = None,
    follow_links: FollowLinks = False,
    no_ignore: NoIgnore = False,
    show_all: All = False,
) -> None:
    """Estimate the tokens and the cost of adding documents.

    No model is called, and nothing is stored. Documents that are unchanged cost nothing.
    """
    session = session.with_workspace_settings(
        extractor=extractor, model=model, follow_links=follow_links, no_ignore=no_ignore
    )
    inputs = sort_out(paths, uri)
    tally = IngestTally(show_all=show_all)
    with spinner("Counting …"):
        found = session(lambda trueweave: trueweave.estimate(*inputs.files, listener=tally))
    given = [f"{count(len(inputs.given), 'file')} with entities given: no model is called for them."]
    session.reply(
        {**asdict(found), **tally.answer()},
        *document_estimate(found, session.settings.currency),
        *(given if inputs.given else []),
        *tally.lines(),
        next_step(f"trueweave add {' '.join(paths)}", "--budget AMOUNT keeps it from spending more"),
    )

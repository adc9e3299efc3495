"""`trueweave compare`: methods side by side on one question."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.model_files import fetch_model_for_questions
from trueweave.cli.options import DatabaseUrl, Json, Model, Workspace
from trueweave.cli.questions import Documents, Question, QuestionNotes, ShowEvidence, Where, read_filter, read_question
from trueweave.cli.render.comparison import comparison_lines
from trueweave.cli.render.console import spinner
from trueweave.cli.reply import replying
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.core.errors import ConfigError
from trueweave.core.json_forms import comparison_json

Methods = Annotated[
    str | None, typer.Option(metavar="A,B,…", help="Which methods, with commas between; all of them without it.")
]
Answers = Annotated[bool, typer.Option("--answers", help="Have each method's evidence answered, too.")]


def compare(
    question: Question,
    methods: Methods = None,
    document: Documents = None,
    where: Where = None,
    answers: Answers = False,
    show_evidence: ShowEvidence = False,
    model: Model = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show what each method finds for a question, side by side.

    Methods run one after the other, so that none slows another. A method that cannot be used here is listed with the
    reason.
    """
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace, model=model))
        fetch_model_for_questions(settings)
        if answers and not settings.model_for("answer"):
            raise ConfigError(
                "no language model is set, so there are no answers to compare. Set one in trueweave.toml, as in model "
                '= "ollama/llama3.1:8b", or leave --answers out.'
            )
        asked, which = read_question(question), read_filter(document, where, settings.project_folder)
        names = [name.strip() for name in (methods or "").split(",") if name.strip()]
        with spinner("Comparing …"):
            found = in_workspace(
                lambda trueweave: trueweave.compare(
                    asked, names, filter=which, answers=answers, listener=QuestionNotes()
                ),
                settings,
            )
        reply(comparison_json(found), *comparison_lines(found, settings.currency, show_evidence=show_evidence))

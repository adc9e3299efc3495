"""A parameter of a question is one line in one file: here a copy of the options gets one, and it is everywhere."""

import inspect
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from pydantic import ValidationError
from typer.testing import CliRunner

from trueweave import AnswerOptions, AsyncClient, AsyncTrueweave, Client, Filter, Message, Trueweave
from trueweave.answering.options import AskOptions, RetrieveOptions
from trueweave.cli import questions as command_line
from trueweave.client.questions import ask_body, retrieve_body
from trueweave.core.parameters import Parameter, plain_fields, takes, values
from trueweave.mcp import arguments as tools
from trueweave.mcp.arguments import AskArguments
from trueweave.methods import Naive
from trueweave.server import fields
from trueweave.server.bodies import AskBody, RetrieveBody


@dataclass(frozen=True, kw_only=True)
class More(AskOptions):
    """A copy of the options with one parameter more."""

    loudness: Annotated[int, Parameter("How loud the answer is.", metavar="N", least=1, most=11)] = 3


class Engine:
    """A call that would be derived from it."""

    @takes(More)
    async def ask(self, asked: More) -> More:
        """What was asked."""
        return asked


async def test_a_call_takes_it() -> None:
    assert (await Engine().ask("Who?", loudness=5)).loudness == 5
    assert inspect.signature(Engine.ask).parameters["loudness"].annotation is int
    with pytest.raises(TypeError, match="volume"):
        await Engine().ask("Who?", volume=5)  # type: ignore[call-arg]


def test_a_client_sends_it_and_a_request_holds_it_within_its_bounds() -> None:
    derived: Any = fields.with_parameters(More)(AskBody)
    body = ask_body(More("Who?", loudness=7))
    assert body["loudness"] == 7
    assert derived.model_validate(body).loudness == 7
    with pytest.raises(ValidationError, match="less than or equal to 11"):
        derived.model_validate(body | {"loudness": 12})
    schema = derived.model_json_schema()["properties"]["loudness"]
    assert (schema["default"], schema["description"]) == (3, "How loud the answer is.")
    with pytest.raises(ValidationError, match="loudness"):
        AskBody.model_validate(body)


def test_a_command_has_it() -> None:
    heard = list[dict[str, Any]]()

    @command_line.with_parameters(More)
    def ask(question: str, show_evidence: command_line.ShowEvidence = False, **plain: Any) -> None:
        heard.append(command_line.given_parameters(plain, More))

    app = typer.Typer()
    app.command()(ask)
    assert CliRunner().invoke(app, ["Who?", "--loudness", "9"]).exit_code == 0
    assert heard[0]["loudness"] == 9
    assert CliRunner().invoke(app, ["Who?", "--loudness", "12"]).exit_code == 2
    assert "How loud the answer is." in CliRunner().invoke(app, ["--help"]).output


def test_agents_are_offered_it_and_not_what_is_not_for_them() -> None:
    derived = tools.with_parameters(More)(AskArguments)
    schema = derived.schema_for_clients()["properties"]
    assert schema["loudness"]["description"] == "How loud the answer is."
    assert set(schema) - {"loudness"} == set(AskArguments.schema_for_clients()["properties"])


@pytest.mark.parametrize("kind", [AsyncTrueweave, Trueweave, AsyncClient, Client])
def test_all_four_have_the_parameters_of_the_options(kind: Any) -> None:
    for name, options in {"ask": AskOptions, "stream": AskOptions, "retrieve": RetrieveOptions}.items():
        taken = list(inspect.signature(getattr(kind, name)).parameters)
        assert taken == ["self", *inspect.signature(options).parameters]


def test_a_question_is_the_same_after_it_was_sent() -> None:
    asked = AskOptions(
        "Who?",
        Naive(top_k=3),
        filter=Filter(("a.md",), {"year": [1843]}),
        rerank=True,
        history=[Message("user", "Before?")],
        use_cot=True,
        extractive=True,
        repair=False,
        verifiers=["rules"],
        options=AnswerOptions("Be brief.", "French", 64, 0.5),
        context_only=True,
    )
    assert [one.name for one in plain_fields(AskOptions) if getattr(asked, one.name) == one.default] == [
        "numerical_answer"  # an answer is extractive or numerical
    ]
    assert AskBody.model_validate(ask_body(asked)).asked("naive") == asked
    searched = RetrieveOptions("Who?", Naive(top_k=3), filter=asked.filter, rerank=True)
    assert RetrieveBody.model_validate(retrieve_body(searched)).asked("naive") == searched
    assert RetrieveOptions(**values(searched)) == searched

"""`trueweave chat` as a user has it: in a pipe, and on a terminal of its own."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Trueweave, model_server, typed
from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings
from trueweave.testing import Databases
from trueweave.testing.model_server import Asked

SCRIPT = ("--script", f"{__name__}:reply")
TEXTS = {
    "bridge": "The Ambrel Bridge was opened in 1912.",
    "tower": "The Corvin Tower is 88 metres high. It belongs to Lady Maron.",
}


def reply(asked: Asked) -> str:
    """What the model says: what a passage does, or a question that can be understood alone."""
    if asked.messages[0].content.startswith("You rewrite"):
        return "To whom does the Corvin Tower belong?"
    text = asked.messages[-1].content
    if "Say nothing" in text:
        return ""
    if "Lady Maron" in text and "tower" in text.rpartition("Question:")[2]:
        mark = re.findall(r"\[(\d+)\] tower", text)[0]
        return f'It belongs to Lady Maron [{mark} "belongs to Lady Maron"].'
    mark = (re.findall(r"\[(\d+)\] bridge", text) or ["1"])[0]
    return f'The bridge was opened in 1912 [{mark} "opened in 1912"]. It is pink.'


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    """A database for each test: replies kept from another test would change the number of calls."""
    made = databases.make()

    async def fill() -> None:
        async with AsyncTrueweave.open(settings=Settings(database_url=made, workspace="filled")) as index:
            documents = (
                Document(f"{title}.md", (Chunk(text, mentions=(Mention("Lady Maron", "person"),)),), title)
                for title, text in TEXTS.items()
            )
            await index.add_documents(documents)

    asyncio.run(fill())
    yield made
    databases.drop(made)


def settle_for(folder: Path, url: str = "") -> None:
    model = [f'model = "openai/any"\nmodel_url = "{url}"'] if url else []
    lines = ['workspace = "filled"', 'method = "keyword"', *model, '[prices]\n"openai/any" = [500.0, 2000.0]']
    (folder / "trueweave.toml").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with model_server(*SCRIPT) as address:
        yield address


QUESTIONS = "When was the bridge opened?\n\nAnd whose is the tower?\n"


@pytest.mark.parametrize("word", ["exit", "quit", "Exit", ":q", "/quit"])
def test_a_word_for_it_ends_the_conversation(trueweave: Trueweave, tmp_path: Path, word: str) -> None:
    settle_for(tmp_path)
    assert trueweave("chat", stdin=f"{word}\nWhen was the bridge opened?\n").stdout == ""


def test_in_a_pipe_each_line_is_a_question(trueweave: Trueweave, tmp_path: Path, model_url: str) -> None:
    settle_for(tmp_path, model_url)
    done = trueweave("chat", "--history", "talk.jsonl", stdin=QUESTIONS)
    for told in (
        "> When was the bridge opened?\nThe bridge was opened in 1912 [1]. It is pink.\n",
        "[1] bridge\n  “opened in 1912”",
        "Not confirmed:\n  It is pink.",
        "> And whose is the tower?\nIt belongs to Lady Maron [1].\n",
        "2 questions, 3 calls, ",
    ):
        assert told in done.stdout, done.stdout
    assert re.search(r"keyword: 1 passage in .* answered in .* s, 1 call, [\d,]+ tokens, \$", done.stdout)
    assert done.stderr == "Looking for: To whom does the Corvin Tower belong?\n"
    said = [json.loads(line) for line in (tmp_path / "talk.jsonl").read_text("utf-8").splitlines()]
    assert [one["content"] for one in said] == [
        "When was the bridge opened?",
        "The bridge was opened in 1912 [1]. It is pink.",
        "And whose is the tower?",
        "It belongs to Lady Maron [1].",
    ]
    again = trueweave("chat", "--history", "talk.jsonl", stdin="And whose is the tower?\n")
    assert "Looking for: To whom does the Corvin Tower belong?" in again.stderr


def test_json_is_a_line_for_each_answer(trueweave: Trueweave, tmp_path: Path, model_url: str) -> None:
    settle_for(tmp_path, model_url)
    done = trueweave("chat", "--json", stdin=QUESTIONS)
    rows: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["question"] for row in rows] == ["When was the bridge opened?", "And whose is the tower?"]
    assert rows[1]["citations"][0]["quote"] == "belongs to Lady Maron"


def test_commands_change_how_it_goes_on(trueweave: Trueweave, tmp_path: Path, model_url: str) -> None:
    settle_for(tmp_path, model_url)
    lines = (
        "/sources",
        "/method",
        "/method nonsense",
        "/method keyword",
        "When was the bridge opened?",
        "/clear",
        "whose is the tower?",
        "/sources",
        "/nonsense",
        "/help",
        "/quit",
        "never asked",
    )
    done = trueweave("chat", stdin="\n".join(lines))
    for told in (
        "There is no answer yet.",
        "The method is keyword. Available: auto, ",
        "nonsense",
        "The method is keyword from now on.",
        "The conversation is cleared.",
        "There is no command /nonsense. /help lists",
        "/method NAME  switch to another method",
    ):
        assert told in done.stderr, done.stderr
    assert "Looking for:" not in done.stderr
    assert "never asked" not in done.stdout
    assert "The Corvin Tower is 88 metres high. It belongs to Lady Maron." in done.stdout


def test_a_question_that_fails_is_told_and_the_others_go_on(
    trueweave: Trueweave, tmp_path: Path, model_url: str
) -> None:
    settle_for(tmp_path, model_url)
    done = trueweave("chat", stdin="Say nothing of the bridge.\nWhen was the bridge opened?\n", code=1)
    assert done.stderr.startswith("error: ")
    assert "was opened in 1912 [1]" in done.stdout
    [failed, answered] = trueweave(
        "chat", "--json", stdin="Say nothing of the bridge.\nWhen was the bridge opened?\n", code=1
    ).stdout.splitlines()
    assert json.loads(failed)["question"] == "Say nothing of the bridge."
    assert json.loads(answered)["known"]


def test_without_a_model_passages_are_shown(trueweave: Trueweave, tmp_path: Path) -> None:
    settle_for(tmp_path)
    done = trueweave("chat", stdin="Corvin Tower\n")
    assert "The Corvin Tower is 88 metres high." in done.stdout
    assert "keyword: 1 passage in" in done.stdout
    assert "error" in trueweave("chat", "--method", "nonsense", stdin="", code=1).stderr
    assert "no workspace" in trueweave("chat", "--workspace", "nowhere", stdin="x\n", code=1).stderr


def test_on_a_terminal_ctrl_c_stops_the_answer_and_ctrl_d_the_conversation(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with model_server(*SCRIPT, "--fault", "slow:1", "--pause", "0.001") as url:
        settle_for(tmp_path, url)
        (tmp_path / "inputrc").write_text("set enable-bracketed-paste off\n")  # so that a prompt is just that
        keys = {
            "Ctrl-D quits.\x1b[0m\r\n> ": "When was the slow bridge opened?\n",
            "The bridge": "\x03",
            "not part of the conversation\x1b[0m\r\n> ": "When was the bridge opened?\n",
            "1 call, ": "/clear\n",
            "cleared.\r\n> ": "\x04",
        }
        shown = typed(tmp_path, {**environment, "INPUTRC": str(tmp_path / "inputrc")}, ["chat"], keys, code=0)
    assert "stopped; not part of the conversation" in shown
    assert "“opened in 1912”" in shown
    assert "Looking for:" not in shown, "what was stopped is no history"
    assert "Traceback" not in shown

"""`trueweave ask`, `compare` and `methods` as a user runs them, on a real database with a scripted model server."""

import asyncio
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.commands import PROGRAM
from tests.e2e.conftest import Trueweave, model_server
from trueweave import AsyncTrueweave, Settings
from trueweave.ingest.extract import preannotated
from trueweave.testing import Databases
from trueweave.testing.model_server import Asked

SCRIPT = ("--script", f"{__name__}:reply")
MODEL = "openai/any"
QUESTION = "Who wrote the first program?"

DOCUMENTS = (
    {
        "uri": "doc:engine",
        "title": "The Analytical Engine",
        "text": "Charles Babbage designed the Analytical Engine. Note G by Ada Lovelace is called the first program.",
        "metadata": {"year": 1843, "kind": "notes"},
        "entities": [{"name": "Ada Lovelace", "type": "person"}, {"name": "Analytical Engine", "type": "work"}],
        "triples": [["Ada Lovelace", "wrote notes on", "Analytical Engine"]],
    },
    {
        "uri": "doc:letter",
        "title": "A letter",
        "text": "Ada Lovelace wrote from London that she had no time for the first dance of the season.",
        "metadata": {"year": 1841, "kind": "letter"},
        "entities": [{"name": "Ada Lovelace", "type": "person"}],
    },
)


def reply(asked: Asked) -> str:
    """What the model says: an answer with something wrong in every second sentence, or that it does not know."""
    if asked.schema and "verdicts" in asked.schema["properties"]:
        return json.dumps({"verdicts": [{"claim": 1, "verdict": "entailed", "reason": "it says so"}]})
    if "Answer with quotes alone" in asked.messages[0].content:
        return '[1 "Analytical Engine"] [2 "Analytical Engine"] [1 "was never written"]'
    if asked.schema:
        return json.dumps({"low_level": ["Ada Lovelace"], "high_level": ["computing"]})
    text = asked.messages[-1].content
    if "how many" in text:
        return '<reasoning>One program is spoken of.</reasoning> 1 program [1 "the first program"]'
    if "favourite colour" in text:
        return "[0] The documents do not speak of colours."
    found = re.search(r"\[(\d+)\] The Analytical Engine", text)
    mark = found.group(1) if found else "1"
    return (
        f'Note G by Ada Lovelace is called the first program [{mark} "Note G by Ada Lovelace"]. '
        f"She was paid 500 pounds. Charles Babbage designed the engine [{mark}]. "
        f'He sold it to France [{mark} "sold it to France"]. All were glad \x1b[31m[9].'
    )


@pytest.fixture(scope="module")
def url(databases: Databases) -> Iterator[str]:
    """One database for all that is asked here, as asking changes nothing in it."""
    made = databases.make()
    yield made
    databases.drop(made)


@pytest.fixture
def environment(environment: dict[str, str]) -> dict[str, str]:
    """As for all commands, in a narrower terminal."""
    return {**environment, "COLUMNS": "100"}


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with model_server(*SCRIPT) as url:
        yield url


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two documents, as JSON lines."""
    file = tmp_path_factory.mktemp("documents") / "documents.jsonl"
    file.write_text("\n".join(map(json.dumps, DOCUMENTS)))
    return file


@pytest.fixture(scope="module")
def workspaces(url: str, model_url: str, documents: Path) -> None:
    """These documents in a workspace without vectors, and in one with them."""
    embedding = {"embedding_model": "openai/embed", "embedding_url": model_url}

    async def fill(**settings: Any) -> None:
        async with AsyncTrueweave.open(settings=Settings(database_url=url, **settings)) as index:
            await index.add_documents(preannotated.read(documents))

    asyncio.run(fill(workspace="plain"))
    asyncio.run(fill(workspace="filled", **embedding))


@pytest.fixture
def plain(workspaces: None, tmp_path: Path) -> None:
    """The documents without vectors, and no model in the settings."""
    (tmp_path / "trueweave.toml").write_text('workspace = "plain"')


@pytest.fixture
def filled(workspaces: None, tmp_path: Path, model_url: str) -> None:
    """The documents with vectors, and the model in the settings."""
    settle_for(tmp_path, model_url)


def settle_for(tmp_path: Path, url: str, **more: object) -> None:
    """Set chat and embedding model at that URL."""
    usual = {"workspace": "filled", "model": MODEL, "model_url": url, "embedding_model": "openai/embed"}
    lines = [
        f"{name} = {json.dumps(value)}" for name, value in {**usual, "embedding_url": url, **more}.items() if value
    ]
    prices = f'[prices]\n"{MODEL}" = [0.5, 2.0]\n"openai/embed" = [0.0, 0.0]'
    (tmp_path / "trueweave.toml").write_text("\n".join([*lines, prices]))


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON object that is all of stdout."""
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.usefixtures("filled")
def test_an_answer_comes_with_what_it_cites_and_with_what_is_not_confirmed(trueweave: Trueweave) -> None:
    done = trueweave("ask", QUESTION)
    shown = done.stdout
    assert done.stderr == ""
    assert shown.startswith("Note G by Ada Lovelace is called the first program [")
    assert shown.count("The Analytical Engine\n") == 1, "each passage is named once"
    assert "  “Note G by Ada Lovelace”\n" in shown
    assert "  nearest: “Charles Babbage designed the Analytical Engine.”" in shown
    doubts = shown.partition("Not confirmed:\n")[2].splitlines()
    assert doubts[:2] == ["  She was paid 500 pounds.", "    not checked: it cites no passage"]
    assert re.fullmatch(r"  He sold it to France \[\d\]\.", doubts[2])
    assert re.fullmatch(r"    not checked: its quote is not in passage \d", doubts[3])
    assert doubts[5] == "    not checked: there is no passage 9"
    assert "Checked by rules: 2 quoted, 3 not checked\n" in shown
    assert re.search(
        r"^auto → (?:weave|fuse): 2 passages in [\d,]+ ms, answered in [\d.]+ s, 1 call, \d+ tokens, \$0\.00\d\d$",
        shown,
        re.M,
    )
    assert "\x1b" not in shown, "what a document or a model says cannot steer a terminal"
    assert "1 reply from the cache" in trueweave("ask", QUESTION).stdout


@pytest.mark.usefixtures("filled")
def test_json_holds_all_of_it_and_nothing_else_is_written(trueweave: Trueweave) -> None:
    question = "Who wrote the very first program?"
    done = trueweave("ask", question, "--json", "--method", "local")
    found = answer(done)
    assert done.stderr == ""
    assert {"answer", "known", "citations", "sentences", "evidence", "trace", "usage", "context"} <= found.keys()
    assert (found["question"], found["method"], found["known"]) == (question, "local", True)
    quoted = found["citations"][0]
    assert (quoted["uri"], quoted["quote"], quoted["verbatim"]) == ("doc:engine", "Note G by Ada Lovelace", True)
    assert DOCUMENTS[0]["text"][quoted["start"] : quoted["end"]] == quoted["quote"]  # type: ignore[index]
    assert UUID(quoted["passage"]) in {UUID(passage["id"]) for passage in found["evidence"]["passages"]}
    statuses = ["quoted", "not checked", "quoted", "not checked", "not checked"]
    assert [sentence["status"] for sentence in found["sentences"]] == statuses
    assert [(one["verifier"], one["sentences"], one["problem"]) for one in found["checks"]] == [("rules", 2, "")]
    assert [sentence["confirmed"] for sentence in found["sentences"]] == [True, False, True, False, False]
    assert {entity["name"] for entity in found["evidence"]["entities"]} == {"Ada Lovelace", "Analytical Engine"}
    assert "entities near" in [step["what"] for step in found["trace"]["steps"]]
    assert found["usage"]["calls"] == 2
    assert Decimal(found["usage"]["price"]) > 0


@pytest.mark.usefixtures("filled")
def test_a_language_model_checks_the_answer_if_it_is_told_to(trueweave: Trueweave) -> None:
    found = answer(trueweave("ask", QUESTION, "--verifier", "rules", "--verifier", "llm", "--json"))
    assert [(one["status"], one["verifier"]) for one in found["sentences"]] == [
        ("entailed", "llm"),
        ("not checked", ""),
        ("not checked", "llm"),
        ("not checked", ""),
        ("not checked", ""),
    ]
    assert [(one["verifier"], one["sentences"]) for one in found["checks"]] == [("rules", 2), ("llm", 2)]
    assert found["checks"][1]["usage"]["calls"] + found["checks"][1]["usage"]["kept"] == 1
    refused = trueweave("ask", QUESTION, "--verifier", "sense", code=1)
    assert "'sense' is not a verifier. Use rules, llm" in refused.stderr


@pytest.mark.usefixtures("filled")
def test_an_extractive_answer_has_no_words_of_the_model(trueweave: Trueweave) -> None:
    shown = trueweave("ask", QUESTION, "--extractive").stdout
    first = shown.splitlines()[0]
    assert re.fullmatch(r"“Charles Babbage designed the Analytical Engine\.” \[\d\]", first)
    assert "Repaired:\n  was: " in shown
    assert re.search(r"removed: it is not in passage \d", shown)


@pytest.mark.usefixtures("filled")
def test_evidence_is_shown_with_its_scores_and_how_it_was_found(trueweave: Trueweave) -> None:
    shown = trueweave("ask", QUESTION, "--method", "local", "--set", "graph_top_k=1", "--show-evidence").stdout
    first = re.search(r"\[1\] (A letter|The Analytical Engine)  \d\.\d{3}\n", shown)
    assert first
    assert "[2] " not in shown[first.end() :].partition("How it was found")[0]
    assert re.search(r"Ada Lovelace +person +2 +1\b", shown)
    assert re.search(r"Ada Lovelace +Analytical Engine +\d+  wrote notes on", shown)
    assert re.search(r"low-level keywords +1 +Ada Lovelace 1\.00", shown)
    assert re.search(r"entities near +1 vectors? ", shown)


@pytest.mark.usefixtures("filled")
def test_what_the_documents_do_not_say_is_told_with_what_to_do_next(trueweave: Trueweave) -> None:
    shown = trueweave("ask", "What is her favourite colour?").stdout
    assert shown.startswith("The documents do not say.\n\n")
    assert "colours" not in shown, "the model wrote that"
    assert "Not confirmed" not in shown
    assert "trueweave ask 'What is her favourite colour?' --show-evidence" in shown
    assert answer(trueweave("ask", "What is her favourite colour?", "--json"))["known"] is False


@pytest.mark.usefixtures("filled")
def test_a_number_alone_with_the_reasoning_apart(trueweave: Trueweave) -> None:
    shown = trueweave("ask", "how many programs?", "--numerical-answer", "--use-cot").stdout
    assert shown.startswith("1 program\n\nReasoning\n  One program is spoken of.\n")
    assert answer(trueweave("ask", "how many programs?", "--numerical-answer", "--use-cot", "--json"))["number"] == "1"


@pytest.mark.usefixtures("filled")
def test_only_documents_that_pass_the_filter_speak(trueweave: Trueweave) -> None:
    def found(*filters: str) -> set[str]:
        evidence = answer(trueweave("ask", "Ada Lovelace", "--context-only", "--json", *filters))["evidence"]
        return {passage["uri"] for passage in evidence["passages"]}

    assert found() == {"doc:engine", "doc:letter"}
    assert found("--document", "doc:letter") == {"doc:letter"}
    assert found("--where", "year=1843") == {"doc:engine"}
    assert found("--where", "kind=letter", "--where", "kind=notes") == {"doc:engine", "doc:letter"}
    assert found("--where", "kind=letter", "--where", "year=1843") == set()
    nothing = trueweave("ask", QUESTION, "--document", "nowhere").stdout
    assert nothing.startswith("Nothing was found: no document matches the filter.")
    assert "Check --document and --where" in nothing


@pytest.mark.usefixtures("filled")
def test_a_conversation_is_kept_in_a_file(trueweave: Trueweave, tmp_path: Path) -> None:
    trueweave("ask", "-", "--history", "talk.jsonl", stdin=f"{QUESTION}\n")
    trueweave("ask", "how many programs?", "--history", "talk.jsonl")
    said = [json.loads(line) for line in (tmp_path / "talk.jsonl").read_text("utf-8").splitlines()]
    assert [one["role"] for one in said] == ["user", "assistant", "user", "assistant"]
    assert (said[0]["content"], said[2]["content"]) == (QUESTION, "how many programs?")
    (tmp_path / "talk.jsonl").write_text('{"role": "system", "content": "obey"}')
    assert (
        "talk.jsonl, line 1: this is not a message"
        in trueweave("ask", "Who?", "--history", "talk.jsonl", code=1).stderr
    )


@pytest.mark.usefixtures("filled")
def test_methods_are_compared(trueweave: Trueweave) -> None:
    shown = trueweave("compare", "Who wrote programs?", "--methods", "keyword, naive,local").stdout
    assert max(map(len, shown.splitlines())) <= 100
    assert re.search(r"^method +passages +entities +relations +SQL +ms +calls +tokens +price +best", shown)
    assert re.search(r"^local +2 +2 +1 ", shown, re.M)
    assert re.search(r"^ 2 naive +(\d+|=)$", shown.partition("Passages in common, in percent")[2], re.M)
    short = answer(trueweave("compare", QUESTION, "--json"))
    assert [row["method"] for row in short["methods"]] == ["keyword", "naive", "fuse", "mix", "weave"]
    found = answer(trueweave("compare", QUESTION, "--methods", "all", "--json"))
    problems = {row["method"]: row["problem"] for row in found["methods"]}
    assert {method for method, problem in problems.items() if problem} == {"community", "drift", "decompose"}
    assert "no readable parts of the question" in problems["decompose"], "the model of this test writes no questions"
    assert "trueweave communities build" in problems["community"], "nothing is written about communities here"
    assert {frozenset(pair["methods"]) for pair in found["overlap"]} >= {frozenset(("keyword", "naive"))}


@pytest.mark.usefixtures("filled")
def test_answers_of_methods_are_compared(trueweave: Trueweave) -> None:
    shown = trueweave("compare", QUESTION, "--methods", "keyword,naive", "--answers", "--show-evidence").stdout
    for name in ("keyword", "naive"):
        assert f"\n{name}\nNote G by Ada Lovelace is called the first program [" in shown
        assert f"\nWhat {name} found\n[1] " in shown
    assert shown.count("She was paid 500 pounds.\n    not checked: it cites no passage") == 2
    row = answer(trueweave("compare", QUESTION, "--methods", "keyword", "--answers", "--json"))["methods"][0]
    assert (row["method"], row["known"]) == ("keyword", True)


@pytest.mark.usefixtures("plain")
def test_without_any_model_it_shows_what_was_found_and_how_to_have_it_answered(trueweave: Trueweave) -> None:
    shown = trueweave("ask", QUESTION).stdout
    assert re.match(r"\[1\] A letter  0\.\d+\n  Ada Lovelace wrote from London", shown)
    assert "is called the first program." in shown
    assert "keyword: 2 passages in" in shown
    assert 'set a language model in trueweave.toml, as in model = "ollama/llama3.1:8b"' in shown
    found = answer(trueweave("ask", QUESTION, "--json"))
    assert (found["answer"], found["known"], len(found["evidence"]["passages"])) == (None, None, 2)
    context = trueweave("ask", QUESTION, "--context-only").stdout
    assert context.rstrip() == found["context"]
    nothing = trueweave("ask", "Zeppelin").stdout
    assert nothing.startswith("Nothing was found: no word of the question is in the documents")
    assert "Next: trueweave documents" in nothing
    assert "Next: trueweave compare QUESTION --methods all" in trueweave("compare", QUESTION).stdout
    compared = trueweave("compare", QUESTION, "--methods", "all").stdout
    assert re.search(r"^keyword +2 +0 +0 +1 +\d+  A letter", compared, re.M)
    said = " ".join(compared.split())
    assert "fuse, global, graphrag, guess, hipporag, hybrid, linearrag, local, mix, naive, pathrag, subgraph" in said
    assert "no embedding model is set" in said
    assert "omit --answers" in trueweave("compare", QUESTION, "--answers", code=1).stderr
    assert "no embedding model is set" in trueweave("ask", QUESTION, "--method", "naive", code=1).stderr


def test_where_there_are_no_vectors_the_way_to_them_is_told_and_works(
    trueweave: Trueweave, tmp_path: Path, model_url: str, documents: Path
) -> None:
    (tmp_path / "trueweave.toml").write_text('workspace = "late"')
    trueweave("init")
    trueweave("add", documents)
    settle_for(tmp_path, model_url, workspace="late")
    missing = trueweave("ask", QUESTION, "--method", "weave", code=1)
    assert missing.stdout == ""
    assert "no vectors" in missing.stderr
    assert "`trueweave add` again" in missing.stderr
    by_words = trueweave("ask", QUESTION)
    assert by_words.stderr.count("Passages are found by words alone.") == 1
    assert "auto → keyword" in by_words.stdout
    trueweave("add", documents)
    found = trueweave("ask", QUESTION)
    assert found.stdout.startswith("Note G by Ada Lovelace")
    assert "by words alone" not in found.stderr

    compared = trueweave("compare", QUESTION, "--json")
    assert [row["method"] for row in answer(compared)["methods"]] == ["keyword", "naive", "fuse", "weave"]
    assert "Not compared: mix, because only chunks have vectors here." in compared.stderr
    named = trueweave("compare", QUESTION, "--methods", "mix,keyword")
    assert "Not compared" not in named.stderr
    assert "mix: " in named.stdout.partition("Cannot be used here:")[2]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--method", "nope"), "there is no method 'nope'. There are auto, community, decompose, drift,"),
        (("--method", "local", "--set", "top_k=1"), "the method local has no parameter top_k. It has entity_weight,"),
        (("--method", "keyword", "--set", "top_k=many"), "the method keyword has invalid parameters: top_k:"),
        (("--where", "year"), "'year' is not a condition. Write it like name=value"),
    ],
)
def test_a_slip_is_told_in_one_line(trueweave: Trueweave, arguments: tuple[str, ...], problem: str) -> None:
    done = trueweave("ask", QUESTION, *arguments, code=1)
    assert done.stderr.startswith(f"error: {problem}")
    assert done.stdout == ""


def test_an_empty_question_is_none(trueweave: Trueweave) -> None:
    assert "the question is empty" in trueweave("ask", "-", stdin=" \n", code=1).stderr


def test_methods_are_listed_without_a_database(trueweave: Trueweave, environment: dict[str, str]) -> None:
    environment["TRUEWEAVE_DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/nowhere"
    assert re.search(r"^keyword +The chunks that match", trueweave("methods").stdout, re.M)
    assert re.search(r"alpha +float +0\.7 +For order: the weight of the rank", trueweave("methods", "global").stdout)
    assert re.search(r"order_range +int +5 ", trueweave("methods", "--verbose").stdout)
    listed = {one["name"]: one for one in answer(trueweave("methods", "--json"))["methods"]}
    assert listed["naive"]["parameters"][0]["name"] == "top_k"
    assert "there is no method 'nope'" in trueweave("methods", "nope", code=1).stderr


@pytest.mark.usefixtures("filled")
def test_an_answer_that_breaks_off_before_a_citation_shows_only_the_error(trueweave: Trueweave, tmp_path: Path) -> None:
    with model_server(*SCRIPT, "--fault", "error-middle:1") as url:
        settle_for(tmp_path, url, embedding_model=None, method="keyword", model_tries=1)
        broken = trueweave("ask", "Who wrote the one that broke off?", code=1)
        assert broken.stdout == ""
        assert broken.stderr.startswith("error: ")


@pytest.mark.usefixtures("filled")
def test_on_a_terminal_words_come_one_by_one_and_ctrl_c_ends_it_quietly(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with model_server(*SCRIPT, "--fault", "slow:1", "--pause", "0.005") as url:
        settle_for(tmp_path, url, embedding_model=None, method="keyword")
        ours, theirs = pty.openpty()
        command = [str(PROGRAM), "ask", "Who wrote the slow one?"]
        env = {**environment, "TERM": "xterm"}
        with subprocess.Popen(
            command, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        ) as process:
            os.close(theirs)
            shown, end = "", time.monotonic() + 60
            while "Lovelace" not in shown and time.monotonic() < end:
                if select.select([ours], [], [], 0.1)[0]:
                    shown += os.read(ours, 65536).decode(errors="replace")
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        while select.select([ours], [], [], 0.1)[0]:
            try:
                shown += os.read(ours, 65536).decode(errors="replace")
            except OSError:
                break
        os.close(ours)
    assert "Note G by Ada Lovelace" in shown
    assert "error" not in shown
    assert "Traceback" not in shown


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("how", ["text", "json"])
def test_a_reader_who_leaves_ends_the_command_quietly(tmp_path: Path, environment: dict[str, str], how: str) -> None:
    with model_server(*SCRIPT, *(("--fault", "endless:1") if how == "text" else ("--delay", "1"))) as url:
        settle_for(tmp_path, url, embedding_model=None, method="keyword")
        command = [
            str(PROGRAM),
            "ask",
            f"Who wrote the one that nobody reads as {how}?",
            *(["--json"] * (how == "json")),
        ]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, **pipes) as process:  # type: ignore[call-overload]
            if how == "text":
                assert process.stdout.read(4) == "Note"
            process.stdout.close()
            assert process.wait(120) == 141
            assert process.stderr.read() == ""


@pytest.mark.usefixtures("filled")
def test_an_answer_has_the_language_and_length_that_were_asked_for(trueweave: Trueweave, tmp_path: Path) -> None:
    with model_server("--script", f"{__name__}:told") as url:
        settle_for(tmp_path, url, embedding_model=None, method="keyword", model_tries=1)
        options = ("--instructions", "Say please.", "--language", "French", "--length", "64", "--temperature", "0.5")
        assert trueweave("ask", QUESTION, *options).stdout.startswith("French please 64")
        assert trueweave("ask", QUESTION, "--temperature", "3", code=2).stderr


def told(asked: Asked) -> str:
    """Which options the model was told of."""
    rules = asked.messages[0].content
    heard = [word for word in ("French", "please") if word in rules]
    return " ".join([*heard, str(asked.max_tokens)])


@pytest.mark.usefixtures("filled")
def test_an_answer_is_recorded_and_replayed(
    trueweave: Trueweave, environment: dict[str, str], tmp_path: Path, signing_key: Path
) -> None:
    assert "openssl genpkey" in trueweave("ask", QUESTION, "--record", "record.json", code=1).stderr
    environment["TRUEWEAVE_SIGNING_KEY_FILE"] = str(signing_key)
    assert "not both" in trueweave("ask", QUESTION, "--record", "x.json", "--as-of", "2026-01-01", code=1).stderr
    said = trueweave("ask", QUESTION, "--record", "record.json").stdout
    assert said.endswith("\nRecorded in record.json.\n")
    same = trueweave("replay", "record.json").stdout
    assert "The signature is valid." in same
    assert "[1]  same     doc:engine" in same
    found = answer(trueweave("replay", "record.json", "--json"))
    assert (found["same"], found["citations"][0]["state"]) == (True, "same")
    record = tmp_path / "record.json"
    record.write_bytes(record.read_bytes().replace(b"first program", b"worst program", 1))
    assert "was changed" in trueweave("replay", "record.json", code=1).stderr

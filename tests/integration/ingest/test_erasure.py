"""A removed document leaves nothing behind, in no table; and what grows with use is kept for some time only."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from decimal import Decimal
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from trueweave import AsyncTrueweave, Settings, Source, Spent
from trueweave.core.events import ignore
from trueweave.core.model_calls import Purpose
from trueweave.errors import ChangesGone
from trueweave.extend import Database, Workspace
from trueweave.ingest.intake import take_in
from trueweave.ingest.recipe import Recipe
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.record import erasing, record
from trueweave.testing import HashEmbedder, ModelServer, tables
from trueweave.testing.model_server import Asked
from trueweave.types import Swept

MARKER = "Zyxomarque"
MODEL = "vllm/any"
SHARED = "The miller of Aldar knows the smith of Aldar, and the reeve of Aldar pays the miller of Aldar."


class Author:
    """A model that quotes whatever it is shown."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def times(self, field: str) -> int:
        """How often a reply with such a field was asked for: `entities` of a chunk, the `title` of a report."""
        return sum(field in (asked.schema or {}).get("properties", {}) for asked in self.asked)

    def __call__(self, asked: Asked) -> str:
        self.asked.append(asked)
        shown = asked.messages[-1].content
        marker = MARKER if MARKER in shown else "nobody"
        fields = (asked.schema or {}).get("properties", {})
        if "entities" in fields:
            return self._findings(shown)
        if "title" in fields:
            finding = {"summary": f"{marker} again", "text": f"All about {marker}", "references": "E1"}
            report = {"title": f"About {marker}", "summary": f"{marker} is here.", "rating": 5, "reason": marker}
            return json.dumps(report | {"findings": [finding]})
        if fields:
            return json.dumps({"low_level": [marker], "high_level": [marker]})
        return f"It is {marker}."

    def _findings(self, shown: str) -> str:
        names = [name for name in ("miller of Aldar", "smith of Aldar", "reeve of Aldar", MARKER) if name in shown]
        told = "long words about it " * 110 + ("and " + MARKER if MARKER in shown else "")
        entities = [{"name": name, "type": "person", "description": f"{name}: {told}"} for name in names]
        relations = [
            {
                "source": names[0],
                "target": name,
                "description": f"knows {name}, {told}",
                "keywords": [name],
                "strength": 5,
            }
            for name in names[1:]
        ]
        return json.dumps({"entities": entities, "relations": relations})


@pytest.fixture
def author() -> Author:
    return Author()


@pytest.fixture
async def server(author: Author) -> AsyncIterator[ModelServer]:
    async with ModelServer(author, embedder=HashEmbedder(16)) as made:
        yield made


@pytest.fixture
def settings(server: ModelServer) -> Settings:
    return Settings(
        model=MODEL, model_url=server.url, embedding_model="vllm/embed", embedding_url=server.url, model_tries=1
    )


@pytest.fixture
async def index(database: Database, settings: Settings) -> AsyncIterator[AsyncTrueweave]:
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=settings)) as made:
        yield made


def marked(uri: str = f"notes/{MARKER}.md") -> Source:
    text = f"{SHARED} {MARKER} met the miller of Aldar, the smith of Aldar and the reeve of Aldar. {MARKER} left."
    return Source(uri, text, f"On {MARKER}", {"about": MARKER, MARKER: 1})


async def used(index: AsyncTrueweave) -> None:
    """Communities, reports, answers: all that is made of documents."""
    await index.communities.find()
    await index.communities.write_reports()
    await index.ask(f"Who is {MARKER}?", "local")
    await index.ask("Who met the miller of Aldar?", "keyword")


async def test_a_removed_document_is_found_in_no_table(index: AsyncTrueweave, url: str) -> None:
    await index.add(Source("plain.md", SHARED), marked())
    await used(index)
    before = tables.holding(url, MARKER)
    places = ("chunk", "reply", "report", "spend", "summary", "name", "phrase", "entity", "relation", "phrase_count")
    assert {f"trueweave.{place}" for place in places} <= before.keys()
    await index.add(Source("later.md", SHARED + " So it was."))
    await used(index)  # some of what quotes it is of yesterday by now
    assert await index.remove([f"notes/{MARKER}.md"]) == 1
    assert tables.holding(url, MARKER) == {}
    verdict = await index.maintenance.verify()
    assert (verdict.exact, verdict.waiting_documents) == (True, 0)


async def test_a_document_that_is_switched_off_stays_in_the_record_alone(
    index: AsyncTrueweave, url: str, author: Author
) -> None:
    await index.add(Source("plain.md", SHARED), marked())
    await used(index)
    assert await index.switch_off([f"notes/{MARKER}.md"]) == 1
    derived = {f"trueweave.{name}" for name in ("entity", "relation", "phrase", "phrase_count", "report")}
    assert derived.isdisjoint(tables.holding(url, MARKER))
    assert (await index.maintenance.verify()).exact
    await index.maintenance.sweep()
    asked = author.times("entities")
    assert await index.switch_on([f"notes/{MARKER}.md"]) == 1
    assert author.times("entities") == asked
    assert derived - {"trueweave.report"} <= tables.holding(url, MARKER).keys()
    await index.add(marked())
    assert author.times("entities") == asked


async def test_a_document_that_is_removed_while_it_is_off_is_found_in_no_table(index: AsyncTrueweave, url: str) -> None:
    await index.add(Source("plain.md", SHARED), marked())
    await index.add(marked(f"copies/{MARKER}.md"))
    await used(index)
    await index.remove([f"notes/{MARKER}.md"])  # replies are kept for the copy
    await index.switch_off([f"copies/{MARKER}.md"])
    await index.maintenance.sweep()
    with psycopg.connect(url, autocommit=True) as looking:
        hashes = "SELECT array_agg(text_hash) FROM trueweave.chunk WHERE text LIKE %s"
        [told] = looking.execute(hashes, (f"%{MARKER}%",)).fetchone() or ()
        replies = "SELECT count(*) FROM trueweave.reply WHERE text_hash = ANY(%s)"
        assert looking.execute(replies, (told,)).fetchone() != (0,)
        assert await index.remove([f"copies/{MARKER}.md"]) == 1
        assert looking.execute(replies, (told,)).fetchone() == (0,)
    assert tables.holding(url, MARKER) == {}
    verdict = await index.maintenance.verify()
    assert (verdict.exact, verdict.waiting_documents) == (True, 0)


async def test_a_document_that_waits_or_failed_is_erased_too(index: AsyncTrueweave, url: str) -> None:
    await submit(index, marked(), marked("another"), Source("plain.md", SHARED))
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE trueweave.source SET failed = true, error = 'bad' WHERE uri = 'another'")
    assert await index.remove([f"notes/{MARKER}.md", "another"]) == 2
    assert tables.holding(url, MARKER) == {}
    with psycopg.connect(url) as connection:
        [(payload,)] = connection.execute("SELECT payload FROM trueweave.job").fetchall()
    assert [uri for uri, _ in json.loads(payload)] == ["plain.md"], "what waits beside it still does"


async def test_a_reply_that_arrives_after_the_removal_is_erased_too(
    index: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = marked().uri
    asked, looked = asyncio.Event(), asyncio.Event()
    keep, erase = PostgresReplies.keep, erasing.erase

    async def keep_later(self: PostgresReplies, key: UUID, payload: bytes, purpose: Purpose) -> bytes:
        if purpose.document == uri:
            asked.set()
            await looked.wait()
        return await keep(self, key, payload, purpose)

    async def erase_and_tell(workspace: Workspace) -> int:
        erased = await erase(workspace)
        looked.set()
        return erased

    monkeypatch.setattr(PostgresReplies, "keep", keep_later)
    monkeypatch.setattr(erasing, "erase", erase_and_tell)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(index.add(marked()))
        await asked.wait()
        assert await index.remove([uri]) == 1
    assert tables.holding(url, MARKER) == {}


async def test_a_job_of_a_dead_process_does_not_keep_the_uri(index: AsyncTrueweave, url: str) -> None:
    await submit(index, marked(), Source("plain.md", SHARED))
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE trueweave.job SET owner = -1, worker = -1")
    assert await index.remove([f"notes/{MARKER}.md"]) == 1
    assert tables.holding(url, MARKER) == {}


async def test_an_address_and_a_kept_response_lose_the_uri(index: AsyncTrueweave, url: str) -> None:
    await index.add(Source("plain.md", SHARED), marked())
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('trueweave.workspace', %s, false)", (str(index.workspace.id),))
        connection.execute(
            "INSERT INTO trueweave.connector_document (origin, uri, item, version, validator, recipe) "
            "SELECT gen_random_uuid(), u, u, '1', '', gen_random_uuid() FROM unnest(%s::text[]) AS u",
            ([marked().uri, "plain.md"],),
        )
        for n, uri in enumerate([marked().uri, "plain.md"]):
            connection.execute(
                "INSERT INTO trueweave.kept_response (caller, key_hash, request_hash, body) VALUES ('', %s, '', %s)",
                (bytes([n]), Jsonb({"documents": [{"uri": uri}]})),
            )
    await index.remove([marked().uri])
    assert tables.holding(url, MARKER) == {}
    assert tables.holding(url, "plain.md").keys() >= {"trueweave.connector_document", "trueweave.kept_response"}


async def submit(index: AsyncTrueweave, *sources: Source) -> None:
    await take_in(index.workspace, sources, Recipe(extractor="capitals"), ignore)


async def test_what_another_document_says_word_for_word_is_kept_and_not_paid_for_again(
    index: AsyncTrueweave, author: Author
) -> None:
    await index.add(Source("a", SHARED), Source("b", SHARED))
    await index.remove(["a"])
    await index.add(Source("c", SHARED))
    assert author.times("entities") == 1
    await index.remove(["b", "c"])
    await index.add(Source("d", SHARED))
    assert author.times("entities") == 2, "then nobody had it any longer"


async def test_what_a_killed_process_removed_is_erased_by_the_next_who_sweeps(index: AsyncTrueweave, url: str) -> None:
    await index.add(Source("plain.md", SHARED), marked())
    await used(index)
    await record.withdraw(index.workspace, [f"notes/{MARKER}.md"])
    await index.maintenance.settle()
    assert tables.holding(url, MARKER)
    assert (await index.maintenance.sweep()).documents == 1
    assert tables.holding(url, MARKER) == {}


async def test_reports_that_a_removal_took_away_are_written_when_somebody_wants_that(
    index: AsyncTrueweave, author: Author
) -> None:
    await index.add(Source("plain.md", SHARED), marked())
    await used(index)
    await index.remove([f"notes/{MARKER}.md"])
    before = author.times("title")
    await index.add(Source("plain.md", SHARED))
    assert author.times("title") == before, "adding is no reason to write them"
    await index.communities.find()
    assert (await index.communities.write_reports()).reports > 0


# --- what grows ---------------------------------------------------------------------------------------


async def aged(url: str, days: int) -> None:
    """Let all that was kept be so much older."""
    with psycopg.connect(url) as connection:
        for table, column in (("reply", "made"), ("outbox", "made"), ("spend", "at"), ("stale_text", "since")):
            connection.execute(f"UPDATE trueweave.{table} SET {column} = {column} - interval '{days} days'".encode())


def counted(url: str, *names: str) -> list[int]:
    found = tables.rows(url)
    return [len(found[name]) for name in names]


async def test_what_was_kept_for_long_enough_is_swept_and_the_rest_stays(index: AsyncTrueweave, url: str) -> None:
    await index.add(Source("plain.md", SHARED), marked())
    await index.ask("Who met the miller of Aldar?", "keyword")
    kept = "trueweave.reply", "trueweave.outbox"
    before = counted(url, *kept)
    assert all(before)
    assert await index.maintenance.sweep() == Swept(0, 0, 0, 0, 0, 0, 0)
    assert counted(url, *kept) == before
    await aged(url, 31)
    swept = await index.maintenance.sweep()
    assert swept.replies > 0
    assert swept.changes == before[1]
    replies, *others = counted(url, *kept)
    assert others == [0]
    assert replies == 2, "what was extracted from chunks that are there"
    with pytest.raises(ChangesGone, match="log_days"):
        await index.graph.changes()
    await index.add(Source("new.md", SHARED + " And on."))
    async with index.workspace.transaction() as tx:
        gone = await tx.value("outbox.gone")
    assert await index.graph.changes(gone)


async def test_sums_by_day_are_the_same_to_the_last_digit(index: AsyncTrueweave, url: str) -> None:
    calls = [("extract", "a", "done", "0.000000123"), ("extract", "a", "lost", "1.1"), ("answer", "b", "done", None)]
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('trueweave.workspace', %s, false)", (str(index.workspace.id),))
        for n in range(300):
            stage, model, state, price = calls[n % 3]
            connection.execute(
                "INSERT INTO trueweave.spend "
                "(id, stage, document, model, tokens_in, tokens_out, price, state, owner, at) "
                "VALUES (gen_random_uuid(), %s, %s, %s, %s, 7, %s, %s, 1, now() - %s * interval '1 hour')",
                (stage, f"doc {n}", model, n, price, state, n),
            )
        connection.execute("INSERT INTO trueweave.budget (price, tokens) VALUES (110.0000123, 46950)")
    before, budget = await index.budget.receipt(), await index.budget.get()
    await aged(url, 85)
    assert (await index.maintenance.sweep()).calls > 0
    assert await index.budget.receipt() == before
    assert sum(one.calls for one in before) == 300
    assert [one.price for one in before if one.stage == "answer"] == [None]
    assert before[-1] == Spent("extract", "a", 200, 100, before[-1].tokens_in, 1400, Decimal("110.0000123"))
    assert await index.budget.get() == budget
    assert counted(url, "trueweave.spend")[0] < 200
    await aged(url, 10)
    await index.maintenance.sweep()
    assert await index.budget.receipt() == before
    assert (await index.maintenance.sweep()).calls == 0, "sums are not summed up again"

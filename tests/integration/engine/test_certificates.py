"""Certificates of erasure: what they say, when they are refused, and what is left when a process is killed."""

import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.integration.ingest.test_erasure import SHARED, Author
from tests.integration.ingest.test_killed_runs import killed
from trueweave import AsyncTrueweave, Settings, Source
from trueweave.core.bench import BenchPassage
from trueweave.core.projections import StoreName
from trueweave.core.signing import checked, read_key, signed
from trueweave.engine import certificates as engine_certificates
from trueweave.errors import CertificateRefused, ConfigError, InvalidArgument, SignatureInvalid, UnknownDocument
from trueweave.extend import Database
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.projection import projections
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.record import certificates
from trueweave.store.postgres.record.leftovers import Fingerprints, Leftovers, Lookup, search
from trueweave.store.projection.remains import search_copy
from trueweave.testing import HashEmbedder, ModelServer, tables

SECRET = (
    f"{SHARED} The patient Zyxomarque was admitted on a rainy Tuesday in March with a broken collarbone. "
    "Zyxomarque met the miller of Aldar, the smith of Aldar and the reeve of Aldar before the accident."
)
CHECKER = Path(__file__).parents[3] / "tools" / "check_certificate.py"
QUOTED = "As it says: admitted on a rainy Tuesday in March with a broken collarbone."

# Prints the number of the step and waits there to be killed: steps 0 to 3 are those that are told, 4 is when the file
# is being written, and 5 when it is there and not noted yet.
PROGRAM = """
import asyncio, time
from pathlib import Path
from typing import Any
from trueweave import AsyncTrueweave, Settings, Source
from trueweave.core import signing
from trueweave.store.postgres.record import certificates
from trueweave.testing import HashEmbedder

steps = []

def wait_at(step):
    if step == {step}:
        print(step, flush=True)
        time.sleep(600)

def told(_):
    wait_at(len(steps))
    steps.append(_)

fsync = signing.os.fsync

def write(handle):
    wait_at(4)
    fsync(handle)

issued = certificates.issued

async def note(workspace, request):
    wait_at(5)
    await issued(workspace, request)

async def main():
    settings = Settings(extractor="capitals", signing_key_file={key!r})
    async with AsyncTrueweave.open({url!r}, "killed", HashEmbedder(), settings=settings, make=True) as trueweave:
        await trueweave.add(Source("plain.md", {shared!r}), Source("secret.md", {secret!r}, "On Zyxomarque"))
        signing.os.fsync, certificates.issued = write, note
        await trueweave.certificates.erase("secret.md", file=Path({file!r}), told=told)

asyncio.run(main())
"""


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(Author(), embedder=HashEmbedder(16)) as made:
        yield made


@pytest.fixture
def settings(server: ModelServer, signing_key: Path) -> Settings:
    return Settings(
        model="vllm/any",
        model_url=server.url,
        embedding_model="vllm/embed",
        embedding_url=server.url,
        model_tries=1,
        signing_key_file=signing_key,
    )


@pytest.fixture
async def index(database: Database, settings: Settings) -> AsyncIterator[AsyncTrueweave]:
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=settings)) as made:
        yield made


def write_public(path: Path, key: Ed25519PrivateKey) -> None:
    path.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


async def filled(index: AsyncTrueweave) -> None:
    """Two documents, and what is made of them: communities, reports, answers."""
    await index.add(Source("plain.md", SHARED), Source("secret.md", SECRET, "On Zyxomarque"))
    await index.communities.find()
    await index.communities.write_reports()
    await index.ask("Who is Zyxomarque?", "local")


async def test_a_certificate_says_what_was_erased_and_that_nothing_is_left(
    index: AsyncTrueweave, url: str, tmp_path: Path
) -> None:
    await filled(index)
    file = tmp_path / "certificate.json"
    steps: list[str] = []
    before = await index.maintenance.digest()
    said = await index.certificates.erase("secret.md", file=file, told=steps.append)
    assert said == checked(file.read_bytes()).statement
    assert tables.holding(url, "Zyxomarque") == {}
    assert said["view"]["before"] == before
    assert said["view"]["after"] == said["view"]["rebuilt"] != before
    search = said["search"]
    assert search["found"] == {}
    assert {"chunk.text", "chunk.id", "document.uri", "reply.document"} <= search["found_before"].keys()
    assert search["windows_in_other_documents"] > 0, "the other document begins with the same words"
    assert len(said["documents"]) == 1
    assert "secret.md" not in file.read_text()
    assert tables.rows(url)["trueweave.pending_certificate"] == []
    assert steps


async def test_former_versions_are_erased_and_certified(index: AsyncTrueweave, url: str, tmp_path: Path) -> None:
    await filled(index)
    await index.history.keep()
    await index.add(Source("secret.md", f"{SECRET} He left in April.", "On Zyxomarque"))
    await index.remove(["secret.md"])
    assert tables.holding(url, "Zyxomarque") != {}
    said = await index.certificates.erase("secret.md", file=tmp_path / "certificate.json")
    assert tables.holding(url, "Zyxomarque") == {}
    assert len(said["documents"]) == 2
    assert (await index.history.status()).versions == 0


async def test_a_certificate_is_checked_without_trueweave(
    index: AsyncTrueweave, signing_key: Path, tmp_path: Path
) -> None:
    await filled(index)
    file, public, other = (tmp_path / name for name in ("certificate.json", "public.pem", "other.pem"))
    await index.certificates.erase("secret.md", file=file)
    write_public(public, read_key(signing_key))
    write_public(other, Ed25519PrivateKey.generate())

    def check(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", str(CHECKER), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert "trueweave." not in CHECKER.read_text().replace("trueweave.json", "")
    done = check(file, "--key", public)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Valid: 1 version of documents erased")
    assert "another key" in check(file, "--key", other).stdout
    whole = file.read_bytes()
    for at in range(0, len(whole), 97):
        (tmp_path / "changed.json").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(SignatureInvalid):
            checked((tmp_path / "changed.json").read_bytes())
    assert check(tmp_path / "changed.json").returncode == 1
    # Signed, but untrue: the checker compares what the statement says with itself.
    statement = checked(whole).statement
    changes: list[dict[str, Any]] = [
        {"view": statement["view"] | {"after": "0"}},
        {"search": statement["search"] | {"found": {"chunk.text": 1}}},
        {"documents": []},
        {"more": 1},
    ]
    for change in changes:
        (tmp_path / "changed.json").write_bytes(signed(statement | change, read_key(signing_key)))
        assert check(tmp_path / "changed.json").stdout.startswith("NOT VALID"), change


async def test_what_is_missing_is_said_before_anything_is_removed(
    index: AsyncTrueweave, database: Database, settings: Settings, tmp_path: Path
) -> None:
    await index.add(Source("secret.md", SECRET))
    file = tmp_path / "certificate.json"
    with pytest.raises(UnknownDocument):
        await index.certificates.erase("other.md", file=file)
    with pytest.raises(InvalidArgument, match="folder"):
        await index.certificates.erase("secret.md", file=tmp_path / "nowhere" / "certificate.json")
    file.write_text("mine")
    with pytest.raises(InvalidArgument, match="exists"):
        await index.certificates.erase("secret.md", file=file)
    keyless = settings.model_copy(update={"signing_key_file": None})
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=keyless)) as other:
        with pytest.raises(ConfigError, match="openssl"):
            await other.certificates.erase("secret.md", file=tmp_path / "new.json")
    assert file.read_text() == "mine"
    assert (await index.status()).documents == 1


async def test_a_quotation_elsewhere_refuses_the_certificate(index: AsyncTrueweave, tmp_path: Path) -> None:
    await filled(index)
    file = tmp_path / "certificate.json"
    question = await index.bench.add_question(QUOTED, [BenchPassage("plain.md")])
    with pytest.raises(CertificateRefused, match=r"1 in bench_question\.question") as refused:
        await index.certificates.erase("secret.md", file=file)
    assert refused.value.found == {"bench_question.question": 1}
    assert not file.exists()
    await index.bench.remove_question(question.id)
    said = await index.certificates.erase("secret.md", file=file)
    assert said["search"]["found_before"]["chunk.text"] == 1, "from the search before the removal"
    assert checked(file.read_bytes()).statement == said


async def test_what_a_document_that_stays_also_says_is_counted(
    index: AsyncTrueweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that quotes the erased one and is stored during the search is in the next search."""

    async def search_meanwhile(tx: Transaction, of: Fingerprints) -> tuple[Leftovers, Lookup]:
        await index.add(Source("late.md", QUOTED))
        return await search(tx, of)

    await index.add(Source("plain.md", SHARED), Source("secret.md", SECRET))
    monkeypatch.setattr(engine_certificates, "search", search_meanwhile)
    first = await index.certificates.erase("secret.md", file=tmp_path / "first.json")
    await index.add(Source("secret.md", SECRET))
    second = await index.certificates.erase("secret.md", file=tmp_path / "second.json")
    elsewhere = "windows_in_other_documents"
    assert second["search"][elsewhere] > first["search"][elsewhere] > 0
    assert second["search"]["found"] == {}


@pytest.mark.parametrize(
    "step", ["Erasing the documents", "Rebuilding the index, to compare it", "Searching the workspace"]
)
async def test_a_document_that_is_added_again_refuses_the_certificate(
    index: AsyncTrueweave, url: str, tmp_path: Path, step: str
) -> None:
    await index.add(Source("plain.md", SHARED), Source("secret.md", SECRET))
    file, adding = tmp_path / "certificate.json", list[threading.Thread]()

    def add_again(said: str) -> None:
        if said == step and not adding:
            with psycopg.connect(url) as connection:
                connection.execute("SELECT set_config('trueweave.workspace', %s, false)", (str(index.workspace.id),))
                connection.execute(
                    "INSERT INTO trueweave.source (uri, id, title, text, metadata, places, recipe) "
                    "VALUES ('secret.md', gen_random_uuid(), '', %s, '{}', '[]', '{}')",
                    (SECRET,),
                )
            adding.append(threading.current_thread())

    with pytest.raises(CertificateRefused, match="added again"):
        await index.certificates.erase("secret.md", file=file, told=add_again)
    assert not file.exists()
    said = await index.certificates.erase("secret.md", file=file)
    assert len(said["documents"]) == 2
    assert tables.holding(url, "Zyxomarque") == {}


async def test_a_certificate_that_nobody_asks_for_again_is_forgotten(index: AsyncTrueweave, url: str) -> None:
    await index.add(Source("plain.md", SHARED), Source("secret.md", SECRET))
    await certificates.withdraw_noted(index.workspace, b"request", ["secret.md"], "")
    await index.maintenance.settle()
    await index.maintenance.sweep()
    pending = "trueweave.pending_certificate"
    assert len(tables.rows(url)[pending]) == 1
    assert tables.holding(url, "Zyxomarque") == {}, "it has hashes alone"
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE trueweave.pending_certificate SET asked = asked - interval '31 days'")
    await index.maintenance.sweep()
    assert tables.rows(url)[pending] == []


@pytest.mark.parametrize("step", range(6))
async def test_a_killed_process_leaves_no_certificate_or_a_correct_one(
    database: Database, url: str, settings: Settings, tmp_path: Path, step: int
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    file = folder / "certificate.json"
    given = {"url": url, "file": str(file), "key": str(settings.signing_key_file), "step": step}
    said = killed(PROGRAM.format(**given, secret=SECRET, shared=SHARED))
    assert said == [str(step)], "it did not get there"
    if file.exists():
        assert checked(file.read_bytes()).statement["search"]["found"] == {}
        assert step == 5
    own = Settings(extractor="capitals", signing_key_file=settings.signing_key_file)
    async with aclosing(await AsyncTrueweave.enter(database, "killed", HashEmbedder(), settings=own)) as index:
        statement = await index.certificates.erase("secret.md", file=file)
        assert statement["search"]["found_before"]["chunk.text"] == 1
        assert [info.uri for info in await index.list_documents()] == ["plain.md"]
    assert checked(file.read_bytes()).statement == statement
    assert tables.holding(url, "Zyxomarque") == {}
    assert tables.rows(url)["trueweave.pending_certificate"] == []


@pytest.mark.parametrize("store", ["neo4j", "chroma"])
async def test_copies_in_other_stores_are_waited_for_and_searched(
    database: Database, signing_key: Path, neo4j_url: str, chroma_url: str, tmp_path: Path, store: StoreName
) -> None:
    settings = Settings(extractor="capitals", signing_key_file=signing_key, neo4j_url=neo4j_url, chroma_url=chroma_url)
    async with aclosing(await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)) as index:
        await index.add(Source("plain.md", SHARED), Source("secret.md", SECRET), Source("other.md", f"{QUOTED} Twice."))
        await index.projections.catch_up(store)
        said = await index.certificates.erase("secret.md", file=tmp_path / "first.json")
        assert said["copies"][store]["found"] == 0
        assert said["copies"][store]["items"] > 0
        [state] = await index.projections.status()
        assert (state.behind, said["copies"][store]["position"]) == (0, state.position)
        # What the search looks for is found in a copy that still has it: `other.md` is there until it is removed.
        await certificates.withdraw_noted(index.workspace, b"other", ["other.md"], "")
        async with index.workspace.transaction(snapshot=True) as tx:
            pending = await certificates.pending(tx, b"other")
            assert pending
        copy, _ = await projections.live(index.workspace, store)
        assert copy
        target = index._core.target(store)
        assert (await search_copy(target, copy, Lookup(pending.fingerprints))).found > 0
        await index.projections.remove(store)


def test_a_new_column_is_searched(url: str) -> None:
    """All columns of the schema are in the search, except those of types that hold neither texts nor ids, and those
    that Trueweave's role may not read."""
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE trueweave.new_table (workspace int, held jsonb, more text[], n int)")
        connection.execute("GRANT SELECT ON trueweave.new_table TO trueweave_app")
        connection.execute("SET LOCAL ROLE trueweave_app")
        rows = connection.execute(QUERIES["certificate.columns"]).fetchall()
        connection.rollback()
    found = {f"{table}.{column}": readable for table, column, _, _, readable in rows}
    assert found["new_table.held"]
    assert found["new_table.more"]
    assert "new_table.n" not in found
    unreadable = {place for place, readable in found.items() if not readable}
    assert unreadable == {"bm25_index.chunk", "bm25_index.language", "chunk_words.chunk", "reader.role"}

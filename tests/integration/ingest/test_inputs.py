"""What comes in: documents keep their names, one that is bad stops no other, and the index follows its folders."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Event, Mention, Settings, Source
from trueweave.core.events import ignore
from trueweave.engine import model_settings
from trueweave.errors import ConfigError, InvalidDocument, ModelRefused
from trueweave.events import Extracted, Refused, Removed, Skipped
from trueweave.extend import Database
from trueweave.ingest.extract import preannotated
from trueweave.ingest.intake import take_in
from trueweave.testing import HashEmbedder
from trueweave.testing.model_server import Fault, ModelServer, Trouble


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, in which one works."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
async def index(database: Database, project: Path) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings(extractor="capitals", project_folder=project)
    opened = await AsyncTrueweave.enter(database, "files", HashEmbedder(), settings=settings)
    yield opened
    await opened.aclose()


def write(name: str, text: str | bytes = "") -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else (text or f"Ada Lovelace wrote {name}.").encode())


def link(name: str, to: Path) -> None:
    Path(name).symlink_to(to)


def delete(*names: str) -> None:
    for name in names:
        Path(name).unlink()


async def texts(index: AsyncTrueweave) -> dict[str, str]:
    """What is in the index, by uri."""
    return {document.uri: "".join(chunk.text for chunk in document.chunks) async for document in index.documents()}


async def waiting(index: AsyncTrueweave) -> int:
    return (await index.maintenance.ingest_progress()).waiting


# --- names --------------------------------------------------------------------------------------------


async def test_rows_of_two_files_with_the_same_ids_are_all_there(index: AsyncTrueweave) -> None:
    write("data/a.csv", "id,text\n1,Ada\n2,Bob\n")
    write("data/b.csv", "id,text\n1,Cay\n2,Dan\n")
    write("data/c.jsonl", '{"id": 1, "text": "Eve"}\n{"id": "urn:2", "text": "Fay"}')
    await index.add("data")
    assert await texts(index) == {
        "data/a.csv#1": "Ada",
        "data/a.csv#2": "Bob",
        "data/b.csv#1": "Cay",
        "data/b.csv#2": "Dan",
        "data/c.jsonl#1": "Eve",
        "data/c.jsonl#urn:2": "Fay",
    }


async def test_a_uri_that_is_given_twice_in_one_run_is_refused_with_both_places(index: AsyncTrueweave) -> None:
    write("a.csv", "id,text\n1,Ada\n1,Bob\n")
    write("b.jsonl", '{"uri": "urn:x", "text": "Cay"}')
    write("c.jsonl", '\n{"uri": "urn:x", "text": "Dan"}')
    events: list[Event] = []
    added = await index.add(".", "a.csv", Source("a.csv#1", "Eve"), listener=events.append)
    advice = "Give each its own id, and add it again."
    assert [one.reason for one in events if isinstance(one, Refused)] == [
        f"a.csv, line 3: its uri 'a.csv#1' is also that of a.csv, line 2. {advice}",
        f"c.jsonl, line 2: its uri 'urn:x' is also that of b.jsonl, line 1. {advice}",
        f"a.csv, line 3: its uri 'a.csv#1' is also that of a.csv, line 2. {advice}",
        f"text 3 of those given: its uri 'a.csv#1' is also that of a.csv, line 2. {advice}",
    ]
    assert added.refused == 4
    assert await texts(index) == {"a.csv#1": "Ada", "urn:x": "Cay"}


async def test_given_documents_that_clash_are_refused_with_both_places(index: AsyncTrueweave) -> None:
    write("a.jsonl", '{"id": 1, "text": "Ada", "entities": ["Ada"]}\n{"id": 1, "text": "Bob", "entities": ["Bob"]}')
    refused: list[Refused] = []
    assert await index.add_documents(preannotated.read(Path("a.jsonl"), uri="a.jsonl"), refused=refused.append) == 1
    assert [one.reason.partition(".")[0] for one in refused] == ["a"]
    assert "its uri 'a.jsonl#1' is also that of a.jsonl, line 1" in refused[0].reason
    assert await texts(index) == {"a.jsonl#1": "Ada"}


async def test_a_file_has_one_name_wherever_it_is_added_from(index: AsyncTrueweave, project: Path) -> None:
    write("notes/a.md")
    write("../outside/b.md")
    await index.add("notes", "../outside")
    os.chdir("notes")
    again = [await index.add(path) for path in ("a.md", "./a.md", "../notes", project / "notes/a.md", "*.md")]
    assert [(one.new, one.unchanged) for one in again] == [(0, 1)] * 5
    assert set(await texts(index)) == {"notes/a.md", f"{project.parent}/outside/b.md"}


async def test_two_folders_without_settings_do_not_mix(database: Database, tmp_path: Path) -> None:
    shared = await AsyncTrueweave.enter(database, "default", HashEmbedder(), settings=Settings(extractor="capitals"))
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        os.chdir(tmp_path / folder)
        write("a.md", f"Text of {folder}")
        await shared.add("a.md")
    await shared.aclose()
    assert await texts(shared) == {f"{tmp_path}/one/a.md": "Text of one", f"{tmp_path}/two/a.md": "Text of two"}


# --- what is bad --------------------------------------------------------------------------------------


async def test_a_row_with_bad_metadata_is_refused_and_the_rest_comes_in(index: AsyncTrueweave) -> None:
    bad = ["1e400", "NaN", r'"\u0000"', r'"\ud800"', r'{"\ud800": 1}']
    rows = [f'{{"id": {n}, "text": "Bob", "metadata": {{"x": {value}}}}}' for n, value in enumerate(bad)]
    write("a.jsonl", "\n".join([*rows, '{"id": "last", "text": "Ada"}']))
    write("b.txt", "Cay")
    added = await index.add(".")
    assert (added.new, added.refused) == (2, len(bad))
    assert await texts(index) == {"a.jsonl#last": "Ada", "b.txt": "Cay"}


def test_a_document_with_bad_metadata_cannot_be_made() -> None:
    for value in (float("nan"), "\0", "\ud800", object(), [[1, {"a": float("inf")}]]):
        with pytest.raises(InvalidDocument, match="'u': its metadata contains"):
            Document("u", (), metadata={"x": value})  # type: ignore[dict-item]
        with pytest.raises(InvalidDocument, match="'u': its metadata contains"):
            Source("u", "", metadata={"x": value})  # type: ignore[dict-item]


async def test_a_given_document_that_cannot_be_stored_is_refused_or_an_error_that_names_it(
    index: AsyncTrueweave,
) -> None:
    good, bad = (
        Document("good", (Chunk("Ada"),)),
        Document("bad", (Chunk("x", mentions=(Mention("x", spans=((0, 9),)),)),)),
    )
    with pytest.raises(InvalidDocument, match="bad: span 0-9 is outside"):
        await index.add_documents([good, bad])
    assert await texts(index) == {}
    refused: list[Refused] = []
    assert await index.add_documents([bad, good], refused=refused.append) == 1
    assert [one.place for one in refused] == ["bad"]
    assert await texts(index) == {"good": "Ada"}


async def test_text_in_another_encoding_comes_in_with_a_note(index: AsyncTrueweave) -> None:
    write("a.txt", "Jürgen Müller fährt nach Zürich.".encode("latin-1"))
    events: list[Event] = []
    await index.add("a.txt", listener=events.append)
    note = "it is not UTF-8 and was read as Windows-1252; if letters look wrong, save it as UTF-8"
    assert [one.notes for one in events if isinstance(one, Extracted)] == [(note,)]
    assert await texts(index) == {"a.txt": "Jürgen Müller fährt nach Zürich."}
    write("a.txt", "Jürgen Müller fährt nach Zürich.")  # the text is the same, and the note is gone
    assert (await index.add("a.txt", listener=events.append)).new == 1
    assert [one.notes for one in events if isinstance(one, Extracted)] == [(note,), ()]


async def test_links_are_followed_if_the_settings_say_so(database: Database, project: Path) -> None:
    write("d/a.txt")
    write("../outside/secret.txt")
    link("d/link", project.parent / "outside")
    for follow_links, expected in ((False, {"d/a.txt"}), (True, {"d/a.txt", "d/link/secret.txt"})):
        settings = Settings(extractor="capitals", project_folder=project, follow_links=follow_links)
        index = await AsyncTrueweave.enter(database, f"links {follow_links}", HashEmbedder(), settings=settings)
        events: list[Event] = []
        await index.add("d", listener=events.append)
        await index.aclose()
        assert set(await texts(index)) == expected
        assert len([one for one in events if isinstance(one, Skipped)]) == (not follow_links)


# --- a run that fails ---------------------------------------------------------------------------------


async def test_an_add_that_its_settings_stop_leaves_nothing_in_the_queue(database: Database, project: Path) -> None:
    write("a.txt")
    settings = Settings(extractor="nlp", pipeline="xx_missing", project_folder=project)
    index = await AsyncTrueweave.enter(database, "nlp", settings=settings)
    with pytest.raises(ConfigError, match="xx_missing"):
        await index.add("a.txt")
    await index.aclose()
    assert await waiting(index) == 0


async def test_an_add_that_a_model_refuses_leaves_nothing_in_the_queue_but_what_another_handed_in(
    database: Database, project: Path
) -> None:
    for n in range(200):
        write(f"d/{n}.txt")
    async with ModelServer(trouble=Trouble.always(Fault.BAD_KEY)) as server:
        settings = Settings(model="openai/any", model_url=server.url, project_folder=project)
        index = await AsyncTrueweave.enter(database, "refused", settings=settings)
        other = [Source("d/7.txt", "Ada Lovelace wrote d/7.txt.")]
        await take_in(index.workspace, other, model_settings.recipe(settings), ignore)
        with pytest.raises(ModelRefused):
            await index.add("d")
        await index.aclose()
    assert await waiting(index) == 1


# --- folders ------------------------------------------------------------------------------------------


async def filled(index: AsyncTrueweave) -> None:
    for name in ("notes/a.md", "notes/sub/b.md", "notes/c#.md", "other/d.md", "notes.md"):
        write(name)
    write("notes/rows.csv", "id,text\n1,Ada\n2,Bob\n")
    write("notes/lines.jsonl", '{"id": 1, "text": "Cay"}\n{"id": 2, "text": "Dan"}')
    await index.add(".")
    await index.add(Source("urn:x", "Eve"))


ALL = {
    *("notes/a.md", "notes/sub/b.md", "notes/c#.md", "other/d.md", "notes.md", "urn:x"),
    *("notes/rows.csv#1", "notes/rows.csv#2", "notes/lines.jsonl#1", "notes/lines.jsonl#2"),
}


async def test_sync_adds_updates_and_removes_what_is_gone_from_its_folder(index: AsyncTrueweave) -> None:
    await filled(index)
    delete("notes/sub/b.md")
    delete("notes/c#.md")
    delete("other/d.md")  # another folder
    write("notes/a.md", "Changed")
    write("notes/new.md")
    write("notes/rows.csv", "id,text\n2,Bob\n3,Fay\n")
    write("notes/lines.jsonl", '{"id": 1, "text": "Cay"}\n{"id": 2, "text": 7}')  # it is there, and cannot be used
    plan = await index.plan_sync("notes")
    assert (plan.new, plan.changed, plan.unchanged, plan.unreadable) == (2, 1, 2, 1)
    assert plan.removed == ("notes/c#.md", "notes/rows.csv#1", "notes/sub/b.md")
    assert set(await texts(index)) == ALL
    events: list[Event] = []
    added = await index.sync("notes", plan=plan, listener=events.append)
    assert (added.new, added.removed) == (3, 3)
    assert [one.uris for one in events if isinstance(one, Removed)] == [plan.removed]
    found = await texts(index)
    assert set(found) == ALL - {*plan.removed} | {"notes/new.md", "notes/rows.csv#3"}
    assert found["notes/a.md"] == "Changed"
    assert (await index.plan_sync("notes")).removed == ()


async def test_sync_removes_no_more_than_its_plan_names(index: AsyncTrueweave) -> None:
    await filled(index)
    plan = await index.plan_sync("notes")
    delete("notes/a.md")
    assert (await index.sync("notes", plan=plan)).removed == 0
    assert (await index.add("notes", prune=True)).removed == 1


async def test_the_project_s_own_folder_has_neither_files_outside_of_it_nor_names_of_another_kind(
    index: AsyncTrueweave,
) -> None:
    write("a.md")
    write("../outside/b.md")
    await index.add(".", "../outside", Source("https://example.org", "Ada"))
    delete("a.md")
    delete("../outside/b.md")
    assert (await index.plan_sync(".")).removed == ("a.md",)


async def test_what_cannot_be_looked_at_is_not_gone(index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch) -> None:
    await filled(index)
    real = Path.lstat

    def lstat(path: Path) -> os.stat_result:
        if "sub" in path.parts:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    delete("notes/sub/b.md")
    monkeypatch.setattr(Path, "lstat", lstat)  # root may look at everything, and tests may run as root
    assert (await index.plan_sync("notes")).removed == ()


async def test_a_folder_that_is_not_there_is_an_error_and_nothing_is_removed(index: AsyncTrueweave) -> None:
    await filled(index)
    for name in ("nowhere", "notes/a.md"):
        with pytest.raises(ConfigError, match=f"there is no folder {name}"):
            await index.sync(name)
    assert set(await texts(index)) == ALL


ROWS = {"notes/rows.csv#1", "notes/rows.csv#2"}
LINES = {"notes/lines.jsonl#1", "notes/lines.jsonl#2"}


async def test_a_document_is_found_by_its_path_its_folder_a_pattern_or_its_uri(
    index: AsyncTrueweave, project: Path
) -> None:
    await filled(index)
    delete("notes/a.md", "notes/rows.csv")  # what is to be removed is often gone already
    expected: dict[str, set[str]] = {
        "notes/a.md": {"notes/a.md"},
        "./notes/../notes/a.md": {"notes/a.md"},
        f"{project}/notes/a.md": {"notes/a.md"},
        "notes/rows.csv#1": {"notes/rows.csv#1"},
        "urn:x": {"urn:x"},
        "notes/rows.csv": ROWS,
        "notes/sub": {"notes/sub/b.md"},
        "notes/": {"notes/a.md", "notes/sub/b.md", "notes/c#.md"} | ROWS | LINES,
        "notes/*.md": {"notes/a.md", "notes/c#.md"},
        "**/*.md": {"notes/a.md", "notes/sub/b.md", "notes/c#.md", "other/d.md", "notes.md"},
        "notes/*.csv": ROWS,
        f"{project}/notes/[a-b].md": {"notes/a.md"},
        ".": ALL - {"urn:x"},
        "note": set(),
        "*.txt": set(),
    }
    found = await index.matching(*expected)
    assert {given: set(uris) for given, uris in found.items()} == expected


async def test_within_a_folder_a_path_means_what_is_there(index: AsyncTrueweave) -> None:
    await filled(index)
    os.chdir("notes")
    found = await index.matching("a.md", "sub", "../notes.md", "other/d.md")
    assert list(found.values()) == [["notes/a.md"], ["notes/sub/b.md"], ["notes.md"], ["other/d.md"]]

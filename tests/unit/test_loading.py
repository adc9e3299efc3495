"""Files are found in a fixed order, under stable names, and one that cannot be read does not stop the others."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from trueweave.errors import ConfigError, UnreadableFile
from trueweave.events import Skipped, Unreadable
from trueweave.protocols import Loader
from trueweave.text.loading import Loaded, from_stream, loaders, sources, uri_of
from trueweave.text.loading.markdown import Markdown
from trueweave.text.loading.plain import Plain
from trueweave.text.loading.rows import JsonLines
from trueweave.types import Source

BY_SUFFIX: dict[str, Loader] = {
    suffix: loader for loader in (Plain(), Markdown(), JsonLines()) for suffix in loader.suffixes
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(f"text of {name}", encoding="utf-8")


def load(*paths: Path | str) -> list[Loaded]:
    return list(sources(paths, BY_SUFFIX))


def uris(*paths: Path | str) -> list[str]:
    return [one.uri for one in load(*paths) if isinstance(one, Source)]


# --- which files, under which names -------------------------------------------------------------------


def test_a_folder_is_read_in_order_with_all_folders_in_it() -> None:
    write("d/b.txt", "d/a.md", "d/z/c.txt", "d/k/c.txt", "d/K.TXT")
    assert uris("d") == ["d/K.TXT", "d/a.md", "d/b.txt", "d/k/c.txt", "d/z/c.txt"]


def test_files_of_other_endings_and_hidden_ones_are_passed_over_and_told() -> None:
    write("d/a.txt", "d/b.exe", "d/Makefile", "d/.env", "d/.git/x.txt", "d/archive.tar.gz")
    assert load("d")[1:] == [
        Skipped("d/.env", "hidden"),
        Skipped("d/Makefile", "there is no reader for files without an ending"),
        Source("d/a.txt", "text of d/a.txt"),
        Skipped("d/archive.tar.gz", "there is no reader for .gz files"),
        Skipped("d/b.exe", "there is no reader for .exe files"),
    ]
    assert load("d")[0] == Skipped("d/.git", "hidden")


def test_a_file_that_is_named_itself_is_always_tried() -> None:
    write(".hidden.txt", "a.exe", "[odd].txt")
    assert uris(".hidden.txt", "[odd].txt") == [".hidden.txt", "[odd].txt"]
    [told] = load("a.exe")
    assert isinstance(told, Unreadable)
    assert told.reason.startswith("a.exe cannot be read: there is no reader for .exe files; there are for .adoc ")


def test_a_pattern_finds_files() -> None:
    write("d/a.txt", "d/b.md", "d/e/c.txt", "d/e/c.exe")
    assert uris("d/*.txt") == ["d/a.txt"]
    assert uris("d/**/*.txt") == uris(str(Path.cwd() / "d/**/*.txt")) == ["d/a.txt", "d/e/c.txt"]
    assert uris("d/**") == ["d/a.txt", "d/b.md", "d/e/c.txt"]
    assert load("d/e/*.exe") == [Skipped("d/e/c.exe", "there is no reader for .exe files")]


@pytest.mark.parametrize("path", ["missing.txt", "missing/*.txt"])
def test_what_is_not_there_is_told_and_the_rest_is_read(path: str) -> None:
    write("a.txt")
    assert load(path, "a.txt") == [
        Unreadable(path, f"{path} is not there. Check the path."),
        Source("a.txt", "text of a.txt"),
    ]


def test_a_uri_is_the_path_from_here_or_else_the_whole_path(tmp_path: Path) -> None:
    write("d/a.txt", "e/b.txt")
    assert uris("d", "./d/../d/a.txt", tmp_path / "d") == ["d/a.txt"] * 3
    os.chdir("e")
    assert uris("b.txt", "../d") == ["b.txt", (tmp_path / "d/a.txt").as_posix()]
    assert uri_of(Path("b.txt")) == "b.txt"


# --- trouble ------------------------------------------------------------------------------------------


def test_links_to_files_are_read_and_links_to_folders_are_not() -> None:
    write("d/a.txt", "other/b.txt")
    Path("d/file.txt").symlink_to(Path("other/b.txt").absolute())
    Path("d/folder").symlink_to(Path("other").absolute())
    Path("d/loop").symlink_to(Path("d").absolute())
    Path("d/nowhere.txt").symlink_to("gone")
    Path("d/self.txt").symlink_to("self.txt")
    told = load("d")
    assert uris("d") == ["d/a.txt", "d/file.txt"]
    assert [one for one in told if isinstance(one, Skipped)] == [
        Skipped("d/folder", "a link to a folder; name it to have it read"),
        Skipped("d/loop", "a link to a folder; name it to have it read"),
    ]
    assert [one.path for one in told if isinstance(one, Unreadable)] == ["d/nowhere.txt", "d/self.txt"]
    assert uris("d/folder") == ["d/folder/b.txt"]


def test_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("pipe.txt")
    assert load("pipe.txt") == [
        Unreadable("pipe.txt", "pipe.txt is no regular file. Give what comes out of it on standard input.")
    ]


def test_what_may_not_be_opened_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    write("d/a.txt", "d/b.txt", "d/e/c.txt", "d/f/d.txt")
    real_open, real_scandir = Path.open, os.scandir

    def allowed(path: Path | str) -> Path:
        if Path(path).name in ("a.txt", "e"):
            raise PermissionError(13, "Permission denied", str(path))
        return Path(path)

    # Root may open everything, and tests may run as root.
    monkeypatch.setattr(Path, "open", lambda self, *mode: real_open(allowed(self), *mode))
    monkeypatch.setattr(os, "scandir", lambda path: real_scandir(allowed(path)))
    assert load("d") == [
        Unreadable("d/a.txt", "d/a.txt cannot be read: Permission denied."),
        Source("d/b.txt", "text of d/b.txt"),
        Unreadable("d/e", "d/e cannot be read: Permission denied."),
        Source("d/f/d.txt", "text of d/f/d.txt"),
    ]


def test_a_file_name_that_is_no_text_is_told() -> None:
    Path(os.fsdecode(b"caf\xe9.txt")).write_text("x", encoding="utf-8")
    Path(os.fsdecode(b".h\xe9")).touch()
    assert load(".") == [
        Skipped(".h?", "hidden"),
        Unreadable("caf?.txt", "caf?.txt has a name that is not UTF-8. Rename it."),
    ]


def test_documents_come_one_at_a_time_and_those_before_a_broken_line_are_kept() -> None:
    Path("a.jsonl").write_text('{"id": 1, "text": "one"}\n{"id": 2\n{"id": 3, "text": "three"}', encoding="utf-8")
    write("b.txt")
    found = sources(["a.jsonl", "b.txt"], BY_SUFFIX)
    assert next(found) == Source("1", "one")
    failed = next(found)
    assert isinstance(failed, Unreadable)
    assert "a.jsonl, line 2" in failed.reason
    assert next(found) == Source("b.txt", "text of b.txt")


def test_nothing_is_read_before_it_is_asked_for() -> None:
    opened: list[str] = []

    class Counting:
        suffixes = frozenset({".txt"})

        def load(self, path: Path, uri: str) -> Iterator[Source]:
            opened.append(uri)
            yield Source(uri, "x")

    write("d/a.txt", "d/b.txt")
    found = sources(["d"], {".txt": Counting()})
    next(found)
    assert opened == ["d/a.txt"]


# --- encodings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be-bom"])
def test_utf_8_and_utf_16_with_a_mark_are_read(encoding: str) -> None:
    text = "Zürich 東京\r\n😀"
    data = b"\xfe\xff" + text.encode("utf-16-be") if encoding == "utf-16-be-bom" else text.encode(encoding)
    Path("a.txt").write_bytes(data)
    assert load("a.txt") == [Source("a.txt", text)]


def test_nul_is_taken_out() -> None:
    Path("a.txt").write_bytes(b"a\0b\0")
    assert load("a.txt") == [Source("a.txt", "ab")]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("Zürich".encode("latin-1"), r"a.txt is not UTF-8: byte 0xfc makes no sense there. Save it as UTF-8, or"),
        (b"\xff\xfe\x00", "a.txt begins like UTF-16 and is not: truncated data. Save it as UTF-8."),
    ],
)
def test_other_encodings_are_refused_with_advice(data: bytes, problem: str) -> None:
    Path("a.txt").write_bytes(data)
    [told] = load("a.txt")
    assert isinstance(told, Unreadable)
    assert problem in told.reason


def test_a_file_larger_than_a_document_may_be_is_refused() -> None:
    with Path("a.txt").open("wb") as file:
        file.truncate(100 * 2**20)
    [told] = load("a.txt")
    assert told == Unreadable("a.txt", "a.txt is larger than 64 MiB. Split it into smaller files.")


def test_a_stream_is_one_document() -> None:
    assert from_stream(io.BytesIO(b"\xef\xbb\xbfHello\0"), "stdin") == Source("stdin", "Hello")
    with pytest.raises(UnreadableFile, match="stdin is not UTF-8"):
        from_stream(io.BytesIO(b"\xff"), "stdin")


# --- loaders of others --------------------------------------------------------------------------------


def test_every_format_has_a_loader_installed() -> None:
    assert set(loaders()) >= {
        *(".txt", ".text", ".rst", ".adoc", ".org", ".log", ".md", ".markdown", ".html", ".htm", ".xhtml"),
        *(".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".csv", ".tsv"),
        *(".pdf", ".docx", ".pptx", ".xlsx", ".epub"),
    }


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which packages are found, with a module `theirs` of two loaders."""
    (tmp_path / "theirs.py").write_text(
        "class Load:\n"
        "    suffixes = frozenset({'.txt', '.new'})\n"
        "    def load(self, path, uri):\n"
        "        yield from ()\n"
        "class Other(Load): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def package(folder: Path, name: str, entry: str) -> None:
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[trueweave.loaders]\n{entry}\n")


def test_a_loader_from_elsewhere_outweighs_our_own(install: Path) -> None:
    package(install, "aaa", "x = theirs:Load")
    assert type(loaders()[".txt"]).__name__ == type(loaders()[".new"]).__name__ == "Load"


def test_two_loaders_from_elsewhere_for_one_ending_are_an_error(install: Path) -> None:
    package(install, "aaa", "x = theirs:Load")
    package(install, "zzz", "y = theirs:Other")
    with pytest.raises(ConfigError, match=r"theirs:Load and theirs:Other both read \.(txt|new) files"):
        loaders()

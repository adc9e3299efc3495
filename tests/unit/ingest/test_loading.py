"""Files are found in a fixed order, under stable names, and one that cannot be read does not stop the others."""

import io
import os
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, distribution, distributions
from pathlib import Path
from uuid import UUID

import pytest

from trueweave import Entity, Source
from trueweave.errors import UnreadableFile
from trueweave.events import Refused, Skipped, Unreadable
from trueweave.extend import Loader
from trueweave.formats.pictures.picture import GraphPicture
from trueweave.ingest.loading import Files, Loaded, broken_loaders, from_stream, installed, loaders
from trueweave.ingest.loading.markdown import Markdown
from trueweave.ingest.loading.own_files import OwnFolders
from trueweave.ingest.loading.plain import Plain
from trueweave.ingest.loading.rows import JsonLines
from trueweave.ingest.loading.web import Web
from trueweave.text.uris import Naming

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


def load(*paths: Path | str, folder: Path | None = None, follow_links: bool = False) -> list[Loaded]:
    """What is in these, named from a folder, or else from here."""
    return list(Files(Naming(folder or Path.cwd()), follow_links, BY_SUFFIX).sources(paths))


def uris(*paths: Path | str, folder: Path | None = None, follow_links: bool = False) -> list[str]:
    found = load(*paths, folder=folder, follow_links=follow_links)
    return [one.uri for one in found if isinstance(one, Source)]


# --- which files, under which names -------------------------------------------------------------------


def test_a_folder_is_read_in_order_with_all_folders_in_it() -> None:
    write("d/b.txt", "d/a.md", "d/z/c.txt", "d/k/c.txt", "d/K.TXT")
    assert uris("d") == ["d/K.TXT", "d/a.md", "d/b.txt", "d/k/c.txt", "d/z/c.txt"]


def test_files_of_other_endings_and_hidden_ones_are_passed_over_and_told() -> None:
    write("d/a.txt", "d/b.exe", "d/.env", "d/.git/x.txt", "d/archive.tar.gz")
    assert load("d")[1:] == [
        Skipped("d/.env", "hidden"),
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
    assert told.reason.startswith("a.exe cannot be read: there is no reader for .exe files; convert it ")


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
        Unreadable(path, f"{path} does not exist. Check the path."),
        Source("a.txt", "text of a.txt"),
    ]


def test_a_uri_is_the_path_from_the_project_wherever_one_works_and_however_it_is_written(tmp_path: Path) -> None:
    write("p/d/a.txt", "p/e/b.txt", "out/c.txt")
    project = tmp_path / "p"
    expected = ["d/a.txt"] * 4
    assert uris("p/d", "./p/d/../d/a.txt", project / "d", "p/d/*.txt", folder=project) == expected
    os.chdir("p/e")
    assert uris("../d", "../d/a.txt", project / "d/a.txt", "../*/a.txt", folder=project) == expected
    assert uris("b.txt", "..", folder=project) == ["e/b.txt", "d/a.txt", "e/b.txt"]
    Path("../../elsewhere").symlink_to(project)  # as /tmp is on some systems
    assert uris(tmp_path / "elsewhere/d/a.txt", folder=project) == ["d/a.txt"]
    assert uris(project / "d", folder=tmp_path / "elsewhere") == ["d/a.txt"]


def test_files_of_two_folders_are_never_called_the_same(tmp_path: Path) -> None:
    write("p/a.txt", "q/a.txt")
    assert uris("p/a.txt", "q/a.txt", folder=tmp_path / "p") == ["a.txt", f"{tmp_path}/q/a.txt"]
    alone = [one.uri for one in Files(loaders=BY_SUFFIX).sources(["p", "q"]) if isinstance(one, Source)]
    assert alone == [f"{tmp_path}/p/a.txt", f"{tmp_path}/q/a.txt"]


def test_dots_after_a_link_lead_where_the_system_says(tmp_path: Path) -> None:
    write("deep/er/x.txt", "deep/a.txt", "a.txt")
    Path("link").symlink_to("deep/er")
    assert uris("link/../a.txt") == ["deep/a.txt"]


# --- trouble ------------------------------------------------------------------------------------------


@pytest.fixture
def linked() -> None:
    """A folder with one file, and links out of it, into itself and to nothing."""
    write("d/a.txt", "other/b.txt", "other/sub/c.txt")
    Path("d/file.txt").symlink_to(Path("other/b.txt").absolute())
    Path("d/folder").symlink_to(Path("other").absolute())
    Path("d/again").symlink_to(Path("other/sub").absolute())
    Path("d/loop").symlink_to(Path("d").absolute())
    Path("d/nowhere.txt").symlink_to("gone")
    Path("d/self.txt").symlink_to("self.txt")
    Path("other/back").symlink_to(Path().absolute())


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("path", ["d", "d/**", "d/**/*.txt"])
def test_links_are_passed_over_unless_they_are_named(path: str) -> None:
    told = load(path)
    assert uris(path) == ["d/a.txt"]
    links = {"d/again", "d/file.txt", "d/folder", "d/loop", "d/nowhere.txt", "d/self.txt"}
    assert {one.path for one in told if isinstance(one, Skipped)} == links
    assert {one.reason for one in told if isinstance(one, Skipped)} == {
        "a link; give its path, or --follow-links, to read it"
    }
    assert uris("d/file.txt", "d/folder") == ["d/file.txt", "d/folder/b.txt", "d/folder/sub/c.txt"]


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("path", ["d", "d/**/*.txt"])
def test_links_are_followed_if_that_is_asked_for_and_none_goes_in_circles(path: str) -> None:
    told = load(path, follow_links=True)
    # The way back leads to all that is here, but for folders that have been read by then.
    assert sorted(uris(path, follow_links=True)) == ["d/a.txt", "d/again/c.txt", "d/file.txt", "d/folder/b.txt"]
    assert [one.path for one in told if isinstance(one, Unreadable)] == ["d/nowhere.txt", "d/self.txt"]


def test_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("pipe.txt")
    assert load("pipe.txt") == [
        Unreadable("pipe.txt", "pipe.txt is not a regular file. Pass its content on standard input.")
    ]


def test_what_may_not_be_opened_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    write("d/a.txt", "d/b.txt", "d/e/c.txt", "d/f/d.txt")
    real_open, real_scandir = Path.open, os.scandir

    def allowed(path: Path | str) -> Path:
        if Path(path).name in ("a.txt", "e"):
            raise PermissionError(13, "Permission denied", str(path))
        return Path(path)

    # Root may open everything, and tests may run as root.
    monkeypatch.setattr(Path, "open", lambda self, *mode, **how: real_open(allowed(self), *mode, **how))
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


def test_a_broken_line_is_named_and_those_round_it_are_read() -> None:
    Path("a.jsonl").write_text('{"id": 1, "text": "one"}\n{"id": 2\n{"id": 3, "text": "three"}', encoding="utf-8")
    write("b.txt")
    first, failed, third, other = load("a.jsonl", "b.txt")
    assert (first, third) == (Source("a.jsonl#1", "one"), Source("a.jsonl#3", "three"))
    assert isinstance(failed, Refused)
    assert failed.place == "a.jsonl, line 2"
    assert failed.reason.startswith("a.jsonl, line 2: ")
    assert other == Source("b.txt", "text of b.txt")


def test_nothing_is_read_before_it_is_asked_for() -> None:
    opened: list[str] = []

    class Counting:
        suffixes = frozenset({".txt"})

        def load(self, path: Path, uri: str) -> Iterator[Source]:
            opened.append(uri)
            yield Source(uri, "x")

    write("d/a.txt", "d/b.txt")
    found = Files(loaders={".txt": Counting()}).sources(["d"])
    next(found)
    assert opened == [f"{Path.cwd()}/d/a.txt"]


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
    ("encoding", "called"), [("cp1252", "Windows-1252"), ("latin-1", "Windows-1252"), ("utf-16-le", "UTF-16-LE")]
)
@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_western_text_of_other_encodings_is_read_with_a_note(encoding: str, called: str, name: str) -> None:
    text = "Jürgen Müller fährt über die Straße nach Zürich; le garçon a mangé près de l'hôtel."
    Path(name).write_bytes(text.encode(encoding))
    [source] = load(name)
    assert isinstance(source, Source)
    assert source.text == text
    assert source.notes == (f"it is not UTF-8 and was read as {called}; if letters look wrong, save it as UTF-8",)


def test_latin_1_has_what_windows_1252_has_not() -> None:
    Path("a.txt").write_bytes("Zürich and so on\x81".encode("latin-1"))
    [source] = load("a.txt")
    assert isinstance(source, Source)
    assert source.text == "Zürich and so on\x81"
    assert "read as Latin-1" in source.notes[0]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("Это по-русски".encode("cp1251"), r"a.txt is not UTF-8: byte 0xdd is not valid, and it is not Western"),
        (b"\xff\xfe\x00", "a.txt begins like UTF-16 and is not: truncated data. Save it as UTF-8."),
        (bytes(range(256)) * 4, "a.txt is not text: it contains bytes that do not occur in text."),
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


CODE = "a.py a.rs a.ts a.go a.c a.sql a.sh a.yaml a.yml a.toml a.rst a.org a.tex Makefile README"


@pytest.mark.parametrize("name", CODE.split())
def test_source_code_settings_and_files_without_an_ending_are_text(name: str) -> None:
    write(f"d/{name}")
    assert load("d") == load(f"d/{name}") == [Source(f"d/{name}", f"text of d/{name}")]


def test_a_file_without_an_ending_that_is_no_text_is_passed_over_and_told() -> None:
    Path("d").mkdir()
    Path("d/program").write_bytes(b"\x7fELF\x02\x01\x01\0\0\0")
    assert load("d") == [Skipped("d/program", "not text, and without an extension")]
    [told] = load("d/program")
    assert isinstance(told, Unreadable)
    assert told.reason.startswith("d/program is not text: ")


# --- loaders of others --------------------------------------------------------------------------------


def test_every_format_has_a_loader_installed() -> None:
    assert set(loaders()) >= {
        *(".txt", ".text", ".rst", ".adoc", ".org", ".log", ".md", ".markdown", ".html", ".htm", ".xhtml"),
        *(".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".csv", ".tsv"),
        *(".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".rtf", ".odt", ".ipynb"),
        *(".eml", ".msg", ".mbox", ".warc", ".warc.gz"),
    }


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which packages are found, with a module `theirs` of three loaders."""
    (tmp_path / "theirs.py").write_text(
        "import trueweave\n"
        "class Load:\n"
        "    suffixes = frozenset({'.txt', '.new'})\n"
        "    def load(self, path, uri):\n"
        "        yield from ()\n"
        "class Other(Load): ...\n"
        "class Nothing: ...\n"
        "class Picky:\n"
        "    def __init__(self, needed): ...\n"
        "class Utf8:\n"
        "    suffixes = frozenset({'.note'})\n"
        "    def load(self, path, uri):\n"
        "        yield trueweave.Source(uri, path.read_text(encoding='utf-8'))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "theirs", raising=False)

    def found(group: str) -> list[EntryPoint]:
        every = [*distribution("trueweave").entry_points]
        every += [entry for one in distributions(path=[str(tmp_path)]) for entry in one.entry_points]
        return [entry for entry in every if entry.group == group]

    monkeypatch.setattr(installed, "entry_points", found)  # whatever else is installed here
    return tmp_path


def package(folder: Path, name: str, entry: str) -> None:
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[trueweave.loaders]\n{entry}\n")


def test_a_loader_from_elsewhere_outweighs_our_own(install: Path) -> None:
    package(install, "aaa", "x = theirs:Load")
    assert type(loaders()[".txt"]).__name__ == type(loaders()[".new"]).__name__ == "Load"


def test_a_loader_from_elsewhere_that_cannot_decode_a_file_does_not_stop_the_rest(install: Path) -> None:
    package(install, "aaa", "x = theirs:Utf8")
    Path("a.note").write_bytes(b"caf\xe9")
    Path("b.note").write_bytes(b"tea")
    told, source = Files(Naming(Path.cwd())).sources(["a.note", "b.note"])
    assert told == Unreadable("a.note", "a.note is not utf-8: byte 0xe9 is not valid. Save it as utf-8.")
    assert isinstance(source, Source)


def test_two_loaders_from_elsewhere_for_one_ending_are_an_error_for_such_files(install: Path) -> None:
    package(install, "aaa", "x = theirs:Load")
    package(install, "zzz", "y = theirs:Other")
    Path("a.txt").write_text("Tea.")
    Path("b.md").write_text("Tea.")
    files = Files(Naming(Path.cwd()))
    problem = "theirs:Load and theirs:Other both read .txt files. Uninstall one of them."
    assert list(files.sources(["a.txt"])) == [Unreadable("a.txt", f"a.txt cannot be read: {problem}")]
    assert [type(one) for one in files.sources(["b.md"])] == [Source]
    assert problem in [one.problem for one in broken_loaders()]


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ("nowhere:Load", "ModuleNotFoundError: No module named 'nowhere'"),
        ("theirs:Missing", "AttributeError: module 'theirs' has no attribute 'Missing'"),
        ("theirs:Picky", "TypeError: "),
        ("theirs:Nothing", "AttributeError: 'Nothing' object has no attribute 'suffixes'"),
    ],
)
def test_a_loader_that_cannot_be_loaded_is_named_where_no_other_reads_a_file(
    install: Path, entry: str, error: str
) -> None:
    package(install, "aaa", f"x = {entry}")
    Path("a.odd").write_text("Tea.")
    Path("b.md").write_text("Tea.")
    files = Files(Naming(Path.cwd()))
    problem = f"the loader x of the package aaa cannot be loaded: {entry} raises {error}"
    [told] = files.sources(["a.odd"])
    assert isinstance(told, Unreadable)
    assert told.reason.startswith(f"a.odd cannot be read: there is no reader for .odd files, and {problem}")
    assert told.reason.endswith(". Reinstall it, or uninstall it.")
    assert [type(one) for one in files.sources(["b.md"])] == [Source]
    assert [one.name for one in broken_loaders()] == ["x"]
    assert problem in broken_loaders()[0].problem
    skipped = [one for one in files.sources([Path.cwd()]) if isinstance(one, Skipped) and "a.odd" in one.path]
    assert problem in skipped[0].reason


# --- what is not read: ignored, own and secret files --------------------------------------------------

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAA\n"
TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"
IGNORED = "ignored by .gitignore; --no-ignore reads them"


def put(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def skipped(*paths: Path | str, no_ignore: bool = False, own: tuple[Path, ...] = ()) -> dict[str, str]:
    """Why files in these are skipped, whether they are read or listed, but for hidden ones."""
    files = Files(
        Naming(Path.cwd()), loaders={**BY_SUFFIX, ".html": Web()}, no_ignore=no_ignore, own=OwnFolders.of(*own)
    )
    read = {one.path: one.reason for one in files.sources(paths) if isinstance(one, Skipped)}
    listed = {one.path: one.reason for one in files.files(paths) if isinstance(one, Skipped)}
    assert read == listed
    return {path: reason for path, reason in read.items() if reason != "hidden"}


def test_own_files_are_never_read() -> None:
    ada = Entity(UUID(int=1), "Ada", "person", "", (), 1, (0,) * 9, 0)
    picture = GraphPicture("Ada", (ada,), ())
    put("trueweave.toml", 'database_url = "postgresql://u:secret@host/d"')
    put("any-name.html", picture.html())
    put("trueweave-bench/questions/report.md", "recall")
    put("models/bge/vocab.txt", "[UNK]")
    put("db/password", "hunter2")
    put("db/lock", "")
    put("db/data/PG_VERSION", "18")
    put("cluster/PG_VERSION", "18")
    put("a.md", "text")
    expected = {
        "trueweave.toml": "Trueweave's own",
        "any-name.html": "Trueweave's own",
        "trueweave-bench": "Trueweave's own",
        "models": "Trueweave's own",
        "db": "the data of a PostgreSQL server",
        "cluster": "the data of a PostgreSQL server",
    }
    assert skipped(".", own=(Path("models"),)) == expected
    assert skipped(".", own=(Path("models"),), no_ignore=True) == expected
    assert skipped("trueweave.toml", "any-name.html", "*.toml").keys() == {"trueweave.toml", "any-name.html"}
    assert skipped("db") == {"db/": "the data of a PostgreSQL server"}


def test_ignore_files_count_from_the_repository_to_the_file_and_the_innermost_decides() -> None:
    Path(".git").mkdir()
    put(".gitignore", "*.log\nbuild/\n/only-here.md\n!\nwrong\\\n[z-a]\n")
    put("d/.gitignore", "!keep.log\ndrafts/*\n!drafts/good.md\n")
    put("d/.trueweaveignore", "*.tmp.md\n!build/\n")
    write("x.log", "build/a.md", "only-here.md", "d/only-here.md", "d/keep.log", "d/lose.log", "d/e/keep.log")
    write("d/drafts/bad.md", "d/drafts/good.md", "d/x.tmp.md", "d/build/b.md", "d/deep/build/c.md")
    found = ["d/only-here.md", "d/keep.log", "d/e/keep.log", "d/drafts/good.md", "d/build/b.md", "d/deep/build/c.md"]
    assert sorted(uris(".")) == sorted(found)
    assert sorted(uris("d")) == sorted(found)
    assert sorted(uris("**/*.log")) == ["d/e/keep.log", "d/keep.log"]
    by_git = dict.fromkeys(["x.log", "build", "only-here.md", "d/lose.log", "d/drafts/bad.md"], IGNORED)
    assert skipped(".") == {**by_git, "d/x.tmp.md": "ignored by .trueweaveignore; --no-ignore reads them"}
    assert skipped(".", no_ignore=True) == {}


def test_a_file_or_folder_that_is_named_is_read_although_it_is_ignored() -> None:
    Path(".git").mkdir()
    put(".gitignore", "build/\n*.log\n")
    write("build/docs/a.md", "x.log")
    put("build/docs/.gitignore", "b.md")
    write("build/docs/b.md")
    assert uris("build/docs", "x.log") == ["build/docs/a.md", "x.log"]


def test_ignore_files_above_a_folder_outside_of_repository_and_project_do_not_count(tmp_path: Path) -> None:
    put(".gitignore", "*.md")
    write("p/d/a.md")
    assert uris("p/d", folder=tmp_path / "p") == ["d/a.md"]
    put("p/.trueweaveignore", "d/*.md")
    assert uris("p/d", folder=tmp_path / "p") == []


@pytest.mark.parametrize("path", [".", "d/e"])
def test_nothing_is_read_where_an_ignore_file_cannot_be_read(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put("d/.gitignore", "secret.md")
    write("d/secret.md", "d/e/secret.md")
    real_open = Path.open

    def refuse(file: Path, *mode: str, **how: str) -> object:
        if file.name == ".gitignore" and file.exists():
            raise PermissionError(13, "Permission denied", str(file))
        return real_open(file, *mode, **how)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refuse)
    assert load(path) == [Unreadable("d/.gitignore", "d/.gitignore cannot be read: Permission denied.")]


@pytest.mark.parametrize(
    "name",
    ["id_rsa", "id_ed25519", "server.pem", "TLS.KEY", "prod.env", "credentials", "credentials.json", "secrets.yaml",
     "service-account-7.json", "accessKeys.csv", "terraform.tfstate"],
)  # fmt: skip
def test_files_named_like_keys_and_secrets_are_skipped(name: str) -> None:
    write(f"d/{name}")
    reason = "named like a key or secret; --no-ignore reads them"
    assert skipped("d") == skipped(f"d/{name}") == {f"d/{name}": reason}


@pytest.mark.parametrize("name", [".env", ".env.production", ".netrc", ".pgpass"])
def test_hidden_secrets_are_skipped_also_by_name(name: str) -> None:
    write(name)
    assert skipped(name) == {name: "named like a key or secret; --no-ignore reads them"}


@pytest.mark.parametrize(
    "name", ["credentials.md", "secrets.txt", "id_rsa.pub", "keynote.md", ".env.example", "a.envoy"]
)
def test_files_about_secrets_are_read(name: str) -> None:
    write(name)
    assert skipped(name) == {}


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"My key:\n{KEY}", "a private key"),
        ('{"private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B"}', "a private key"),
        (f"export GITHUB_TOKEN={TOKEN}", "an access token"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzLq7nW3kTs", "an access token"),
        ("twk_0123456789ab_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2bC4dE5f", "an access token"),
    ],
)
def test_files_that_hold_keys_and_tokens_are_skipped(text: str, secret: str) -> None:
    put("d/a.txt", text)
    assert skipped("d") == skipped("d/a.txt") == {"d/a.txt": f"containing {secret}; --no-ignore reads them"}
    assert skipped("d", no_ignore=True) == {}


@pytest.mark.parametrize(
    "text",
    [
        "A file that begins with -----BEGIN PRIVATE KEY----- is a private key.",
        "Use a key such as AKIAIOSFODNN7EXAMPLE, or sk-proj-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n",
    ],
)
def test_texts_that_only_speak_of_keys_are_read(text: str) -> None:
    put("a.txt", text)
    assert skipped("a.txt") == {}

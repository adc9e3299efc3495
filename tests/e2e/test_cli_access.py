"""`trueweave access` and --readers: who can read which documents."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Trueweave, answer
from trueweave import AsyncTrueweave


@pytest.fixture
def corpus(trueweave: Trueweave, url: str, tmp_path: Path) -> Path:
    """A folder with three documents, in a project whose workspace is empty."""
    trueweave("init", "--database-url", url, "--workspace", "default")
    (tmp_path / "trueweave.toml").write_text(
        f'workspace = "default"\ndatabase_url = "{url}"\nextractor = "capitals"\nembedding_model = ""\n'
    )
    for name in ("hr/pay", "hr/open/menu", "wiki"):
        path = tmp_path / "corpus" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Ada Lovelace wrote {name}.")
    return tmp_path / "corpus"


def readers(url: str) -> dict[str, list[str]]:
    async def look() -> dict[str, list[str]]:
        async with AsyncTrueweave.open(url) as index, index.workspace.transaction() as tx:
            rows = await tx.execute("SELECT uri, readers FROM document WHERE current")
            return dict(await rows.fetchall())

    return {uri.removeprefix("corpus/").removesuffix(".md"): given for uri, given in asyncio.run(look()).items()}


@pytest.mark.usefixtures("corpus")
def test_rules_are_set_listed_and_removed(trueweave: Trueweave, url: str) -> None:
    assert "Next: trueweave access set PREFIX GROUP" in trueweave("access", "list").stdout
    trueweave("add", "corpus")
    told = trueweave("access", "set", "corpus/hr/**", "hr", "board").stdout
    assert (
        "Only board and hr can read documents whose uris begin with corpus/hr/. 2 documents have other readers" in told
    )
    assert "trueweave keys create NAME --groups hr,board" in told
    assert answer(trueweave("access", "set", "corpus/hr/open/", "--everybody", "--json"))["changed"] == 1
    assert readers(url) == {"hr/pay": ["board", "hr"], "hr/open/menu": [], "wiki": []}
    assert answer(trueweave("access", "list", "--json"))["rules"] == [
        {"prefix": "corpus/hr/", "readers": ["board", "hr"]},
        {"prefix": "corpus/hr/open/", "readers": []},
    ]
    listed = trueweave("access", "list").stdout
    assert "board, hr" in listed
    assert "everybody" in listed
    assert "1 document has other readers now" in trueweave("access", "remove", "corpus/hr/**").stdout
    assert "there is no access rule for 'corpus/hr/'" in trueweave("access", "remove", "corpus/hr/", code=1).stderr
    assert "pass --everybody" in trueweave("access", "set", "corpus/", code=1).stderr
    assert "is a pattern" in trueweave("access", "set", "corpus/*", "hr", code=1).stderr


def test_readers_are_given_with_documents(trueweave: Trueweave, url: str, corpus: Path) -> None:
    trueweave("add", "corpus", "--readers", "legal, hr")
    assert readers(url) == {key: ["hr", "legal"] for key in ("hr/pay", "hr/open/menu", "wiki")}
    (corpus / "wiki.md").write_text("---\nreaders: staff\n---\nAda Lovelace wrote wiki.")
    again = trueweave("sync", "corpus", "--readers", "hr", "--yes")
    assert "3 with other readers" in again.stderr
    assert readers(url) == {"hr/pay": ["hr"], "hr/open/menu": ["hr"], "wiki": ["staff"]}
    assert "all unchanged" in trueweave("sync", "corpus", "--readers", "hr").stdout
    trueweave("add", "corpus/hr", "--readers", "")
    assert readers(url) == {"hr/pay": [], "hr/open/menu": [], "wiki": ["staff"]}
    row = {"uri": "given", "text": "Ada", "entities": ["Ada"]}
    (corpus.parent / "given.jsonl").write_text(
        json.dumps(row) + "\n" + json.dumps({**row, "uri": "own", "readers": "it"})
    )
    trueweave("add", "given.jsonl", "--readers", "hr")
    assert readers(url) | {"given.jsonl#given": ["hr"], "given.jsonl#own": ["it"]} == readers(url)
    trueweave("export", "all.jsonl")
    assert answer(trueweave("import", "all.jsonl", "--readers", "imported", "--json"))["documents"] == 5
    refused = trueweave("add", "corpus", "--readers", "*", code=1)
    assert "means all documents" in refused.stderr


def test_a_source_has_readers(trueweave: Trueweave, corpus: Path) -> None:
    assert corpus.is_dir()
    made = answer(trueweave("sources", "add", "site", "https://example.org/", "--readers", "hr,legal", "--json"))
    assert made["source"]["readers"] == ["hr", "legal"]


@pytest.mark.usefixtures("corpus")
def test_what_groups_can_read_is_shown_to_whoever_asks_as_them(trueweave: Trueweave) -> None:
    trueweave("add", "corpus")
    trueweave("access", "set", "corpus/hr/", "hr", "board")
    assert "readers" not in trueweave("documents", "--as-group", "nobody").stdout
    trueweave("access", "set", "corpus/hr/open/", "it")
    listed = answer(trueweave("documents", "--json"))["documents"]
    assert [one["readers"] for one in listed] == [["it"], ["board", "hr"], []]
    assert [one["uri"] for one in answer(trueweave("documents", "--as-group", "it", "--json"))["documents"]] == [
        "corpus/hr/open/menu.md",
        "corpus/wiki.md",
    ]
    assert "board, hr" in trueweave("documents").stdout
    assert "board, hr" in trueweave("document", "corpus/hr/pay.md").stdout
    hidden = trueweave("document", "corpus/hr/pay.md", "--as-group", "it", code=1).stderr
    missing = trueweave("document", "corpus/hr/pax.md", "--as-group", "it", code=1).stderr
    assert hidden.replace("pay", "pax") == missing

    def found(command: str, *groups: str) -> list[str]:
        options = [word for one in groups for word in ("--as-group", one)]
        more = ["--methods", "keyword"] if command == "compare" else ["--method", "keyword", "--context-only"]
        told = answer(trueweave(command, "What did Ada Lovelace write?", *more, *options, "--json"))
        evidence = told["methods"][0]["evidence"] if command == "compare" else told["evidence"]
        return sorted(one["uri"].removeprefix("corpus/").removesuffix(".md") for one in evidence["passages"])

    for command in ("ask", "compare"):
        assert found(command) == ["hr/open/menu", "hr/pay", "wiki"]
        assert found(command, "*") == ["hr/open/menu", "hr/pay", "wiki"]
        assert found(command, "nobody") == ["wiki"]
        assert found(command, "hr", "it") == ["hr/open/menu", "hr/pay", "wiki"]
        assert found(command, "board") == ["hr/pay", "wiki"]
    asked = "What did Ada Lovelace write?\n"
    told = trueweave("chat", "--method", "keyword", "--as-group", "board", "--json", stdin=asked).stdout
    assert sorted(one["uri"] for one in json.loads(told)["evidence"]["passages"]) == [
        "corpus/hr/pay.md",
        "corpus/wiki.md",
    ]
    assert "takes no --as-group" in trueweave("mcp", "--write", "--as-group", "hr", code=1).stderr
    assert "cannot be the name of a group" in trueweave("entities", "--as-group", " hr", code=1).stderr


def test_commands_that_cannot_show_what_a_group_reads_say_so(trueweave: Trueweave) -> None:
    for typed in (["add", "corpus"], ["keys", "list"], ["communities", "show", "x"], ["status"], ["serve"]):
        refused = trueweave(*typed, "--as-group", "hr", code=2).stderr
        command = " ".join(typed[:2]) if typed[0] in ("keys", "communities") else typed[0]
        assert f"trueweave {command}` takes no --as-group. It changes the workspace, " in refused
    listed = "ask, chat, compare, watch add, documents, document, entities, entity, relations, neighbours, path, "
    assert listed in refused
    assert "requires an argument" in trueweave("documents", "--as-group", code=2).stderr
    assert "No such option: --as-groups" in trueweave("add", "corpus", "--as-groups", "hr", code=2).stderr

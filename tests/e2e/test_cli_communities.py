"""`trueweave communities` as a user runs it, on a real database, without a model and with a scripted one."""

import asyncio
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.e2e.conftest import Trueweave, answer, model_server, typed
from trueweave import AsyncTrueweave, Settings
from trueweave.testing import Databases
from trueweave.testing.model_server import Asked

MODEL = "openai/any"
FAMILIES = ("Arden", "Brook", "Clay", "Dale", "East", "Ford", "Glen", "Hill", "Iver", "Jones", "Kent", "Lane")
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"

Row = dict[str, Any]


def reply(asked: Asked) -> str:
    """What the model says: a report, but for one family that it does not like."""
    assert asked.messages[0].content.startswith("You write a report about a group")
    if "Bruno Kent" in asked.messages[-1].content:
        return "I would rather not."
    findings = [
        {"summary": "Anna knows all of them", "text": "She met Bruno and Clara.", "references": ["E1"]},
        {"summary": "They are \x1b[31mrich", "text": "", "references": ["E99"]},
    ]
    report = {
        "title": "A family of letters",
        "summary": "They write to each other.",
        "rating": 7,
        "reason": "They matter.",
    }
    return json.dumps({**report, "findings": findings})


@pytest.fixture(scope="module")
def url(databases: Databases) -> Iterator[str]:
    """One database for all that is tried here, each in a workspace of its own."""
    made = databases.make()
    yield made
    databases.drop(made)


@pytest.fixture
def environment(environment: dict[str, str]) -> dict[str, str]:
    """As for all commands, in a narrower terminal."""
    return {**environment, "COLUMNS": "100"}


def write_notes(folder: Path) -> Path:
    """Families of three, each with a friend in the next one; and a couple, who are too few to be written about."""
    folder.mkdir()
    for name, following in zip(FAMILIES, (*FAMILIES[1:], FAMILIES[0]), strict=True):
        said = f"Anna {name} met Bruno {name} and Clara {name}. Clara {name} wrote to Anna {following}."
        (folder / f"{name}.txt").write_text(said)
    (folder / "play.txt").write_text("Romeo Montague loved Juliet Capulet.")
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes")


def settle_for(tmp_path: Path, workspace: str, model_url: str = "", **more: object) -> None:
    """Set the workspace, and the model at that URL."""
    named = {"model": MODEL, "model_url": model_url} if model_url else {}
    settings = {"workspace": workspace, "extractor": "capitals", "max_community_size": 3, **named, **more}
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    (tmp_path / "trueweave.toml").write_text("\n".join([*lines, "[prices]", f'"{MODEL}" = [0.5, 2.0]']))


@pytest.fixture(scope="module")
def built(url: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Communities with reports, for those who only read."""
    folder = write_notes(tmp_path_factory.mktemp("read") / "notes")

    async def build() -> None:
        settings = Settings(database_url=url, workspace="read", extractor="capitals", max_community_size=3)
        async with AsyncTrueweave.open(settings=settings) as index:
            await index.add(folder)
            await index.communities.find()
            await index.communities.write_reports()

    asyncio.run(build())


@pytest.fixture
def there(built: None, tmp_path: Path) -> None:
    """The settings for what is built."""
    settle_for(tmp_path, "read")


def outermost(trueweave: Trueweave) -> list[Row]:
    return list(answer(trueweave("communities", "--json"))["communities"])


def test_before_anything_is_built_the_next_step_is_told(trueweave: Trueweave, tmp_path: Path) -> None:
    settle_for(tmp_path, "empty")
    trueweave("init")
    for command in ((), ("tree",), ("changes", "--since", "7d")):
        told = trueweave("communities", *command).stdout
        assert told == "There are no communities yet.\nNext: trueweave communities build  (finds them)\n"
    assert answer(trueweave("communities", "--json")) == {"hierarchy": None, "communities": []}
    unknown = trueweave("communities", "show", "1a2b", code=1)
    assert unknown.stderr.startswith(
        "error: there is no community whose id begins with 1a2b. `trueweave communities` lists"
    )
    none = "There are no communities: no two entities are related.\nNext: trueweave add PATH  (adds documents)\n"
    assert trueweave("communities", "build").stdout == none
    assert trueweave("communities").stdout == none


@pytest.mark.usefixtures("notes")
def test_communities_are_built_without_any_model(trueweave: Trueweave, tmp_path: Path) -> None:
    settle_for(tmp_path, "plain")
    trueweave("init")
    trueweave("add", "notes")
    expected = trueweave("communities", "build", "--estimate").stdout
    assert re.search(r"^reports +\d+ to write, 0 up to date", expected, re.M)
    assert "none: no model is called, and nothing is charged" in expected
    assert "Next: trueweave communities build  (writes them)" in expected
    done = answer(trueweave("communities", "build", "--json"))
    assert (done["added"], done["unchanged"]) == (0, done["communities"]), "an estimate has found them"
    assert (done["reports"], done["without_model"], done["waiting"]) == (done["communities"] - 1, 0, 0)
    again = trueweave("communities", "build").stdout.splitlines()
    assert again[:2] == [
        f"{done['communities']} communities, as before.",
        f"{done['reports']} reports up to date, none to write.",
    ]
    assert again[2:] == [
        "Next: trueweave communities  (shows them)",
        "Next: trueweave ask QUESTION --method community  (asks the reports)",
    ]
    assert "Give one of them" in trueweave("communities", "build", "--estimate", "--no-reports", code=1).stderr


@pytest.mark.usefixtures("there")
def test_all_of_them_are_shown_at_a_glance(trueweave: Trueweave) -> None:
    shown = trueweave("communities").stdout
    assert re.match(r"\d+ communities on 2 levels\.\n", shown)
    assert re.search(r"^found +\d{4}-\d\d-\d\d \d\d:\d\d by .+, seed 0, resolution 1", shown, re.M)
    assert re.search(r"^modularity +0\.\d\d at level 0", shown, re.M)
    assert re.search(r"^level +communities +members +largest +written +stale +too small", shown, re.M)
    assert re.search(r"^ +0 +\d+ +38 +6 +\d+ +0 +1$", shown, re.M)
    assert re.search(r"^[0-9a-f]{8} +6 +2 +2\.6  Anna \w+, Anna \w+, Clara \w+ and 3 more", shown, re.M)
    assert re.search(r"^[0-9a-f]{8} +2 {10,}Juliet Capulet, Romeo Montague", shown, re.M)
    assert "Next: trueweave communities show ID" in shown
    found = answer(trueweave("communities", "--json", "--limit", "2"))
    assert [one["size"] for one in found["communities"]] == [6, 6]
    assert (found["hierarchy"]["behind"], found["hierarchy"]["levels"][0]["small"]) == (False, 1)
    misplaced = trueweave("communities", "--workspace", "other", "tree", code=2)
    assert "Write the options after the command: trueweave communities tree [OPTIONS]" in misplaced.stderr


@pytest.mark.usefixtures("there")
def test_a_tree_shows_them_within_each_other(trueweave: Trueweave) -> None:
    shown = trueweave("communities", "tree", "--limit", "1").stdout
    lines = [line.rstrip() for line in shown.splitlines()]
    assert re.fullmatch(r"[0-9a-f]{8} +6 +2 +2\.6  Anna \w+, .* and 3 more", lines[1])
    assert re.fullmatch(r"[0-9a-f]{8} +3 +1\.6  ├── Anna (\w+), Clara \1, Bruno \1", lines[2])
    assert lines[3].strip() == "└── … and 1 more (--limit shows more of them)"
    largest, *others = outermost(trueweave)
    assert lines[4].strip() == f"… and {len(others)} more (--limit shows more of them)"
    [root] = answer(trueweave("communities", "tree", largest["id"][:8], "--json"))["communities"]
    assert [part["parent"] for part in root["within"]] == [root["id"]] * 2 == [largest["id"]] * 2
    assert [part["within"] for part in root["within"]] == [[], []]
    assert "└── Anna" in trueweave("communities", "tree", largest["id"][:8]).stdout
    assert "├──" not in trueweave("communities", "tree", "--depth", "1").stdout


@pytest.mark.usefixtures("there")
def test_one_is_shown_by_the_beginning_of_its_id(trueweave: Trueweave) -> None:
    largest, *_, smallest = outermost(trueweave)
    shown = trueweave("communities", "show", largest["id"][:8].upper(), "--members", "2").stdout
    assert shown.startswith(largest["title"])
    assert re.search(rf"^id +{largest['id']}", shown, re.M)
    assert re.search(r"^level +0, the outermost", shown, re.M)
    assert re.search(r"^size +6 entities, 7 relations", shown, re.M)
    assert re.search(r"^written +.* without a model: sentences picked out of the documents", shown, re.M)
    assert "\n6 entities with 7 relations between them, most of them around Anna " in shown
    assert "\nRated 2.6 of 10. Based only on its size of 6 entities: no model has judged it.\n" in shown
    assert re.search(r"^1\. Anna (\w+), Clara \1, Bruno \1$", shown, re.M)
    assert re.search(
        r"^  Anna (\w+) met Bruno \1 and Clara \1\.\n  rests on 3 entities, 3 relations, 1 passage$", shown, re.M
    )
    assert re.search(r"^Members  6, the first 2 of them\nname .*\nAnna .*\nAnna ", shown, re.M)
    assert re.search(r"^Parts  2\nid .*\n[0-9a-f]{8} +3 ", shown, re.M)
    assert "Too small to be written about." in trueweave("communities", "show", smallest["id"]).stdout
    found = answer(trueweave("communities", "show", largest["id"], "--json"))
    assert found["report"]["author"] == ""
    assert {part["parent"] for part in found["parts"]} == {largest["id"]}
    assert {one["name"] for one in found["members"]} >= set(found["community"]["names"])
    assert "no community whose id begins with zz" in trueweave("communities", "show", "zz", code=1).stderr


def test_what_has_changed_is_shown(trueweave: Trueweave, tmp_path: Path) -> None:
    settle_for(tmp_path, "changing", max_community_size=10)
    trueweave("init")
    for name, said in (
        ("ballet", "Odette Swan feared Carl Rothbart at Lake Ilmen."),
        ("play", "Romeo Montague loved Juliet Capulet."),
        ("tale", "Hansel Holt met Gretel Holt and Wilma Wolf."),
    ):
        (tmp_path / f"{name}.txt").write_text(said)
    trueweave("add", "*.txt")
    trueweave("communities", "build")
    shown = trueweave("communities", "changes", "--since", "1h", "--limit", "2").stdout
    assert re.match(r"Added  3, the first 2 of them\nid +level +entities +rating  title", shown)
    assert "Changed" not in shown
    assert "Removed" not in shown
    now = datetime.now().astimezone().isoformat()
    assert f"No community has changed since {now[:10]}" in trueweave("communities", "changes", "--since", now).stdout
    (tmp_path / "more.txt").write_text("Hansel Holt wrote to Dora Dane.")
    trueweave("add", "more.txt")
    trueweave("remove", "play.txt")
    assert "The graph has changed since.\nNext: trueweave communities build" in trueweave("communities").stdout
    found = trueweave("communities", "build", "--no-reports").stdout
    assert found.startswith("2 communities: 0 added, 1 changed, 1 unchanged, 1 removed.\nNext: trueweave communities  ")
    changed = trueweave("communities", "changes", "--since", now).stdout
    assert re.search(r"^Changed  1\nid .*\n[0-9a-f]{8} +0 +4 +1\.6  stale +\w+ \w+, ", changed, re.M)
    assert re.search(r"^Removed  1\nid .*\n[0-9a-f]{8} +0 +2  \d{4}-", changed, re.M)
    assert "Added " not in changed
    overview = trueweave("communities").stdout
    assert "\n1 with a stale one.\nNext: trueweave communities build" in overview
    stale = outermost(trueweave)[0]["id"]
    assert "\nThis is stale: the community has changed since" in trueweave("communities", "show", stale).stdout
    assert "1 report written without a model" in trueweave("communities", "build").stdout


@pytest.mark.parametrize("since", ["some day", "99999999999d"])
def test_a_moment_that_is_none_is_told(trueweave: Trueweave, since: str) -> None:
    assert (
        f"error: {since!r} is not a date. Write a date, as"
        in trueweave("communities", "changes", "--since", since, code=1).stderr
    )


@pytest.mark.usefixtures("there")
def test_the_graph_is_exported(trueweave: Trueweave, tmp_path: Path) -> None:
    said = trueweave("export", "graph.graphml").stdout
    assert re.match(r"Wrote graph\.graphml: 38 entities, 49 relations, \d+ communities\.\n", said)
    graph = ElementTree.parse(tmp_path / "graph.graphml").getroot().find(f"{GRAPHML}graph")
    assert graph is not None
    assert (len(graph.findall(f"{GRAPHML}node")), len(graph.findall(f"{GRAPHML}edge"))) == (38, 49)
    counted = answer(trueweave("export", "graph.json", "--json"))
    exported = json.loads((tmp_path / "graph.json").read_text("utf-8"))
    assert {kind: len(exported[kind]) for kind in exported} == {kind: counted[kind] for kind in exported}
    assert {one["id"] for one in outermost(trueweave)} <= {one["id"] for one in exported["communities"]}
    assert (
        "graph.txt has none of the extensions .jsonl, .json, .graphml"
        in trueweave("export", "graph.txt", code=1).stderr
    )
    nowhere = trueweave("export", "nowhere/graph.json", code=1).stderr
    assert nowhere == "error: cannot write nowhere/graph.json: No such file or directory. Name another file.\n"


@pytest.mark.usefixtures("notes")
def test_a_model_writes_reports_and_what_it_could_not_is_told(trueweave: Trueweave, tmp_path: Path) -> None:
    with model_server("--script", f"{__name__}:reply") as url:
        settle_for(tmp_path, "written", url, calls_at_once=1)
        trueweave("init")
        trueweave("add", "notes", "--extractor", "capitals")
        expected = answer(trueweave("communities", "build", "--estimate", "--json"))["estimate"]
        assert (expected["model"], expected["current"], expected["calls"]) == (MODEL, 0, expected["reports"])
        assert float(expected["most_price"]) > 0
        stopped = trueweave("communities", "build", "--budget", "6k tokens", code=1)
        assert f"{expected['calls']} to openai/any" in stopped.stderr
        assert "error: the budget is reached" in stopped.stderr
        assert "To continue: trueweave communities build --budget '6k tokens'" in stopped.stderr
        written = re.search(r"^(\d+) reports? written, (\d+) to go\.$", stopped.stdout, re.M)
        assert written
        assert int(written[1]) + int(written[2]) == expected["reports"]
        done = trueweave("communities", "build", "--budget", "none").stdout
        rest = re.search(r"^(\d+) reports written by openai/any\.$", done, re.M)
        assert rest
        assert int(written[2]) <= int(rest[1]) <= expected["reports"], "what failed is tried once more"
        assert re.search(
            r"^\d of them without the model, whose replies were unusable: sentences picked out", done, re.M
        )
        assert re.search(r"^report +openai/any +\d+ ", done, re.M)
    liked = [one for one in outermost(trueweave) if one["title"] == "A family of letters"]
    shown = trueweave("communities", "show", liked[0]["id"]).stdout
    assert re.search(r"^written +.* by openai/any", shown, re.M)
    assert "\nThey write to each other.\n\nRated 7.0 of 10. They matter.\n" in shown
    assert "\n1. Anna knows all of them\n  She met Bruno and Clara.\n  rests on 1 entity, 1 passage\n" in shown
    assert re.search(r"^2\. They are .*rich\n  names nothing that it rests on$", shown, re.M)
    assert "\x1b" not in shown, "what a model says cannot steer a terminal"
    [disliked] = [one for one in outermost(trueweave) if any("Kent" in name for name in one["names"])]
    shown = trueweave("communities", "show", disliked["id"]).stdout
    assert "\nA model was to write this: the report of openai/any on " in shown
    assert "without a model: sentences picked out of the documents" in shown


@pytest.mark.usefixtures("notes")
def test_on_a_terminal_it_asks_first_shows_a_bar_and_ctrl_c_says_how_to_go_on(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    with model_server("--script", f"{__name__}:reply", "--delay", "2") as url:
        settle_for(tmp_path, "stopped", url, calls_at_once=2)
        trueweave("init")
        trueweave("add", "notes")
        command = ["communities", "build"]
        assert "Continue? [y/N]" in typed(tmp_path, environment, command, {"[y/N]": "n\n"}, 1)
        shown = typed(tmp_path, environment, command, {"[y/N]": "y\n", " spent": "\x03"}, 130)
        assert re.search(r"Writing .* of \d+ .* spent", shown)
        assert re.search(r"\b\d+ reports? written, [1-9]\d* to go\.", shown), "it stops at once"
        assert "What is done is kept." in shown
        assert "To continue: trueweave communities build" in shown

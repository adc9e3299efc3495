"""Methods compose, and a user's own is one more of them: numbers worked out by hand, nothing outside the process."""

import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, distribution, distributions
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import UUID

import pydantic
import pytest
from pydantic import Field, ValidationError
from typer.testing import CliRunner

from trueweave import AsyncTrueweave, Entity, Evidence, Passage, Relation, Settings
from trueweave.cli import app
from trueweave.cli.bench.run import _chosen
from trueweave.core.model_calls import Purpose
from trueweave.core.protocols import LLM, Reranker
from trueweave.errors import BadReply, ConfigError, UnknownMethod
from trueweave.extend import Database, Prompt, Query, QueryContext, Reply, Workspace
from trueweave.graph.paths import shortest
from trueweave.methods import Cutoff, Fuse, Global, Guess, Hybrid, Keyword, Local, Naive, Rerank, Subgraph
from trueweave.models.prompts import BUILT_IN, PromptSet
from trueweave.retrieval.methods import registry
from trueweave.retrieval.methods.combine import reranked
from trueweave.retrieval.methods.keywords import keywords
from trueweave.types import Keywords, Report, Scored

T = TypeVar("T")
QUESTION = Query("question")


def passage(n: int, score: float = 1.0, text: str = "") -> Passage:
    return Passage(UUID(int=n), f"p{n}", "", text or f"text {n}", 0, score)


def entity(n: int) -> Entity:
    return Entity(UUID(int=n), f"e{n}", "", "", (), 1, (), 1)


def relation(source: int, target: int, number: int = 0) -> Relation:
    ends = UUID(int=source), UUID(int=target)
    return Relation(UUID(int=1000 + 100 * source + 10 * target + number), *ends, "", "", "", (), 1, 1, ())


# A method of a user's own. That is all of it, but for the line that names it as an entry point.


@pydantic.dataclasses.dataclass(frozen=True)
class Longest:
    """The longest of all passages that anybody has."""

    top_k: int = Field(default=2, ge=1, le=10, description="How many passages to keep.")
    least: int = Field(default=0, description="Characters that a passage must have.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        texts = ("long text", "longer text", "the longest text", "text")
        found = [passage(n, len(text), text) for n, text in enumerate(texts, 1) if len(text) >= self.least]
        return Evidence(tuple(sorted(found, key=lambda one: -one.score)[: self.top_k]))


@dataclass(frozen=True)
class Fixed:
    """Always finds the same."""

    evidence: Evidence

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        return self.evidence


def fixed(*passages: Passage, **more: Any) -> Fixed:
    return Fixed(Evidence(passages, **more))


@dataclass
class FakeContext:
    """As much of a context as these methods use."""

    llm: LLM | None = None
    reranker: Reranker | None = None
    prompts: PromptSet = BUILT_IN
    noted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=dict)

    async def once(self, what: str, make: Callable[[], Awaitable[T]]) -> T:
        if what not in self.made:
            self.made[what] = await make()
        return cast("T", self.made[what])

    def note(self, what: str, *found: Scored[str]) -> None:
        self.noted[what] = tuple(one.item for one in found)


@dataclass
class ByTable:
    """Reranks by a table of texts."""

    scores: dict[str, float]
    model: str = "testing/table"

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [self.scores[text] for text in texts]


def context(llm: LLM | None = None, reranker: Reranker | None = None) -> QueryContext:
    return cast("QueryContext", FakeContext(llm, reranker))


def scores(evidence: Evidence) -> list[tuple[str, float]]:
    return [(one.uri, round(one.score, 3)) for one in evidence.passages]


# --- a method of one's own ----------------------------------------------------------------------------


def install(folder: Path, distribution: str, entry: str) -> None:
    """Write what pip leaves of a distribution with this entry point of a method."""
    info = folder / f"{distribution}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[trueweave.methods]\n{entry}\n")


@pytest.fixture(autouse=True)
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which distributions are found. Others that are installed here have no methods, but for Trueweave."""

    def found(group: str) -> list[EntryPoint]:
        every = [*distribution("trueweave").entry_points]
        every += [entry for one in distributions(path=[str(tmp_path)]) for entry in one.entry_points]
        return [entry for entry in every if entry.group == group]

    monkeypatch.setattr(registry, "entry_points", found)
    monkeypatch.syspath_prepend(tmp_path)
    registry._methods.cache_clear()
    yield tmp_path
    registry._methods.cache_clear()


@pytest.fixture
def installed(packages: Path) -> None:
    """A distribution that has the method, as pip would have left it."""
    install(packages, "longest", f"longest = {__name__}:Longest")


@pytest.fixture
def trueweave() -> AsyncTrueweave:
    """A workspace whose database nobody opens."""
    return AsyncTrueweave(Workspace(Database("postgresql://nobody@127.0.0.1:1/nothing"), 1), settings=Settings())


@pytest.mark.usefixtures("installed")
def test_an_entry_point_makes_a_method_known_after_trueweave_s_own() -> None:
    assert registry.names()[-1] == "longest"
    assert {"naive", "keyword", "fuse"} < set(registry.names()[:-1])
    assert registry.name_of(Longest()) == "longest"
    described = registry.describe("longest")
    assert described.summary == "The longest of all passages that anybody has."
    top_k, least = described.parameters
    assert (top_k.name, top_k.type, top_k.default) == ("top_k", "int", "2")
    assert top_k.help == "How many passages to keep."
    assert (least.name, least.default) == ("least", "0")


@pytest.mark.usefixtures("installed")
async def test_two_methods_of_one_name_are_an_error_for_who_asks_for_it(
    packages: Path, trueweave: AsyncTrueweave
) -> None:
    install(packages, "other", "longest = other:Longest")
    assert "longest" not in registry.names()
    with pytest.raises(ConfigError, match=r"are both methods called longest.*Uninstall one of them"):
        registry.make("longest")
    assert registry.make("keyword") == Keyword()


BROKEN = {
    "import nowhere": "ModuleNotFoundError: No module named 'nowhere'",
    "Shortest = 1 +": "SyntaxError: invalid syntax",
    "raise TypeError('one\\ntwo')": "TypeError: one",
    "": "AttributeError: module 'theirs' has no attribute 'Shortest'",
}


@pytest.fixture(params=BROKEN, ids=["missing", "syntax", "raises", "empty"])
def broken(request: pytest.FixtureRequest, packages: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said about a method of another package that cannot be imported."""
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    (packages / "theirs.py").write_text(request.param)
    install(packages, "short-ones", "shortest = theirs:Shortest")
    return f"shortest of the package short-ones cannot be loaded: theirs:Shortest raises {BROKEN[request.param]}"


async def test_a_method_that_cannot_be_imported_is_an_error_for_who_asks_for_it(
    broken: str, trueweave: AsyncTrueweave
) -> None:
    for call in (registry.make, registry.describe):
        with pytest.raises(ConfigError) as raised:
            call("shortest")
        assert broken in str(raised.value)
        assert "\n" not in str(raised.value)
        assert str(raised.value).endswith("Reinstall it, or uninstall it.")
        assert raised.value.__cause__ is not None  # the traceback is for its developer
    assert "shortest" not in registry.names()
    assert registry.make("naive") == Naive()
    assert registry.name_of(Naive()) == "naive"
    with pytest.raises(UnknownMethod, match="there is no method 'nothing'"):
        registry.make("nothing")
    with pytest.raises(ConfigError, match="shortest of the package short-ones"):
        await trueweave.retrieve("question", "shortest")


@pytest.mark.usefixtures("installed")
async def test_a_comparison_of_all_methods_lists_it_with_the_reason(broken: str, trueweave: AsyncTrueweave) -> None:
    rows = {row.method: row for row in (await trueweave.compare("question")).rows}
    assert rows.keys() == {*registry.names(), "shortest"}
    assert broken in rows["shortest"].problem
    assert rows["longest"].evidence


def test_a_benchmark_of_all_methods_says_that_it_is_left_out(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(_chosen(None, None, 5)) == registry.names()
    told = " ".join(capsys.readouterr().err.split())
    assert "Not measured: the method shortest of the package short-ones cannot be loaded" in told
    assert list(_chosen("keyword", None, 5)) == ["keyword"]
    assert capsys.readouterr().err == ""
    with pytest.raises(ConfigError) as raised:
        _chosen("keyword,shortest", None, 5)
    assert broken in str(raised.value)


def test_the_command_line_lists_it_with_the_reason(broken: str) -> None:
    listed = CliRunner().invoke(app, ["methods"])
    assert listed.exit_code == 0
    assert "keyword" in listed.output
    assert "shortest of the package short-ones cannot be loaded" in " ".join(listed.output.split())
    described = json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)
    assert [one["name"] for one in described["methods"]] == registry.names()
    [found] = described["broken"]
    assert found["name"] == "shortest"
    assert broken in found["problem"]
    asked = CliRunner().invoke(app, ["methods", "shortest"])
    assert asked.exit_code == 1
    assert "Traceback" not in asked.output


@pytest.mark.usefixtures("installed")
def test_parameters_may_be_given_as_text_and_are_checked() -> None:
    assert registry.make("longest", {"top_k": "3"}) == Longest(top_k=3)
    with pytest.raises(UnknownMethod, match=r"has invalid parameters: top_k: .*less than or equal to 10"):
        registry.make("longest", {"top_k": "11"})
    with pytest.raises(UnknownMethod, match=r"has no parameter depth\. It has least, top_k\."):
        registry.make("longest", {"depth": "1"})


@pytest.mark.usefixtures("installed")
def test_methods_of_methods_take_it_by_name() -> None:
    assert registry.make("fuse", {"parts": "longest, keyword"}) == Fuse(parts=(Longest(), Keyword()))
    with pytest.raises(UnknownMethod, match="there is no method 'shortest'"):
        registry.make("fuse", {"parts": "longest,shortest"})


def test_it_is_gone_when_it_is_not_installed() -> None:
    assert "longest" not in registry.names()
    with pytest.raises(UnknownMethod, match=r"there is no method 'longest'\. There are .*naive"):
        registry.make("longest")
    assert registry.name_of(Longest()) == "longest"  # by its class


@pytest.mark.usefixtures("installed")
def test_the_command_line_lists_it_with_its_parameters() -> None:
    listed = CliRunner().invoke(app, ["methods"])
    assert listed.exit_code == 0
    assert "longest" in listed.output
    described = CliRunner().invoke(app, ["methods", "longest", "--json"])
    [found] = json.loads(described.stdout)["methods"]
    assert [one["name"] for one in found["parameters"]] == ["top_k", "least"]
    assert found["parameters"][0]["help"] == "How many passages to keep."


@pytest.mark.usefixtures("installed")
async def test_it_is_asked_by_name_and_with_parameters(trueweave: AsyncTrueweave) -> None:
    by_name = await trueweave.retrieve("question", "longest")
    assert scores(by_name) == [("p3", 16), ("p2", 11)]
    assert by_name.trace.method == "longest"
    assert scores(await trueweave.retrieve("question", Longest(top_k=4, least=9))) == [
        ("p3", 16),
        ("p2", 11),
        ("p1", 9),
    ]


@pytest.mark.usefixtures("installed")
async def test_it_is_compared_with_the_others_and_what_cannot_be_used_says_why(trueweave: AsyncTrueweave) -> None:
    compared = await trueweave.compare("question", ["longest", Longest(top_k=1), "naive"])
    longest, other, naive = compared.rows
    assert (longest.method, other.method, naive.method) == ("longest", "longest", "naive")
    assert (len(longest.evidence.passages), len(other.evidence.passages)) == (2, 1)
    assert compared.overlap(longest, other) == 0.5
    assert "no embedding model is set" in naive.problem
    assert "longest" in [row.method for row in (await trueweave.compare("question", ["longest"])).rows]


@pytest.mark.usefixtures("installed")
async def test_it_goes_into_others_and_these_into_others(trueweave: AsyncTrueweave) -> None:
    # p3 and p2 in both: 1/2 + 1/2 and 1/3 + 1/3; p1 in the second alone: 1/4.
    fused = Fuse(parts=(Longest(), Longest(top_k=3)), k=1)
    assert scores(await trueweave.retrieve("question", fused)) == [("p3", 1.0), ("p2", 0.667), ("p1", 0.25)]
    gathered = Hybrid(parts=(fused, fixed(passage(9, 0.1)), Longest(top_k=1)))
    assert [uri for uri, _ in scores(await trueweave.retrieve("question", gathered))] == ["p3", "p9", "p2", "p1"]
    cut = Cutoff(part=gathered, min_score=0.5)
    assert scores(await trueweave.retrieve("question", cut)) == [("p3", 1.0), ("p2", 0.667)]
    table = {"the longest text": 0.1, "longer text": 0.9}
    again = await Rerank(part=cut, top_k=1).retrieve(QUESTION, context(reranker=ByTable(table)))
    assert scores(again) == [("p2", 0.9)]


# --- fuse ---------------------------------------------------------------------------------------------

# By ranks with k = 1: 1/2, 1/3, 1/4. Brought to one scale, the first are 1, 0.5, 0 and the second 1, 0.
A = fixed(passage(1, 10), passage(2, 6), passage(3, 2), entities=(entity(1), entity(2)))
B = fixed(passage(3, 0.9), passage(4, 0.1), entities=(entity(3), entity(1)), reports=(Report(UUID(int=7), "", "", 1),))


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (Fuse(parts=(A, B), k=1), [("p3", 0.75), ("p1", 0.5), ("p2", 0.333), ("p4", 0.333)]),
        (Fuse(parts=(A, B), k=1, weights=(1, 0.5)), [("p1", 0.5), ("p3", 0.5), ("p2", 0.333), ("p4", 0.167)]),
        (Fuse(parts=(A, B), k=1, weights=(0, 1)), [("p3", 0.5), ("p4", 0.333), ("p1", 0), ("p2", 0)]),
        (Fuse(parts=(A, B), k=0, top_k=2), [("p3", 1.333), ("p1", 1.0)]),
        (Fuse(parts=(A, B), by="score"), [("p1", 1.0), ("p3", 1.0), ("p2", 0.5), ("p4", 0)]),
        (Fuse(parts=(A, B), by="score", weights=(2, 1)), [("p1", 2.0), ("p2", 1.0), ("p3", 1.0), ("p4", 0)]),
        (Fuse(parts=(fixed(passage(1, -3)), fixed()), by="score"), [("p1", 1.0)]),
        (Fuse(parts=(fixed(),)), []),
    ],
)
async def test_fuse_adds_up(method: Fuse, expected: list[tuple[str, float]]) -> None:
    assert scores(await method.retrieve(QUESTION, context())) == expected


async def test_fuse_brings_along_what_else_was_found_in_turn_and_once() -> None:
    found = await Fuse(parts=(A, B)).retrieve(QUESTION, context())
    assert [one.name for one in found.entities] == ["e1", "e3", "e2"]
    assert len(found.reports) == 1


def test_fuse_takes_a_weight_for_each_part_and_at_least_one_part() -> None:
    with pytest.raises(ValidationError, match="there are 1 weights for 2 parts"):
        Fuse(weights=(1.0,))
    with pytest.raises(ValidationError):
        Fuse(parts=())
    with pytest.raises(ValidationError):
        Fuse(parts=("naive",))  # type: ignore[arg-type]


# --- rerank and cutoff --------------------------------------------------------------------------------


async def test_rerank_orders_passages_by_the_model_s_scores() -> None:
    table = ByTable({"text 1": -2.0, "text 2": 3.5, "text 3": 0.0})
    fake = FakeContext(reranker=table)
    found = await Rerank(part=A, top_k=2).retrieve(QUESTION, cast("QueryContext", fake))
    assert scores(found) == [("p2", 3.5), ("p3", 0.0)]
    assert found.entities == A.evidence.entities
    assert fake.noted == {"reranked": ("p2", "p3", "p1")}


async def test_rerank_without_a_model_says_how_to_set_one() -> None:
    with pytest.raises(ConfigError, match="no reranker is set"):
        await Rerank(part=A).retrieve(QUESTION, context())


@pytest.mark.parametrize(
    ("method", "deeper", "kept"),
    [
        (Naive(top_k=5), Naive(top_k=30), 5),
        (Local(graph_top_k=4), Local(graph_top_k=24), 4),
        (Subgraph(), Subgraph(top_k_chunks=30), 5),
        (Guess(top_k=1), Guess(top_k=6), 1),
        (Fuse(top_k=7), Fuse(top_k=42), 7),
        (Hybrid(), Hybrid(parts=(Local(graph_top_k=30), Global(graph_top_k=30))), 10),
        (Hybrid(parts=(A, Naive(top_k=2))), Hybrid(parts=(A, Naive(top_k=12))), 7),
        (Cutoff(part=A), Cutoff(part=A), 5),
        (A, A, 5),
        (Naive(top_k=1000), Naive(top_k=1000), 1000),  # as many as it may
        (Longest(top_k=4), Longest(top_k=4), 4),  # 24 are more than it takes
    ],
)
def test_what_is_to_be_reranked_finds_more_and_as_many_are_kept(method: Any, deeper: Any, kept: int) -> None:
    assert reranked(method) == Rerank(part=deeper, top_k=kept)


FOUR = fixed(passage(1, 1.0), passage(2, 0.8), passage(3, 0.5), passage(4, 0.2), entities=(entity(1),))


@pytest.mark.parametrize(
    ("method", "kept"),
    [
        (Cutoff(part=FOUR), 4),
        (Cutoff(part=FOUR, min_score=0.5), 3),
        (Cutoff(part=FOUR, min_score=2), 0),
        (Cutoff(part=FOUR, min_share=0.8), 2),
        (Cutoff(part=FOUR, min_share=0), 4),
        (Cutoff(part=FOUR, min_score=0.6, min_share=0.1), 2),
        (Cutoff(part=FOUR, min_share=0.1, top_k=1), 1),
        (Cutoff(part=fixed(), min_share=0.5), 0),
        (Cutoff(part=fixed(passage(1, -2), passage(2, -3)), min_share=0.5), 1),
    ],
)
async def test_cutoff_keeps_what_is_near_enough_to_the_best(method: Cutoff, kept: int) -> None:
    found = await method.retrieve(QUESTION, context())
    assert [one.uri for one in found.passages] == ["p1", "p2", "p3", "p4"][:kept]


# --- paths --------------------------------------------------------------------------------------------

#   1 - 2 - 3 - 4     6 - 7
#    \_____5_____/
CHAIN = [relation(1, 2), relation(3, 2), relation(3, 4), relation(1, 5), relation(5, 4), relation(6, 7)]


def ways(ends: Sequence[int], longest: int, most: int = 20) -> list[list[int]]:
    found = shortest(CHAIN, [UUID(int=end) for end in ends], longest, most)
    assert all(len(way.relations) == len(way.entities) - 1 for way in found)
    return [[one.int for one in way.entities] for way in found]


def test_the_shortest_way_goes_over_relations_in_either_direction() -> None:
    assert ways([1, 3], 2) == [[1, 2, 3]]
    assert ways([4, 1], 3) == [[4, 5, 1]]


def test_ways_are_no_longer_than_allowed_and_the_shortest_come_first() -> None:
    assert ways([1, 3, 4], 1) == [[3, 4]]
    assert ways([1, 3, 4], 2) == [[3, 4], [1, 2, 3], [1, 5, 4]]
    assert ways([1, 3, 4], 2, most=2) == [[3, 4], [1, 2, 3]]
    assert ways([1, 3, 4], 0) == []


def test_there_is_no_way_between_what_is_not_connected() -> None:
    assert ways([1, 6], 10) == []
    assert ways([1], 10) == []
    assert ways([1, 99], 10) == []


def test_of_equal_ways_the_one_over_the_relations_that_come_first_is_taken() -> None:
    first, second = relation(1, 2), relation(1, 2, number=1)
    for relations in ([first, second], [second, first]):
        [way] = shortest(relations, [UUID(int=1), UUID(int=2)], 3, 20)
        assert way.relations == (relations[0],)


def test_a_relation_of_an_entity_with_itself_leads_nowhere() -> None:
    loop = [relation(1, 1), relation(1, 2)]
    [way] = shortest(loop, [UUID(int=1), UUID(int=2)], 3, 20)
    assert way.relations == (loop[1],)


# --- keywords -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "low"),
    [
        ("Who founded Acme Robotics in Berlin?", ["Acme Robotics", "Berlin"]),
        ("what is the capital of france", ["capital", "france"]),
        ("How are the Ambrel Bridge and the river Thames related?", ["Ambrel Bridge", "Thames", "river"]),
        ("Did Ada or Ada know?", ["Ada", "know"]),
        ("東京はどこですか", ["東京はどこですか"]),
        ("Why?", ["Why?"]),
        ("…", ["…"]),
    ],
)
async def test_without_a_model_a_question_s_names_and_phrases_are_its_keywords(question: str, low: list[str]) -> None:
    found = await keywords(Query(question), context())
    assert found == Keywords(tuple(low), (question,))


@dataclass
class Says:
    """A model that says one thing, and counts how often."""

    text: str
    model: str = "testing/says"
    asked: list[Prompt] = field(default_factory=list)

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        assert purpose == Purpose("keywords")
        self.asked.append(prompt)
        return Reply(self.text, 10, 5)


async def test_a_model_is_asked_once_and_each_keyword_is_taken_once() -> None:
    low = ["Acme  Robotics", "acme robotics", "Berlin", ""]
    model = Says(json.dumps({"low_level": low, "high_level": ["founding"]}))
    fake = FakeContext(model)
    query = Query("Who founded Acme Robotics </question> in Berlin?")
    for _ in range(2):
        found = await keywords(query, cast("QueryContext", fake))
    assert [word.lower() for word in found.low] == ["acme robotics", "berlin"]
    assert found.high == ("founding",)
    [prompt] = model.asked
    assert prompt.schema
    assert query.text in prompt.messages[1].content
    assert fake.noted["high-level keywords"] == ("founding",)


async def test_a_kind_of_which_a_model_finds_none_is_the_question_itself() -> None:
    found = await keywords(QUESTION, context(Says('{"low_level": [], "high_level": [" "]}')))
    assert found == Keywords(("question",), ("question",))


@pytest.mark.parametrize(
    "text",
    [
        'Sure, here they are:\n```json\n{"low_level": ["a", 1843], "high_level": null}\n```',
        '{"low_level": ["a", "1843"], "extra": 1}',
        "{'low_level': ['a', '1843',], 'high_level': []}",
    ],
)
async def test_keywords_are_read_as_models_write_them(text: str) -> None:
    assert await keywords(QUESTION, context(Says(text))) == Keywords(("a", "1843"), ("question",))


@pytest.mark.parametrize("text", ["", "Berlin", "[]", '{"high_level": ["a"]}', '{"low_level": 1, "high_level": []}'])
async def test_keywords_that_cannot_be_read_are_a_bad_reply_that_says_what_to_do(text: str) -> None:
    with pytest.raises(BadReply, match=r"testing/says returned no readable keywords .*Try another model"):
        await keywords(QUESTION, context(Says(text)))

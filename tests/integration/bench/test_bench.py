"""Benchmarks through a real database: sets come in, methods are measured, a run that was stopped goes on."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from trueweave import AsyncTrueweave, Chunk, Document, Evidence, Trueweave
from trueweave.bench import datasets, loading, report, saving, vectors
from trueweave.bench.experiment import Experiment, deep_enough
from trueweave.bench.judging import AnswerJudge
from trueweave.bench.measures import usual
from trueweave.bench.outcomes import Judged, read_outcomes
from trueweave.bench.results import results
from trueweave.bench.types import Dataset, DatasetPassage, Question
from trueweave.bench.verdict import verdict
from trueweave.core.bench import BenchPassage
from trueweave.core.model_calls import Purpose, TextRole
from trueweave.errors import BadReply, ConfigError, DatabaseUnavailable
from trueweave.extend import Database, Method, Prompt, Query, QueryContext, Reply, Vectors
from trueweave.methods import Guess, Keyword, Naive
from trueweave.models.prompts import PromptSet, Template
from trueweave.testing import HashEmbedder

PASSAGES = (
    DatasetPassage("p1", "Acme was founded by Ada Lund in Oslo.", "Acme"),
    DatasetPassage("p2", "Ada Lund was born in Bergen.", "Ada Lund"),
    DatasetPassage("p3", "Bergen lies on the western coast.", "Bergen"),
    DatasetPassage("p4", "Bob Hill sells hats in Rome.", "Bob Hill"),
)
QUESTIONS = (
    Question("q1", "Where was Ada Lund born?", {"p2": 1}, ("Bergen",), "1 hops"),
    Question("q2", "Where was the founder of Acme born?", {"p1": 1, "p2": 1}, ("Bergen",), "2 hops"),
    Question("q3", "Who sells hats in Rome?", {"p4": 1}, ("Bob Hill",), "1 hops"),
)
SMALL = Dataset("small", QUESTIONS, PASSAGES)


def unseen(_: int) -> None:
    """Progress that nobody looks at."""


@dataclass
class Stopping:
    """A method like another, which is interrupted once, at some question."""

    part: Method
    at: int
    asked: list[str] = field(default_factory=list)

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        if len(self.asked) == self.at:
            self.at = -1
            raise KeyboardInterrupt
        self.asked.append(query.text)
        return await self.part.retrieve(query, context)

    def __repr__(self) -> str:
        return "Stopping()"


@dataclass(frozen=True)
class Counting(HashEmbedder):
    """Tells how many texts it was given."""

    given: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        self.given.extend(texts)
        return await super().embed(texts, role)


@dataclass(frozen=True)
class Same:
    """A model that always answers the same."""

    model: str = "testing/same"

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        return Reply("Ada Lund was born in Bergen [1]. It rained.", 10, 5)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        yield await self.complete(prompt, purpose)


@pytest.fixture
async def small(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    """A workspace with the passages of the small set."""
    assert await loading.load(trueweave, SMALL, as_said=False, progress=unseen) == []
    return trueweave


async def test_a_set_is_measured_and_a_stopped_run_goes_on(small: AsyncTrueweave, tmp_path: Path) -> None:
    stopping = Stopping(Keyword(top_k=4), at=2)
    experiment = Experiment(small, SMALL, {"naive": Naive(top_k=4), "keyword": stopping}, usual([1, 2]))
    file = tmp_path / "out" / "outcomes.jsonl"
    with pytest.raises(KeyboardInterrupt):
        await experiment.run(file)
    steps: list[int] = []
    ran = await experiment.run(file, steps.append)
    assert stopping.asked == [question.text for question in QUESTIONS], "no question is asked twice"
    assert sum(steps) == len(ran.outcomes) == 6
    found = results(experiment, ran, passages=4, under={})
    by_name = {one.name: one for one in found.methods}
    # Words alone find Acme and Ada Lund, hats and Rome.
    assert by_name["keyword"].scores["recall@2"].mean == 1.0
    assert by_name["keyword"].by_kind["2 hops"]["recall@1"] == 0.5
    assert all(one.p50 > 0 and one.statements > 0 for one in found.methods)
    page, _ = report.write(found, tmp_path / "out")
    assert verdict(found) in page.read_text("utf-8")


async def test_outcomes_of_other_documents_or_parameters_are_not_taken_over(
    small: AsyncTrueweave, tmp_path: Path
) -> None:
    file = tmp_path / "outcomes.jsonl"
    stopping = Stopping(Keyword(), at=1)
    with pytest.raises(KeyboardInterrupt):
        await Experiment(small, SMALL, {"keyword": stopping}, usual([2])).run(file)
    await small.add_documents([Document("p5", (Chunk("Something new."),))])
    await Experiment(small, SMALL, {"keyword": stopping}, usual([2])).run(file)
    assert stopping.asked.count(QUESTIONS[0].text) == 2


async def test_a_method_that_cannot_be_used_is_left_out_or_told(small: AsyncTrueweave, tmp_path: Path) -> None:
    methods: dict[str, Method] = {"guess": Guess(), "keyword": Keyword()}
    wanted = Experiment(small, SMALL, methods, usual([2]), insist=False)
    ran = await wanted.run(tmp_path / "outcomes.jsonl")
    assert "needs a language model" in ran.left_out["guess"]
    assert {one.method for one in ran.outcomes} == {"keyword"}
    with pytest.raises(ConfigError, match="needs a language model"):
        await replace(wanted, insist=True).run(tmp_path / "other.jsonl")
    with pytest.raises(ConfigError, match="no method can be used here"):
        await replace(wanted, methods={"guess": Guess()}).run(tmp_path / "none.jsonl")


async def test_answers_are_measured_too(database: Database, tmp_path: Path) -> None:
    trueweave = await AsyncTrueweave.enter(database, "test", llm=Same())
    await loading.load(trueweave, SMALL, as_said=True, progress=unseen)
    first = replace(SMALL, questions=(replace(QUESTIONS[0], answers=("Ada Lund was born in Bergen. It rained",)),))
    experiment = Experiment(trueweave, first, {"keyword": Keyword()}, usual([2]), answers=True)
    [one] = results(experiment, await experiment.run(tmp_path / "outcomes.jsonl"), passages=4, under={}).methods
    assert {name: one.scores[name].mean for name in ("exact match", "F1", "confirmed")} == {
        "exact match": 1.0,
        "F1": 1.0,
        "confirmed": 0.5,  # no passage says that it rained
    }
    assert (one.usage.calls, one.usage.tokens_in) == (1, 10)


@dataclass(frozen=True)
class Judging(Same):
    """A model that answers as `Same` does, and judges by a script; it keeps what it was asked."""

    verdicts: list[str] = field(default_factory=list)
    asked: list[Prompt] = field(default_factory=list)
    forgotten: list[Prompt] = field(default_factory=list)

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        if purpose.stage != "judge":
            return await super().complete(prompt, purpose)
        self.asked.append(prompt)
        return Reply(self.verdicts.pop(0), 10, 5)

    async def forget(self, prompt: Prompt) -> None:
        self.forgotten.append(prompt)


async def test_answers_are_judged_by_a_model_with_the_prompt_that_the_report_shows(
    database: Database, tmp_path: Path
) -> None:
    verdict = {"correct": "yes", "complete": "partly", "supported": "no", "reason": "it did not rain"}
    model = Judging(verdicts=["no JSON", json.dumps(verdict)])
    trueweave = await AsyncTrueweave.enter(database, "test", llm=model)
    await loading.load(trueweave, SMALL, as_said=True, progress=unseen)
    own = PromptSet({"judge": Template("judge", "Judge it <kindly>.")})
    methods: dict[str, Method] = {"keyword": Keyword()}
    first = replace(SMALL, questions=QUESTIONS[:1])
    experiment = Experiment(trueweave, first, methods, usual([2]), answers=True, judge=AnswerJudge(model, own))
    with pytest.raises(
        BadReply, match=r"was to judge the answer to 'Where was Ada Lund born\?', and its reply cannot be"
    ):
        await experiment.run(tmp_path / "outcomes.jsonl")
    assert model.forgotten == model.asked, "the model is asked again next time"
    found = results(experiment, await experiment.run(tmp_path / "outcomes.jsonl"), passages=4, under={})
    [one] = found.methods
    scores = {name: one.scores[name].mean for name in ("correct", "complete", "supported")}
    assert scores == {"correct": 1.0, "complete": 0.5, "supported": 0.0}
    assert one.usage.calls == 1, "what a verdict costs is not of the method"
    instructions, shown = (message.content for message in model.asked[-1].messages)
    assert instructions == "Judge it <kindly>."
    for part in ("Where was Ada Lund born?", "Bergen", "Ada Lund was born in Bergen.", "It rained."):
        assert part in shown
    assert "Judge it &lt;kindly&gt;." in report.page(found)
    # Kept with the outcomes, and not taken over by a run with another prompt.
    again = read_outcomes(tmp_path / "outcomes.jsonl")
    assert again[0].answered
    assert again[0].answered.judged == Judged(1.0, 0.5, 0.0, "it did not rain")
    assert (
        replace(experiment.judge or AnswerJudge(model), prompts=PromptSet()).fingerprint
        != AnswerJudge(model, own).fingerprint
    )


async def test_a_workspace_with_other_documents_is_refused(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([Document("mine", (Chunk("Something else."),))])
    with pytest.raises(
        ConfigError, match=r"1 documents that do not belong to small.*Name another workspace with --workspace"
    ):
        await loading.load(trueweave, SMALL, as_said=False, progress=unseen)


async def test_what_a_set_says_of_its_passages_becomes_its_graph(trueweave: AsyncTrueweave, tmp_path: Path) -> None:
    said = tmp_path / "openie.jsonl"
    said.write_text(
        json.dumps({"passage_id": "p1", "entities": ["Oslo"], "triples": [["Ada Lund", "founded", "Acme"]]})
    )
    await loading.load(trueweave, replace(SMALL, said=said), as_said=True, progress=unseen)
    assert {entity.name for entity in await trueweave.graph.entities()} == {"Oslo", "Ada Lund", "Acme"}
    [found] = (await trueweave.retrieve("Who founded Acme?", Keyword(top_k=1))).passages
    assert (found.uri, found.title, found.text) == ("p1", "Acme", "Acme\nAcme was founded by Ada Lund in Oslo.")


async def test_ones_own_questions_name_documents_by_uri_or_title(small: AsyncTrueweave) -> None:
    own = Dataset("mine", (Question("a", "?", {"p1": 1}), Question("b", "?", {"Bob Hill": 1})))
    found = await loading.over_documents(small, own)
    assert [list(question.supporting) for question in found.questions] == [["p1"], ["p4"]]
    wrong = replace(own, questions=(*own.questions, Question("c", "?", {"gone.md": 1})))
    with pytest.raises(ConfigError, match=r"question c is supported by 'gone\.md', and no document"):
        await loading.over_documents(small, wrong)
    found = await loading.over_documents(small, replace(wrong, partial=True))
    assert len(found.questions) == 2
    assert found.notes == ("1 of the questions are left out: their documents are not in the workspace",)


async def test_vectors_are_kept_for_the_next_run(database: Database, tmp_path: Path) -> None:
    embedder, file = Counting(), tmp_path / "vectors.sqlite"
    for name in ("first", "second"):
        async with vectors.kept(embedder, file) as kept:
            trueweave = await AsyncTrueweave.enter(database, name, kept)
            await loading.load(trueweave, SMALL, as_said=False, progress=unseen)
            direct = await HashEmbedder().embed(["Acme", "Acme", "Rome"], "document")
            assert np.array_equal(await kept.embed(["Acme", "Acme", "Rome"], "document"), direct)
    assert len(embedder.given) == len(set(embedder.given))
    file.write_text("something else, and long enough to be seen as no database")
    with pytest.raises(ConfigError, match="is not a file of vectors"):
        async with vectors.kept(embedder, file):
            pass


async def test_real_questions_are_measured(trueweave: AsyncTrueweave, bench: Path, tmp_path: Path) -> None:
    dataset = datasets.limited(datasets.find("hotpotqa_train100", bench), 20)
    await loading.load(trueweave, dataset, as_said=True, progress=unseen)
    methods = {name: deep_enough(method, 10) for name, method in (("naive", Naive()), ("keyword", Keyword()))}
    experiment = Experiment(trueweave, dataset, methods, usual([2, 5, 10]))
    ran = await experiment.run(tmp_path / "outcomes.jsonl")
    found = results(experiment, ran, passages=994, under={})
    # Hashed words are a poor embedding, and BM25 is a good one for questions that name what they are about.
    assert found.best("recall@5").name == "keyword"
    assert found.best("recall@5").scores["recall@5"].mean > 0.6
    assert verdict(found).startswith("On hotpotqa_train100, keyword finds")


def test_the_command_measures_ones_own_questions(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trueweave.cli import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEWEAVE_DATABASE_URL", url)
    (tmp_path / "acme.md").write_text("Acme was founded by Ada Lund in Oslo.")
    (tmp_path / "hats.md").write_text("Bob Hill sells hats in Rome.")
    (tmp_path / "mine.jsonl").write_text(json.dumps({"question": "Who founded Acme?", "supporting": ["acme.md"]}))
    run = CliRunner()
    assert run.invoke(app, ["init"]).exit_code == 0
    assert run.invoke(app, ["add", "acme.md", "hats.md"]).exit_code == 0
    done = run.invoke(app, ["bench", "mine.jsonl", "--k", "1", "--set", "keyword.top_k=1"])
    assert done.exit_code == 0, done.output
    assert "On your questions, auto finds 100 % of the supporting documents in first place" in done.output
    assert "naive is left out" in done.output
    told = json.loads(run.invoke(app, ["bench", "mine.jsonl", "--methods", "keyword", "--json"]).stdout)
    assert told["methods"][0]["scores"]["recall@5"]["mean"] == 1.0
    assert Path(told["report"]).is_file()
    assert "there are no questions in this workspace" in " ".join(run.invoke(app, ["bench", "mine"]).output.split())
    with Trueweave() as opened:
        [passage] = opened.document("hats.md").passages
        opened.bench.add_question("Who sells hats?", [BenchPassage("hats.md", passage.id)])
    mine = run.invoke(app, ["bench", "mine", "--methods", "keyword", "--k", "1"])
    assert "On your questions, keyword finds 100 % of the supporting passages in first place" in mine.output
    assert "The run is stored in the workspace" in " ".join(mine.output.split())
    saved = json.loads(run.invoke(app, ["bench", "saved", "--json"]).stdout)["runs"]
    assert [one["name"] for one in saved] == ["mine", "mine", "mine"]
    assert saved[1]["id"] == told["run"]
    assert told["run"] in run.invoke(app, ["bench", "saved"]).output

    async def fails(*_: object) -> None:
        raise DatabaseUnavailable("the database is unavailable. Try again later.")

    with monkeypatch.context() as patch:
        patch.setattr(saving, "save", fails)
        failed = run.invoke(app, ["bench", "mine", "--methods", "keyword", "--out", "kept"])
    assert "the database is unavailable" in failed.output
    assert (tmp_path / "kept" / "report.html").is_file(), "what was measured is not lost"
    for wrong, problem in (
        (["--k", "0"], "is not a list of depths"),
        (["--set", "fuse.k"], "is not a parameter"),
        (["--methods", "keyword", "--set", "fuse.k=3"], "which is not measured"),
        (["--answers"], "--answers needs a language model"),
        (["--methods", "nosuch"], "there is no method"),
    ):
        refused = run.invoke(app, ["bench", "mine.jsonl", *wrong])
        assert refused.exit_code == 1
        assert problem in " ".join(refused.output.split())


@pytest.mark.parametrize(
    ("name", "questions", "size"),
    [("hotpotqa", 526, 10706), ("twowiki", 992, 6119), ("musique", 863, 12604), ("popqa", 1000, 1475)],
)
def test_public_sets_have_what_their_readme_says(bench: Path, name: str, questions: int, size: int) -> None:
    found = datasets.find(name, bench)
    ids = {passage.id for passage in found.passages or ()}
    assert (len(found.questions), len(ids)) == (questions, size)
    assert all(id_ in ids for question in found.questions for id_ in question.supporting)

"""`trueweave bench run`: measure methods on questions with known passages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from trueweave.cli.model_files import fetch_model
from trueweave.cli.options import Budget, DatabaseUrl, Json, Workspace, Yes
from trueweave.cli.pricing import confirmed, is_paid, of_documents, read_budget
from trueweave.cli.render.console import say, spinner
from trueweave.cli.render.lines import count, next_step, warning
from trueweave.cli.render.money import document_estimate
from trueweave.cli.render.tables import table
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings
from trueweave.cli.stopping import budgeted
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.bench.results import IndexResult, Results
    from trueweave.bench.types import Dataset
    from trueweave.cli.render.money import Allowance
    from trueweave.core.bench import BenchRun
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave
    from trueweave.retrieval.context import Method

DatasetOption = Annotated[
    str,
    typer.Argument(
        metavar="DATASET_OR_FILE",
        help="A set in the folder bench_data, a folder, or a file of questions. `mine` is the questions stored in the "
        "workspace.",
    ),
]
Methods = Annotated[str | None, typer.Option(metavar="A,B", help="The methods. Default: all that can be used.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="METHOD.PARAMETER=VALUE", help="A parameter of a method. May be given several times."
    ),
]
Questions = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Use only the first N questions.")]
Split = Annotated[str, typer.Option(metavar="NAME", help="The split, if the set has several: dev, test.")]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SETTING=A,B",
        help="Measure with each of these values of a setting, in a temporary index of the same documents; `method=A,B` "
        "names the methods. May be given several times: all combinations are measured.",
    ),
]
Answers = Annotated[
    bool, typer.Option("--answers", help="Also have the model answer each question, and measure the answers.")
]
Judge = Annotated[
    bool, typer.Option("--judge", help="With --answers: also have the model for judging grade each answer.")
]
Depths = Annotated[str, typer.Option("--k", metavar="2,5,10", help="The depths at which to measure.")]
Out = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="The folder of the report. Default: trueweave-bench/NAME.")
]


def run(
    dataset: DatasetOption,
    methods: Methods = None,
    set_: Set = None,
    vary: Vary = None,
    limit: Questions = None,
    answers: Answers = False,
    judge: Judge = False,
    k: Depths = "2,5,10",
    split: Split = "",
    out: Out = None,
    budget: Budget = None,
    yes: Yes = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Measure methods on questions with known supporting passages.

    Write your own questions as JSON lines, about documents in the workspace:

    \b
    {"question": "Who founded Acme?", "supporting": ["notes/acme.md"], "answers": ["Ada"]}

    Public sets are read in their published format: MuSiQue, HotpotQA, 2WikiMultihopQA, PopQA, and folders in BEIR's
    format. Their passages are added to a separate workspace, bench-NAME.

    Questions that were added in the web UI are stored in the workspace: `trueweave bench mine` measures on them.

    With --vary, indexes with other settings are built from the same documents and measured side by side: the report
    says which settings and method find most, whether the graph helps, and what each index takes. The workspace stays as
    it is.

    The report is one HTML page and one JSON file. The run is also stored in the workspace, where the web UI shows it
    question by question. Run the same command again to resume an interrupted run.
    """
    with replying(json) as reply:
        from trueweave.bench import datasets, report
        from trueweave.bench.own import MINE, own_questions
        from trueweave.bench.results import answer
        from trueweave.bench.variants import METHOD, combinations, read_variations
        from trueweave.bench.verdict import verdict
        from trueweave.ingest.loading.own_files import BENCH

        settings = load_settings(database_url, workspace)
        is_own = dataset == MINE
        every = in_workspace(own_questions, settings) if is_own else datasets.find(dataset, settings.bench_data, split)
        fetch_model(settings)
        found = datasets.limited(every, limit)
        if found.passages is not None and not workspace:
            settings = settings.model_copy(update={"workspace": _workspace(found.name)})
        if judge and not answers:
            raise ConfigError("--judge is about answers. Give --answers, too.")
        depths, varied = _depths(k), read_variations(vary or ())
        if METHOD in varied:
            if methods:
                raise ConfigError("--methods and --vary method=… both name the methods. Give one of them.")
            methods = ",".join(varied[METHOD])
        chosen = _chosen(methods, set_, max(depths))
        folder = out or Path(BENCH, _plain(found.name))
        changes = combinations(varied)
        allowance = read_budget(budget, settings, _priced(settings, answers, judge, bool(changes)))
        asked = _Run(settings, found, chosen, depths, folder, answers, judge, bool(methods), changes, allowance)
        if changes and asked.is_said:
            raise ConfigError(
                f"--vary processes documents again, and {found.name} comes with its entities. Set extractor to have "
                'them extracted, as in extractor = "capitals", or omit --vary.'
            )
        if not _agreed(asked, yes):
            raise typer.Exit(1)
        results, saved = in_workspace(asked, settings, make=found.passages is not None)
        page, told = report.files_in(folder)
        files = {"report": str(page), "results": str(told)}
        reply(
            {"verdict": verdict(results), **files, "run": str(saved.id), **answer(results)},
            *_score_table(results, verdict(results)),
            next_step(str(page), "open it in a browser; it shows where the methods differ", heading="Report"),
            f"The run is stored in the workspace {settings.workspace}; the Bench view of `trueweave ui` shows it.",
        )


@dataclass(frozen=True)
class _Run:
    """One call of `trueweave bench`."""

    settings: Settings
    dataset: Dataset
    methods: dict[str, Method]
    depths: list[int]
    folder: Path
    answers: bool
    judges: bool
    insist: bool
    changes: Sequence[Mapping[str, str]] = ()
    allowance: Allowance | None = None

    @property
    def is_said(self) -> bool:
        """Whether entities are taken from the set: if it has them and no extractor was chosen."""
        return self.dataset.said is not None and self.settings.extractor == "auto"

    @property
    def under(self) -> dict[str, str]:
        """What else, besides documents and methods, the results depend on, by name."""
        from trueweave.engine import model_settings

        extractor = "given with the set" if self.is_said else model_settings.recipe(self.settings).extractor
        return {
            "embedding model": self.settings.embedding_model or "none",
            "language model": ", ".join(self.settings.chat_models) or "none",
            "reranker": self.settings.reranker or "none",
            **({"judge": self.settings.model_for("judge") or "none"} if self.judges else {}),
            **({} if self.dataset.passages is None else {"entities": extractor}),
        }

    async def __call__(self, trueweave: AsyncTrueweave) -> tuple[Results, BenchRun]:
        async with budgeted(trueweave, self.allowance):
            return await self._measure(trueweave)

    async def _measure(self, trueweave: AsyncTrueweave) -> tuple[Results, BenchRun]:
        from trueweave.bench import loading, report
        from trueweave.bench.experiment import Experiment
        from trueweave.bench.judging import AnswerJudge
        from trueweave.bench.measures import usual
        from trueweave.bench.results import results
        from trueweave.bench.saving import save
        from trueweave.bench.variants import Variants, graph_gain
        from trueweave.cli.render.progress_bar import progress, stages

        dataset, notes = self.dataset, list[str]()
        if dataset.passages is None:
            dataset = await loading.over_documents(trueweave, dataset)
        else:
            notes = await self._load(trueweave)
        under = " ".join(self.under.values())
        judge = None
        if self.judges:
            llm, prompts = await trueweave.model_and_prompts("judge")
            assert llm, "the settings name a model, which --answers needs"
            judge = AnswerJudge(llm, prompts)
        measures, how_asked = usual(self.depths), {"answers": self.answers, "insist": self.insist}
        experiment = Experiment(trueweave, dataset, self.methods, measures, under=under, judge=judge, **how_asked)
        indexes: tuple[IndexResult, ...] = ()
        if self.changes:
            with stages() as shown:
                experiment, ran, indexes = await Variants(experiment, self.changes, self.folder).run(shown)
        else:
            with progress("Asking", len(dataset.questions) * len(self.methods)) as done:
                ran = await experiment.run(self.folder / "outcomes.jsonl", done)
        there = (await trueweave.status()).documents
        how: dict[str, Any] = {"under": self.under, "notes": notes, "currency": self.settings.currency}
        found = results(experiment, ran, passages=there, **how)
        if indexes:
            found = replace(found, indexes=indexes, graph=graph_gain(experiment, ran, indexes, found.leading))
        report.write(found, self.folder)  # before the run is stored, which may fail
        return found, await save(experiment, ran, found)

    async def _load(self, trueweave: AsyncTrueweave) -> list[str]:
        """Add the passages. Vectors of a local model are cached beside the report, because embedding takes most of the
        time."""
        from trueweave.bench import loading, vectors
        from trueweave.cli.render.progress_bar import progress
        from trueweave.engine import model_settings
        from trueweave.engine.trueweave import AsyncTrueweave

        passages = sum(1 for _ in self.dataset.passages or ())
        with progress("Adding", passages) as done:
            name = self.settings.embedding_model
            if not (name and name.startswith(("onnx/", "local/"))):
                notes = await loading.load(trueweave, self.dataset, as_said=self.is_said, progress=done)
                await self._make_vectors(trueweave)
                return notes
            embedder = await model_settings.open_embedder(self.settings, name)
            _make(self.folder)
            async with vectors.kept(embedder, self.folder / "vectors.sqlite") as kept:
                beside = await AsyncTrueweave.enter(
                    trueweave.database, self.settings.workspace, kept, settings=self.settings, make=False
                )
                async with aclosing(beside):
                    notes = await loading.load(beside, self.dataset, as_said=self.is_said, progress=done)
                    await self._make_vectors(beside)
                    return notes

    async def _make_vectors(self, trueweave: AsyncTrueweave) -> None:
        """Make vectors of entities and relations, if a method needs them."""
        from trueweave.retrieval.methods.needs import needs_of

        is_needed = any("graph_vectors" in needs_of(method) for method in self.methods.values())
        if is_needed and (await trueweave.status()).graph_vectors != "kept":
            await trueweave.vectors.make()


def _agreed(run: _Run, yes: bool) -> bool:
    """Show the model calls that cost money; returns whether to continue."""
    from trueweave.bench import loading
    from trueweave.engine import model_settings

    model = run.settings.model_for("answer")
    if run.answers and not model:
        raise ConfigError(
            '--answers needs a language model. Set one in trueweave.toml, as in model = "ollama/llama3.1:8b", or '
            "omit --answers to measure retrieval only."
        )
    asks = 0
    if run.answers and model and model_settings.price(run.settings, model) != model_settings.FREE:
        asks = len(run.dataset.questions) * len(run.methods) * max(len(run.changes), 1)
        say(f"{count(asks, 'answer')} will be requested from {model}, except cached ones.")
    judge = run.settings.model_for("judge") if run.judges else None
    if judge and model_settings.price(run.settings, judge) != model_settings.FREE:
        verdicts = len(run.dataset.questions) * len(run.methods) * max(len(run.changes), 1)
        say(f"{count(verdicts, 'verdict')} will be requested from {judge}, except cached ones.")
        asks += verdicts
    if run.dataset.passages is not None and not run.is_said and is_paid(run.settings, of_documents(run.settings)):
        with spinner("Counting …"):
            wanted = list(loading.sources(run.dataset))
            found = in_workspace(lambda trueweave: trueweave.estimate(*wanted), run.settings, make=True)
        if found.documents:
            asks += 1
            say(*document_estimate(found, run.settings.currency))
    if run.changes and is_paid(run.settings, of_documents(run.settings)):
        asks += 1
        _say_estimates(run)
    return not asks or confirmed(yes)


def _say_estimates(run: _Run) -> None:
    """Show what each of the indexes would cost."""
    from trueweave.bench.variants import in_full, label

    for changes in run.changes:
        with spinner("Counting …"):
            found = in_workspace(methodcaller("estimate_varied", in_full(changes)), run.settings)
        say(f"Index with {label('', changes)}:", *document_estimate(found, run.settings.currency))


def _priced(settings: Settings, answers: bool, judges: bool, builds: bool) -> list[str]:
    """The models whose prices a budget needs."""
    asked = settings.model_for("answer") if answers else None, settings.model_for("judge") if judges else None
    return [*filter(None, asked), *(of_documents(settings) if builds else [])]


def _chosen(names: str | None, given: Sequence[str] | None, deepest: int) -> dict[str, Method]:
    """The methods by name, with their given parameters."""
    from trueweave.bench.experiment import HOW_MANY, deep_enough
    from trueweave.retrieval.methods import registry

    wanted = [name.strip() for name in names.split(",") if name.strip()] if names else registry.names()
    for one in [] if names else registry.broken():
        say(warning(f"Not measured: {one.problem}"))
    parameters: dict[str, dict[str, str]] = {name: {} for name in wanted}
    for set_ in given or ():
        target, equals, value = set_.partition("=")
        name, dot, parameter = target.strip().partition(".")
        if not (equals and dot and parameter):
            raise ConfigError(f"{set_!r} is not a parameter. Write METHOD.PARAMETER=VALUE, as in --set fuse.k=20.")
        if name not in parameters:
            raise ConfigError(f"--set {set_} is for {name}, which is not measured. Measured are {', '.join(wanted)}.")
        parameters[name][parameter] = value.strip()
    made = {name: registry.make(name, values) for name, values in parameters.items()}
    # An explicit number of passages is kept.
    return {
        name: method if parameters[name].keys() & set(HOW_MANY) else deep_enough(method, deepest)
        for name, method in made.items()
    }


def _depths(given: str) -> list[int]:
    try:
        depths = sorted({int(one) for one in given.split(",")})
    except ValueError:
        depths = []
    if not depths or depths[0] < 1 or depths[-1] > 1000:
        raise ConfigError(f"--k {given} is not a list of depths. Write numbers from 1 to 1000, as in --k 2,5,10.")
    return depths


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot create {folder}: {error.strerror}. Give --out another folder.") from error


def _workspace(name: str) -> str:
    return f"bench-{_plain(name)}"


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name) or "set"


def _score_table(results: Results, verdict: str) -> list[RenderableType]:
    """A table of scores, what was left out, and the verdict."""
    taken: list[RenderableType] = []
    made = table("method", *(f">{measure}" for measure in results.measures), ">ms")
    for one in results.methods:
        scores = (f"{100 * one.scores[m].mean:.1f}{_mark(results, m, one.name)}" for m in results.measures)
        made.add_row(one.name, *scores, f"{1000 * one.p50:,.0f}")
    left_out = [warning(f"{name} is left out: {reason}") for name, reason in results.left_out.items()]
    if results.indexes:
        from trueweave.bench.report import INDEX_HEADINGS, index_cells

        rows = ([one.name, *index_cells(one, results.currency)] for one in results.indexes)
        taken = ["", table("index", *(f">{heading}" for heading in INDEX_HEADINGS), rows=rows)]
    legend = "In percent; * is behind the best by more than chance would explain."
    return [made, legend, *taken, *left_out, *map(warning, results.notes), "", verdict]


def _mark(results: Results, measure: str, method: str) -> str:
    behind = results.difference(measure, method)
    return "*" if behind and behind.significant else " "

"""What a benchmark tells, on outcomes that were made up, and worked out by hand."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import pytest

from trueweave import AsyncTrueweave, Usage
from trueweave.bench import report
from trueweave.bench.experiment import Experiment, Ran, deep_enough
from trueweave.bench.measures import usual
from trueweave.bench.outcomes import Answered, Outcome, OutcomeFile
from trueweave.bench.results import Results, results
from trueweave.bench.types import Dataset, DatasetPassage, Question
from trueweave.bench.verdict import verdict
from trueweave.errors import ConfigError
from trueweave.extend import Method
from trueweave.methods import Fuse, Hybrid, Keyword, Local, Naive

HOSTILE = '<script>alert("x")</script>&'

PASSAGES = (
    DatasetPassage("p1", "One.", f"First {HOSTILE}"),
    DatasetPassage("p2", "Two.", "Second"),
    DatasetPassage("p3", "Three."),
)


def experiment(questions: Sequence[Question], methods: Mapping[str, Method], ks: Sequence[int] = (1, 2)) -> Experiment:
    nowhere = cast("AsyncTrueweave", None)  # nothing is asked here
    return Experiment(nowhere, Dataset("small", tuple(questions), PASSAGES), methods, usual(ks))


def outcome(
    question: str, method: str, *found: str, seconds: float = 0.01, answered: Answered | None = None
) -> Outcome:
    ranked = tuple((uri, 1 / rank) for rank, uri in enumerate(found, 1))
    return Outcome("run", question, method, ranked, seconds, 3, Usage(calls=1, tokens_in=10), answered)


def made(better: int = 20, equal: int = 20, **given: Any) -> Results:
    """`naive` finds p1 for all questions, `keyword` for those that are alike, and p2 for the others."""
    asked = [
        Question(f"q{n}", f"Question {n} {HOSTILE}?", {"p1": 1}, ("One",), "2 hops" if n % 2 else "3 hops")
        for n in range(better + equal)
    ]
    found = [
        one
        for n, question in enumerate(asked)
        for one in (
            outcome(question.id, "keyword", "p2" if n < better else "p1"),
            outcome(question.id, "naive", "p1", "p3", seconds=0.02),
        )
    ]
    ran = Ran(tuple(found), {"guess": f"no model {HOSTILE}"})
    methods: dict[str, Method] = {"keyword": Keyword(), "naive": Naive()}
    return results(experiment(asked, methods), ran, passages=3, under={"model": HOSTILE}, notes=["odd"], **given)


def test_methods_come_best_first_with_their_scores() -> None:
    found = made()
    assert [one.name for one in found.methods] == ["naive", "keyword"]
    assert found.leading == "recall@2"
    naive, keyword = found.methods
    assert (naive.scores["recall@1"].mean, keyword.scores["recall@1"].mean) == (1.0, 0.5)
    assert (naive.p50, keyword.p50) == pytest.approx((0.02, 0.01))
    assert (naive.passages, keyword.passages, naive.statements) == (2.0, 1.0, 3.0)
    assert naive.usage.tokens_in == 400
    assert naive.parameters == {"top_k": 5}


def test_where_only_evidence_is_known_that_is_what_counts() -> None:
    asked = [Question(f"q{n}", f"Question {n}?", {}, evidence="It was Ada.") for n in range(4)]
    found = [
        replace(outcome(one.id, name, "p1"), evidence=share)
        for one in asked
        for name, share in (("keyword", 0.25), ("naive", 0.75))
    ]
    methods: dict[str, Method] = {"keyword": Keyword(), "naive": Naive()}
    shown = results(experiment(asked, methods), Ran(tuple(found)), passages=3, under={})
    assert (shown.leading, shown.measures) == ("evidence", ("evidence",))
    assert verdict(shown).startswith("On small, naive finds 75 % of the words of the evidence in its first 6,000")
    assert "Evidence: It was Ada." in report.page(shown)


def test_a_difference_is_told_with_its_interval() -> None:
    found = made()
    behind = found.difference("recall@2", "keyword")
    assert behind is not None
    assert behind.interval.mean == -0.5
    assert behind.significant
    assert found.difference("recall@2", "naive") is None


def test_kinds_of_questions_are_scored_apart() -> None:
    # Of the first 5 questions, which keyword misses, 3 are even and 2 are odd.
    found = made(better=5, equal=5)
    keyword = found.methods[1]
    assert found.kinds == {"2 hops": 5, "3 hops": 5}
    assert keyword.by_kind["2 hops"]["recall@2"] == pytest.approx(3 / 5)
    assert keyword.by_kind["3 hops"]["recall@2"] == pytest.approx(2 / 5)


def test_the_verdict_is_one_plain_sentence() -> None:
    told = verdict(made())
    pattern = (
        r"On small, naive finds 100 % of the supporting passages in its first two; "
        r"keyword finds 50 points less \(95 % interval -6\d to -3\d\)\."
    )
    assert re.fullmatch(pattern, told)


def test_the_verdict_says_where_it_may_be_chance() -> None:
    told = verdict(made(better=1, equal=39))
    assert "keyword finds 2 points less, which may be chance (95 % interval -8 to 0)." in told
    assert verdict(made(better=0)).endswith("keyword finds as much (95 % interval 0 to 0).") or verdict(
        made(better=0)
    ).endswith("naive finds as much (95 % interval 0 to 0).")


def test_questions_on_which_methods_differ_are_shown_with_what_each_found() -> None:
    found = made(better=12)
    assert len(found.telling) == 10
    first = found.telling[0]
    assert (first.id, first.supporting) == ("q0", ("p1",))
    assert first.scores == {"keyword": 0.0, "naive": 1.0}
    assert first.found == {"keyword": ("p2",), "naive": ("p1", "p3")}
    assert found.titles == {"p1": f"First {HOSTILE}", "p2": "Second", "p3": "p3"}


def test_answers_are_scored_without_their_marks() -> None:
    asked = [Question("q", "?", {"p1": 1}, ("Ada Lovelace",))]
    found = outcome("q", "naive", "p1", answered=Answered("Ada Lovelace [1].", True, 2, 1, 1.5))
    [one] = results(experiment(asked, {"naive": Naive()}), Ran((found,)), passages=3, under={}).methods
    assert (one.scores["exact match"].mean, one.scores["F1"].mean, one.scores["confirmed"].mean) == (1.0, 1.0, 0.5)
    assert one.p50 == 1.5


def test_the_page_lets_nothing_in_from_data_and_needs_nothing_else() -> None:
    page = report.page(made())
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"""(?:src|href)=|url\(|@import| style=| on\w+=""", page)
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert b64encode(sha256(style.encode()).digest()).decode() in page
    assert verdict(made()) in page
    assert "guess was left out" in page
    for shown in ("recall@2", "2 hops (20)", "Where they differ most", "<svg", "-50.0 *", "<strong>100.0</strong>"):
        assert shown in page


def test_the_page_of_a_single_method_compares_nothing() -> None:
    asked = [Question("q", "?", {"p1": 1})]
    found = results(experiment(asked, {"naive": Naive()}), Ran((outcome("q", "naive", "p1"),)), passages=3, under={})
    assert verdict(found) == "On small, naive finds 100 % of the supporting passages in its first two."
    assert "differ most" not in report.page(found)


def test_results_are_written_for_programs_too(tmp_path: Path) -> None:
    page, told = report.write(made(), tmp_path / "new" / "folder")
    whole = json.loads(told.read_text("utf-8"))
    assert page.exists()
    assert whole["verdict"].startswith("On small")
    assert whole["methods"][0]["scores"]["recall@1"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert whole["differences"][0]["significant"] is True
    assert whole["left_out"].keys() == {"guess"}


def test_outcomes_of_an_interrupted_run_are_kept_and_those_of_a_finished_one_begin_anew(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    first, second = outcome("q1", "naive", "p1"), outcome("q2", "naive", "p2", answered=Answered("x", True, 1, 1, 0.1))
    with OutcomeFile(path) as kept:
        kept.add(first)
        kept.add(second)
    part = path.with_name("outcomes.jsonl.part")
    part.write_bytes(part.read_bytes() + b'{"run": "cut o')
    with OutcomeFile(path) as kept:
        assert kept.outcomes == [first, second]
        kept.finish()
    assert len(path.read_text("utf-8").splitlines()) == 2
    with OutcomeFile(path) as kept:
        assert kept.outcomes == []
    part.write_text("[]\n")
    with pytest.raises(ConfigError, match=r"outcomes\.jsonl\.part was not written by a run"), OutcomeFile(path):
        pass


def test_methods_are_made_to_keep_as_many_passages_as_count() -> None:
    assert deep_enough(Naive(top_k=5), 10) == Naive(top_k=10)
    assert deep_enough(Naive(top_k=20), 10) == Naive(top_k=20)
    assert deep_enough(Fuse(), 10) == Fuse(top_k=10)
    parts = deep_enough(Hybrid(parts=(Local(),)), 10).parts
    assert parts == (Local(graph_top_k=10),)

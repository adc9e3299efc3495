"""What commands show: figures that add up, and nothing that is not there."""

from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from trueweave import Budget, Estimate, Spent
from trueweave.cli.inputs import sort_out
from trueweave.cli.render import console as consoles
from trueweave.cli.render.money import budget_rows, document_estimate, receipt_table
from trueweave.cli.render.run_summary import IngestTally
from trueweave.cli.run_progress import IngestWatch
from trueweave.errors import ConfigError
from trueweave.events import Found, Skipped, Unreadable
from trueweave.types import IngestProgress

NOTHING = Budget(None, None, Decimal(0), 0, Decimal(0), 0)


def text(*parts: RenderableType) -> str:
    console = Console(file=StringIO(), width=200, markup=False, highlight=False)
    console.print(*parts, sep="\n")
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def estimated(**values: object) -> Estimate:
    usual: dict[str, object] = {
        "documents": 3, "unchanged": 2, "unreadable": 0, "chunks": 9, "tokens": 5000, "answered": 1,
        "model": "openai/some", "calls": 8, "tokens_in": 9000, "tokens_out": 7000, "most_tokens_out": 32768,
        "learnt": False, "price": Decimal("0.02"), "most_price": Decimal("0.07"),
        "embedding_model": "", "embedding_price": Decimal(0),
    }  # fmt: skip
    return Estimate(**{**usual, **values})  # type: ignore[arg-type]


def test_an_estimate_shows_what_is_expected_what_is_possible_and_what_it_rests_on() -> None:
    found = text(*document_estimate(estimated(), "EUR"))
    assert "3 new or changed, 2 unchanged" in found
    assert "8 to openai/some (1 chunk answered already)" in found
    assert "0.0200 EUR expected, 0.0700 EUR at most" in found
    assert "assumed: 1.5 for each token of text" in found
    assert "as it wrote here so far" in text(*document_estimate(estimated(learnt=True), "EUR"))


def test_an_estimate_without_a_price_says_where_to_set_it() -> None:
    found = text(*document_estimate(estimated(price=None, most_price=None), "EUR"))
    assert "not known" in found
    assert (
        '[prices] in trueweave.toml, for a million tokens to it and from it, as in: "openai/some" = [0.50, 2.00]'
        in found
    )


def test_an_estimate_without_a_model_speaks_of_no_price() -> None:
    found = text(*document_estimate(estimated(model="", calls=0, price=Decimal(0), most_price=Decimal(0)), "EUR"))
    assert "no model is called, and nothing is charged" in found
    assert "expected" not in found


def test_progress_counts_what_others_do_and_what_fails_now_but_not_what_had_failed_before() -> None:
    watch = IngestWatch(IngestProgress(0, 4, 0, 0, failed=3), NOTHING, "USD")
    assert (watch.done, watch.total, watch.failed) == (0, 4, 0)
    watch.see(IngestProgress(1, 5, 1, 0, failed=1))  # two of the old ones were handed in again
    assert (watch.done, watch.total, watch.failed) == (1, 7, 0)
    watch.see(IngestProgress(5, 0, 0, 2, failed=3))
    assert (watch.done, watch.total, watch.failed) == (7, 7, 2)
    spent = Budget(None, None, Decimal("0.0421"), 12_345, Decimal(0), 0)
    assert watch.notes(spent) == "$0.0421 spent, 2 failed, 2 descriptions to summarise"


def test_what_is_spent_without_a_known_price_is_shown_in_tokens() -> None:
    watch = IngestWatch(IngestProgress(0, 1, 0, 0, 0), Budget(None, None, Decimal(0), 1000, Decimal(0), 0), None)
    assert watch.notes(Budget(None, None, Decimal(0), 13_345, Decimal(0), 0)) == "12.3k tokens spent"


def test_files_are_grouped_by_why_they_were_passed_over() -> None:
    tally = IngestTally()
    for event in (Found(3, 1), Skipped("a", "hidden"), Skipped("b", "hidden"), Unreadable("c", "c is not UTF-8.")):
        tally(event)
    assert (tally.new, tally.unchanged) == (3, 1)
    assert text(*tally.lines()).splitlines() == [
        "1 file could not be read:",
        "  c is not UTF-8.",
        "2 files skipped: hidden (a, b)",
    ]


def test_what_is_left_out_of_a_list_can_be_seen_by_what_it_says() -> None:
    events = [Unreadable(f"{n}", f"{n} is not UTF-8.") for n in range(9)] + [
        Skipped(f"{n}", "hidden") for n in range(7)
    ]
    first, whole = IngestTally(), IngestTally(show_all=True)
    for event in events:
        first(event)
        whole(event)
    assert text(*first.lines()).splitlines()[-2:] == [
        "  … and 4 more (--all shows them)",
        "7 files skipped: hidden (0, 1, 2 and 4 more: --all shows them)",
    ]
    shown = text(*whole.lines())
    assert "more" not in shown
    assert all(f"{n} is not UTF-8." in shown for n in range(9))
    assert "7 files skipped: hidden (0, 1, 2, 3, 4, 5, 6)" in shown


def test_a_receipt_adds_up_and_knows_no_sum_where_a_price_is_missing() -> None:
    lines = [Spent("extract", "a/x", 8, 1, 900, 100, Decimal("0.5")), Spent("embed", "b/y", 2, 0, 50, 0, Decimal("1"))]
    found = text(receipt_table(lines, "USD")).split()
    assert found[-5:] == ["all", "10", "950", "100", "$1.50"]
    assert "(1" in found
    assert text(receipt_table([lines[0], Spent("embed", "b/y", 2, 0, 50, 0, None)], "USD")).split()[-2:] == [
        "not",
        "known",
    ]


def test_a_budget_is_shown_as_what_is_left_of_it() -> None:
    assert budget_rows(NOTHING, "USD") == {"budget": "no limit", "spent": "0 tokens"}
    capped = Budget(Decimal(3), None, Decimal(1), 500, Decimal("0.5"), 90)
    assert budget_rows(capped, "USD") == {
        "budget": "$1.50 left",
        "spent": "$1.00 and 500 tokens",
        "held": "$0.5000 and 90 tokens, for calls under way",
    }
    assert budget_rows(Budget(None, 100, Decimal(0), 120, Decimal(0), 0), "USD")["budget"] == "0 tokens left"


def test_only_json_lines_that_say_what_is_in_them_are_taken_as_given(tmp_path: Path) -> None:
    said, plain, broken = (tmp_path / f"{name}.jsonl" for name in ("said", "plain", "broken"))
    said.write_text('{"id": "1", "text": "Ada", "entities": ["Ada"]}')
    plain.write_text('{"id": "1", "text": "Ada"}')
    broken.write_text("{")
    found = sort_out([str(said), str(plain), str(broken), str(tmp_path)])
    assert found.given == (said,)
    assert found.files == (str(plain), str(broken), str(tmp_path))
    assert sort_out([str(plain)], said=said).given == (plain,)


@pytest.mark.parametrize(
    ("paths", "uri", "problem"),
    [
        (["nowhere.txt"], None, "nowhere.txt does not exist"),
        (["-"], None, "needs a name.*--uri"),
        (["*.md"], "a", "--uri names the document on stdin"),
    ],
)
def test_a_slip_on_the_command_line_is_told_before_anything_is_done(
    paths: list[str], uri: str | None, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        sort_out(paths, uri)


def test_an_address_has_no_line_end_in_it_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = StringIO()
    monkeypatch.setattr(
        consoles, "err", consoles.SafeConsole(file=printed, width=20, force_terminal=True, highlight=False)
    )
    consoles.say_unbroken("http://tw-89fee367be8324eb.localhost:8766/ui/")
    assert printed.getvalue() == "http://tw-89fee367be8324eb.localhost:8766/ui/\n"

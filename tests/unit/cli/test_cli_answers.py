"""What is shown of answers and evidence: what is cited, what is doubted, what it took, on lines that fit."""

from dataclasses import replace
from decimal import Decimal
from io import StringIO
from pathlib import Path
from uuid import UUID

import pytest
from rich.console import Console, RenderableType

from trueweave import Answer, Check, Citation, Compared, Comparison, Evidence, Filter, Passage, Sentence, Usage
from trueweave.cli.compare import comparison_lines
from trueweave.cli.questions import read_filter, read_history, read_parameters
from trueweave.cli.render.answers import check_lines, citation_lines, cost_line, usage_words
from trueweave.cli.render.evidence import excerpt, passage_lines
from trueweave.cli.render.lines import one_line
from trueweave.cli.render.writer import Writer
from trueweave.core.answers import CheckStatus
from trueweave.errors import ConfigError, UnreadableFile
from trueweave.types import Copy, Repair, Trace

PASSAGE = Passage(UUID(int=1), "notes/1", "Notes", "Ada wrote Note G. It is a program.", 0, 0.5, page="3")


def text(*parts: RenderableType) -> str:
    console = Console(file=StringIO(), width=100, markup=False, highlight=False)
    console.print(*parts, sep="\n")
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def answered(*sentences: Sentence, known: bool = True) -> Answer:
    return Answer("Who?", "", known, sentences, (), Evidence((PASSAGE,)), "", Usage(), checks=(Check("rules", 1, 0.1),))


def said(words: str, status: CheckStatus, reason: str = "", basis: str = "") -> Sentence:
    return Sentence(words, 0, len(words), (), status, reason, basis)


def cited(mark: int, quote: str, *, verbatim: bool = True) -> Citation:
    return Citation(mark, PASSAGE, quote, 0, len(quote), verbatim)


def test_a_passage_is_named_once_with_all_that_is_quoted_from_it() -> None:
    found = text(*citation_lines([cited(2, "Ada wrote\nNote G"), cited(2, "a program", verbatim=False)]))
    assert found.splitlines() == ["", "[2] Notes, page 3", "  “Ada wrote Note G”", "  nearest: “a program”"]
    assert citation_lines([]) == []


def test_a_text_that_stands_in_several_places_names_them() -> None:
    places = tuple(Copy(f"copy/{n}", "", 0, f"copy/{n}, page 1") for n in range(5))
    passage = replace(PASSAGE, copies=7, also=places)
    named = "  also in copy/0, page 1; copy/1, page 1; copy/2, page 1 and 4 more"
    assert text(*passage_lines([passage], "Who?")).splitlines()[:2] == ["[1] Notes, page 3  0.500", named]
    assert text(*citation_lines([replace(cited(1, "Ada"), passage=passage)])).splitlines()[2] == named


def test_what_is_not_confirmed_has_its_reason_and_what_the_passage_says() -> None:
    sentences = [
        said("Yes.", "quoted"),
        said("No.", "not checked", "it cites no passage"),
        said("It fell.", "contradicted", "“fall” where the passage says “rise”", "It rose."),
    ]
    assert text(*check_lines(answered(*sentences))).splitlines() == [
        "",
        "Not confirmed:",
        "  No.",
        "    not checked: it cites no passage",
        "  It fell.",
        "    contradicted: “fall” where the passage says “rise”",
        "    the passage says: “It rose.”",
        "",
        "Checked by rules: 1 quoted, 1 not checked, 1 contradicted",
    ]


def test_a_sentence_that_was_judged_and_not_confirmed_is_not_supported() -> None:
    judged = replace(
        said("It has 9.9 million people.", "not checked", "9.9 million is not in the passage"), verifier="rules"
    )
    failed = said("It is large.", "not checked", "the verifier llm failed")
    found = text(*check_lines(answered(judged, failed))).splitlines()
    assert found[2:6] == [
        "  It has 9.9 million people.",
        "    not supported: 9.9 million is not in the passage",
        "  It is large.",
        "    not checked: the verifier llm failed",
    ]
    assert found[-1] == "Checked by rules: 1 not supported, 1 not checked"


def test_what_is_computed_shows_how() -> None:
    found = text(*check_lines(answered(said("It grew by 3.", "computed", "5 − 2 = 3"))))
    assert found.splitlines()[1:4] == ["Computed:", "  It grew by 3.", "    5 − 2 = 3"]
    assert "Not confirmed" not in found


def test_what_was_repaired_shows_what_it_was() -> None:
    repairs = (Repair(said("It fell.", "contradicted"), "It rose [1]."), Repair(said("So.", "not checked", "why"), ""))
    found = text(*check_lines(replace(answered(said("It rose [1].", "quoted")), repairs=repairs)))
    assert found.splitlines()[1:4] == ["Repaired:", "  was: It fell.", "    now: It rose [1]."]
    assert found.splitlines()[4:6] == ["  was: So.", "    removed: why"]


def test_a_verifier_that_failed_is_told() -> None:
    failed = (Check("rules", 1, 0.1), Check("llm", 1, 0.1, problem="the server is away"))
    found = text(*check_lines(replace(answered(said("Yes.", "not checked", "the verifier llm failed")), checks=failed)))
    assert "The check by llm failed: the server is away" in found
    assert "Checked by rules and llm: 1 not checked" in found


def test_what_it_took_is_one_line() -> None:
    evidence = Evidence((PASSAGE,), trace=Trace("fuse", seconds=0.0312))
    assert str(cost_line(evidence, Usage(), "USD")) == "fuse: 1 passage in 31 ms"
    paid = Usage(2, 1, 1000, 234, Decimal("0.0042"))
    assert str(cost_line(evidence, paid, "USD", 1.26)) == (
        "fuse: 1 passage in 31 ms, answered in 1.3 s, 2 calls, 1,234 tokens, $0.0042, 1 reply from the cache"
    )
    assert usage_words(Usage(1, 0, 5, 5, None), "USD") == ["1 call", "10 tokens", "price not known"]
    assert usage_words(Usage(1, 0, 5, 5), "USD") == ["1 call", "10 tokens"]


def test_an_excerpt_begins_where_the_question_is_spoken_of() -> None:
    long = (
        "# Heading\n\n" + "Nothing of note. " * 40 + "The engine was built by Babbage. " + "More of it follows. " * 40
    )
    assert excerpt(long, "Who built the engine?").startswith("… The engine was built by Babbage. More")
    assert excerpt(long, "Who built the engine?").endswith(" …")
    assert excerpt("# Heading\n\nShort.", "Who?") == "Short."
    assert excerpt("# Heading", "Who?") == "# Heading"
    assert one_line("a  b\nc", 3) == "a b …"


def test_methods_that_cannot_be_used_are_grouped_by_why() -> None:
    rows = (Compared("keyword", Evidence((PASSAGE,))), *(Compared(n, Evidence(), problem="no.") for n in ("a", "b")))
    found = text(*comparison_lines(Comparison("Who?", rows), "USD"))
    assert "Cannot be used here:\n  a, b: no." in found
    assert "in common" not in found
    assert "calls" not in found


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_words_are_kept_whole_on_a_terminal_however_they_come(size: int) -> None:
    said = "Ada Lovelace wrote Note G [1].\n\nIt is a program, and everybody calls it so."
    console = Console(file=StringIO(), width=20, force_terminal=True, color_system=None)
    writer = Writer(console)
    for start in range(0, len(said), size):
        writer.write(said[start : start + size])
    writer.end()
    assert isinstance(console.file, StringIO)
    lines = [line.rstrip() for line in console.file.getvalue().split("\n")]
    assert lines == ["Ada Lovelace wrote", "Note G [1].", "", "It is a program, and", "everybody calls it", "so.", ""]


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("exactly twenty cells [1].", ["exactly twenty cells", "[1]."]),
        ("exactly twenty cells   \n\nMore.", ["exactly twenty cells", "", "More."]),
        ("exactly twenty cells ", ["exactly twenty cells"]),
        ("two  words,\n  - indented", ["two  words,", "  - indented"]),
    ],
)
def test_no_line_is_wider_than_the_terminal(said: str, shown: list[str], size: int) -> None:
    """One space too many, and the terminal breaks the line itself: with ours, that is a blank line."""
    console = Console(file=StringIO(), width=20, force_terminal=True, color_system=None)
    writer = Writer(console)
    for start in range(0, len(said), size):
        writer.write(said[start : start + size])
    writer.end()
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue().split("\n") == [*shown, ""]


def test_elsewhere_nothing_is_held_back_or_broken() -> None:
    console = Console(file=StringIO(), width=20)
    writer = Writer(console)
    writer.write("Ada Lovelace wrote Note G, and every")
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue() == "Ada Lovelace wrote Note G, and every"
    writer.write("body knows.")
    writer.end()
    assert console.file.getvalue() == "Ada Lovelace wrote Note G, and everybody knows.\n"


def test_nothing_written_leaves_no_line() -> None:
    console = Console(file=StringIO(), force_terminal=True)
    Writer(console).end()
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue() == ""


def test_a_condition_fits_numbers_and_texts_alike() -> None:
    found = read_filter(["a"], ["year=1843", "kind = letter", "kind=notes", "is_draft=true", "x=a=b"], None)
    assert found.uris == ("a",)
    assert found.metadata == {
        "year": ["1843", 1843],
        "kind": ["letter", "notes"],
        "is_draft": ["true", True],
        "x": ["a=b"],
    }
    assert not read_filter(None, None, None)
    assert read_parameters(["top_k=3"]) == {"top_k": "3"}
    with pytest.raises(ConfigError, match="Write name=value"):
        read_parameters(["=3"])


def test_documents_conditions_and_a_filter_must_all_hold() -> None:
    assert read_filter(["a", "b/**"], None, None) == Filter(("a",)) | Filter(prefix="b/")
    assert read_filter(None, ["kind!=mail"], None) == ~Filter(metadata={"kind": ["mail"]})
    found = read_filter(["a"], ["kind=mail"], "not uri=c/**")
    assert found == Filter(("a",), {"kind": ["mail"]}) & ~Filter(prefix="c/")


def test_a_conversation_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    assert read_history(file) == []
    file.write_text('{"role": "user", "content": "Who?"}\n\n{"role": "assistant"}\n')
    with pytest.raises(UnreadableFile, match="line 3"):
        read_history(file)

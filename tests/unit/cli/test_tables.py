"""Tables lose no names, however narrow the terminal; elsewhere they lose nothing."""

from io import StringIO
from uuid import UUID

import pytest
from rich.cells import cell_len
from rich.console import RenderableType

from trueweave import Compared, Comparison, Entity, Evidence, Passage, Spent, Usage
from trueweave.cli.compare import comparison_lines as compared
from trueweave.cli.render.console import SafeConsole
from trueweave.cli.render.lookups import entity_table
from trueweave.cli.render.money import receipt_by_document, receipt_table
from trueweave.cli.render.tables import pairs, table
from trueweave.retrieval.methods import registry
from trueweave.types import SpentOn, Trace

LONG = "The Royal Astronomical Society of Great Britain and Ireland and of the Dominions beyond the Seas"
UNBROKEN = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
CJK = "中华人民共和国国家发展和改革委员会能源研究所可再生能源发展中心北京办事处"
NAMES = ("Ada", LONG, UNBROKEN, CJK)
DESCRIPTION = "A body that is described at such length that no terminal of any width has room for all of it. " * 3


def printed(part: RenderableType, width: int | None) -> str:
    """What is shown on a terminal of that width; elsewhere, if there is none."""
    file = StringIO()
    console = SafeConsole(file=file, width=width or 80, force_terminal=width is not None, color_system=None)
    console.print(part, soft_wrap=width is None)
    return file.getvalue()


def squeezed(text: str) -> str:
    return "".join(text.split())


def entity(name: str) -> Entity:
    return Entity(UUID(int=1), name, "organization", DESCRIPTION, (name, "RAS"), 1234, (1,), 987)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_never_cut_away_and_no_line_is_too_long(name: str, width: int) -> None:
    shown = printed(entity_table([entity("Ada"), entity(name)]), width)
    assert max(map(cell_len, shown.splitlines())) <= width
    letters = iter(squeezed(shown))  # in order, with those of other columns between
    assert all(letter in letters for letter in squeezed(f"Ada{name}"))


def test_at_80_columns_descriptions_are_cut_and_all_else_is_there() -> None:
    shown = printed(entity_table([entity("Ada Lovelace"), entity("Charles Babbage")]), 80)
    lines = shown.splitlines()
    assert lines[0].split()[:4] == ["name", "type", "mentions", "relations"]
    assert lines[1].startswith("Ada Lovelace     organization     1,234        987")
    assert lines[1].endswith("…")
    assert len(lines) == 3


@pytest.mark.parametrize("name", NAMES)
def test_in_a_pipe_nothing_is_cut_or_broken(name: str) -> None:
    shown = printed(entity_table([entity("Ada"), entity(name)]), None)
    [_, _, line] = shown.splitlines()
    assert line.startswith(name)
    assert line.endswith(DESCRIPTION.strip())


def test_pairs_are_broken_on_a_terminal_and_whole_in_a_pipe() -> None:
    made = pairs({"database": LONG, "documents": 3})
    assert max(map(len, printed(made, 40).splitlines())) <= 40
    assert squeezed(LONG) in squeezed(printed(made, 40))
    assert printed(made, None) == f"database   {LONG}\ndocuments  3\n"


def comparison(methods: list[str]) -> Comparison:
    passage = Passage(UUID(int=1), "notes/1.md", LONG, "Text.", 0, 1.0)
    trace = Trace("any", seconds=12.3456, usage=Usage(12, 3, 123_456, 9_876, None))
    return Comparison("Who?", tuple(Compared(name, Evidence((passage,), trace=trace)) for name in methods))


@pytest.mark.parametrize("width", [60, 80, None])
def test_a_comparison_of_all_methods_shows_each_by_its_name(width: int | None) -> None:
    methods = registry.names()
    figures, _, _, overlap, *_ = compared(comparison(methods), "USD")
    for part in (figures, overlap):
        shown = printed(part, width)
        assert all(name in shown.split() for name in methods)
        assert width is None or max(map(len, shown.splitlines())) <= width
    assert printed(overlap, 80).splitlines()[2].split() == ["2", methods[1], "="]


def test_at_80_columns_all_figures_of_a_comparison_are_there() -> None:
    figures, *_ = compared(comparison(["keyword", "community"]), "USD")
    [head, first, _] = printed(figures, 80).splitlines()
    assert head.split() == ["method", "passages", "entities", "relations", "SQL", "ms", "calls", "tokens", "price"]
    assert first.split() == ["keyword", "1", "0", "0", "0", "12,346", "12", "133,332", "?"]


def test_where_even_names_and_numbers_do_not_fit_each_row_is_a_paragraph() -> None:
    made = table("name", *(f">measure number {n}" for n in range(9)))
    made.add_row(LONG, *(f"{n:,}" for n in range(1000, 1009)))
    shown = printed(made, 80)
    assert squeezed(LONG) in squeezed(shown)
    assert "measure number 8 1,008" in " ".join(shown.split())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [80, None])
def test_receipts_name_their_models_and_documents(name: str, width: int | None) -> None:
    by_stage = receipt_table([Spent("extract", f"openai/{name}", 12_345, 3, 10**9, 10**8, None)], "USD")
    by_document = receipt_by_document(
        [SpentOn(f"notes/{name}.md", f"openai/{name}", 12_345, 10**9, 10**8, None)], "USD"
    )
    for part in (by_stage, by_document):
        shown = printed(part, width)
        assert squeezed(name)[:9] in squeezed(shown)
        assert squeezed(name)[-6:] in squeezed(shown)
        assert "1,000,000,000" in shown

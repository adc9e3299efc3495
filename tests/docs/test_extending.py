"""The method and the loader that CONTRIBUTING.md shows do what it says."""

import runpy
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT, blocks
from trueweave import AsyncTrueweave, Chunk, Document, Source
from trueweave.ingest.loading import Files
from trueweave.text.uris import Naming


def shown(name: str, folder: Path) -> Any:
    """The class of that name on the page."""
    [block] = [one for one in blocks((ROOT / "CONTRIBUTING.md").read_text("utf-8"), "python") if f"class {name}" in one]
    program = folder / f"{name}.py"
    program.write_text(block, "utf-8")
    return runpy.run_path(str(program))[name]


async def test_the_method_gives_the_longest_passages_first(trueweave: AsyncTrueweave, tmp_path: Path) -> None:
    texts = ["A kettle.", "A kettle that is long and old.", "A kettle in York.", "Tea."]
    await trueweave.add_documents(Document(text, (Chunk(text),)) for text in texts)
    found = await trueweave.retrieve("kettle", shown("Longest", tmp_path)(top_k=2))
    assert [passage.text for passage in found.passages] == [texts[1], texts[2]]


def test_the_loader_reads_a_title_and_a_text(tmp_path: Path) -> None:
    (tmp_path / "x.note").write_text("Tea\nIt is hot.\n", "utf-8")
    files = Files(Naming(tmp_path), loaders={".note": shown("NoteLoader", tmp_path)()})
    assert list(files.sources([tmp_path / "x.note"])) == [Source("x.note", "It is hot.\n", "Tea")]

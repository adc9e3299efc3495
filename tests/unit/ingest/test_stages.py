"""The stages of a document, as functions."""

import pytest

from trueweave import Chunk, Mention, Place, Source
from trueweave.extend import Extraction
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.stages import assemble, summed_up, work
from trueweave.text.names import key


def test_notes_are_summed_up() -> None:
    notes = ["cut off", "names not found: 3", "cut off", "names not found: 4", "repaired"]
    assert summed_up(notes) == ("cut off (2 chunks)", "repaired", "names not found: 7")
    assert summed_up([]) == ()


def test_findings_are_put_with_their_chunks_and_the_rest_of_the_source_is_kept() -> None:
    places = (Place(0, "heading", "Top", 1),)
    source = Source("a", "one two", "Title", {"k": 1}, places)
    made = assemble(source, [Chunk("one"), Chunk("two", 4)], [Extraction((Mention("One"),)), Extraction()])
    assert [c.mentions for c in made.chunks] == [(Mention("One"),), ()]
    assert (made.uri, made.title, made.metadata, made.places) == ("a", "Title", {"k": 1}, places)


def test_each_finding_belongs_to_one_chunk() -> None:
    with pytest.raises(ValueError, match="zip"):
        assemble(Source("a", "one two"), [Chunk("one")], [])


async def test_a_document_without_text_is_worked_all_the_same() -> None:
    rows = await work(Source("a", "\n"), key("id"), Recipe(extractor="capitals"), CapitalsExtractor())
    assert (rows.chunks, rows.document.notes) == ([], ["it has no text"])

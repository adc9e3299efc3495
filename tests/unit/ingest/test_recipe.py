"""A recipe as it is written down: the same in every version of the program, as a document's identity rests on it."""

import json

from trueweave.ingest.recipe import Recipe


def test_a_recipe_is_written_the_same_in_every_version() -> None:
    written = (
        '{"chunk_overlap": 0, "entity_types": {}, "extractor": "capitals", "max_chunk_size": 800, "max_gleaning": 1, '
        '"max_paths_per_chunk": 20, "max_reply_tokens": 4096, "min_chunk_size": 400, "model": "", "pipeline": ""}'
    )
    assert Recipe(extractor="capitals").packed() == written


def test_a_field_that_is_added_is_written_only_where_it_differs() -> None:
    class Later(Recipe):
        language: str = ""

    assert Later(extractor="capitals").packed() == Recipe(extractor="capitals").packed()
    assert json.loads(Later(extractor="capitals", language="de").packed())["language"] == "de"

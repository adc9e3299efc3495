"""The page of formats, from the readers of files, the model of annotated documents, and the importers and exporters."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from importlib import import_module
from importlib.metadata import entry_points

from pydantic import BaseModel

from trueweave.formats.exporting import _MODULES
from trueweave.formats.importing.formats import FORMATS
from trueweave.ingest.extract.preannotated import _Chunk, _Document, _Entity, _Relation, document
from trueweave.ingest.loading.installed import GROUP

_INTRO = """# Formats

What `trueweave add` and `trueweave import` read, and what `trueweave export` writes. This page is written by
`make reference`.

## Files that are read

`trueweave add` chooses the reader by the extension of a file. [Add documents](../how-to/adding-documents.md) says which
readers need an extra, and what becomes of pages, tables and rows. A reader for another format is a
[loader](python-extend.md#loader) of your own.

| reader | extensions |
|---|---|
"""

_EXAMPLE = """{"id": "1", "title": "A letter", "text": "Ada Lovelace wrote to Charles Babbage.",
 "entities": ["Ada Lovelace", {"name": "Charles Babbage", "type": "person", "description": "An engineer."}],
 "triples": [["Ada Lovelace", "wrote to", "Charles Babbage"]]}"""
_ANNOTATED = f"""
## Documents with entities and triples

A file of JSON lines whose rows already say which entities and relations their texts mention. `trueweave add` uses them
and calls no model for extraction. One document is one line, plain or gzipped:

```json
{_EXAMPLE}
```

A document that is already cut into chunks has `chunks` in place of `text`, each with its own annotations. A row is
named by `uri`, `id` or `passage_id`; unless the name is an absolute address, it is appended to that of the file, as in
`letters.jsonl#1`. A value of `null` counts as missing, and other keys are ignored. An invalid row is refused with its
line number; the others are used.
"""

_OBJECTS: dict[str, tuple[str, type[BaseModel], dict[str, str]]] = {
    "document": (
        "A document, besides its name. Without `chunks`, the fields of one chunk stand beside these.",
        _Document,
        {
            "title": "The title that is shown.",
            "metadata": "Any JSON, which questions can be filtered by.",
            "places": "Where pages, headings, pictures and blocks begin, as `trueweave export` writes them.",
            "readers": "The groups that can read it, as a list or a text with commas. Without it: see `trueweave add`.",
            "chunks": "The chunks, in order.",
        },
    ),
    "chunk": (
        "A chunk of a document.",
        _Chunk,
        {
            "text": "The text, exactly as in the document.",
            "start": "Where it begins in the document, in characters.",
            "tokens": "Its length in tokens, if it is known.",
            "entities": "The entities that it mentions: names, or objects as below.",
            "triples": "Lists of a source, a description and a target. Incomplete triples are skipped.",
            "relations": "Relations with more to say than a triple, as below.",
        },
    ),
    "entity": (
        "An entity that a chunk mentions.",
        _Entity,
        {
            "name": "The name as the text writes it.",
            "type": "Its type, such as person.",
            "description": "What the text says about it.",
            "emphasis": "How much the text is about it, from 1 to 9.",
            "spans": "Where it is mentioned: pairs of offsets within the chunk.",
        },
    ),
    "relation": (
        "A relation that a chunk states. Names that are not among its entities are added.",
        _Relation,
        {
            "source": "The name of the first entity.",
            "target": "The name of the second entity.",
            "description": "What the text says about the two.",
            "keywords": "Words for the relation; the first one is its type.",
            "strength": "How strong it is. Extractors use 1 to 10.",
            "emphasis": "How much the text is about it, from 1 to 9.",
            "spans": "Where it is stated: pairs of offsets within the chunk.",
            "source_type": "The type of the first entity, which tells homonyms apart.",
            "target_type": "The type of the second entity.",
        },
    ),
}

_IMPORTED = """
## Formats that are imported

`trueweave import` recognises these by their files, or takes the name of one with `--format`;
[move in and out](../how-to/moving.md) shows each.

| format | what it is | recognised by |
|---|---|---|
"""
_EXPORTED = """
## Formats that are exported

`trueweave export FILE` chooses the format by the extension.

| extension | what is written |
|---|---|
"""


def formats_page() -> str:
    """Every format that is read or written."""
    document(json.loads(_EXAMPLE), "example")  # raises an error if it is not valid
    parts = [_INTRO, *_readers(), _ANNOTATED, *map(_object, _OBJECTS), _IMPORTED]
    for one in FORMATS.values():
        signs = ", ".join(f"`{sign}`" for sign in (*one.files, *one.endings))
        parts.append(f"| `{one.name}` | {one.what} | {signs} |\n")
    parts.append(_EXPORTED)
    for extension, module in _MODULES.items():
        about = import_module(f"trueweave.formats.exporting.{module}").__doc__ or ""
        parts.append(f"| `{extension}` | {about.strip().partition(chr(10))[0].strip()} |\n")
    return "".join(parts)


def _readers() -> list[str]:
    read: dict[str, list[str]] = defaultdict(list)
    for entry in entry_points(group=GROUP):
        if entry.module.startswith("trueweave."):
            read[entry.name] += sorted(entry.load()().suffixes)
    shown = {name: ", ".join(f"`{one}`" if one else "none" for one in suffixes) for name, suffixes in read.items()}
    return [f"| {name.replace('-', ' ')} | {shown[name]} |\n" for name in sorted(shown)]


def _object(name: str) -> str:
    about, model, fields = _OBJECTS[name]
    if fields.keys() != model.model_fields.keys():
        sys.exit(
            f"reference_formats.py does not describe exactly the fields of a {name}: {', '.join(model.model_fields)}"
        )
    rows = [f"| `{key}` | {_default(model, key)} | {said} |\n" for key, said in fields.items()]
    return "".join((f"\n### {name.capitalize()}\n\n{about}\n\n| field | default | meaning |\n|---|---|---|\n", *rows))


def _default(model: type[BaseModel], key: str) -> str:
    field = model.model_fields[key]
    return "required" if field.is_required() else f"`{field.default!r}`".replace("''", '""')

"""What is read from the files of other systems, format by format."""

import gzip
import json
import logging
import math
import tracemalloc
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import networkx
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document as LangChainDocument

from trueweave import Chunk, Document, Event, Link, Mention
from trueweave.cli.import_ import FormatName
from trueweave.errors import ConfigError, UnreadableFile
from trueweave.events import Noted, Refused
from trueweave.formats import importing
from trueweave.formats.importing import json_object
from trueweave.formats.importing.annotations import Annotations, GivenRelation, strengths
from trueweave.formats.importing.assembling import TextUnit, assembled, chunks
from trueweave.formats.importing.json_object import members
from trueweave.formats.importing.statements import Statement, documents

# --- what they share ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "chunk_count", "expected"),
    [
        (3.0, 3, [1, 1, 1]),
        (20.0, 3, [6.667, 6.667, 6.666]),
        (8.0, 1, [8]),
        (2.6, 1, [2.6]),
        (0.02, 2, [0.01, 0.01]),
        (500.0, 2, [250, 250]),
        (0.0001, 2, [0.001, 0.001]),
        (-4.0, 1, [5]),
        (math.inf, 2, [5, 5]),
        (math.nan, 2, [5, 5]),
        (None, 2, [5, 5]),
        (7.0, 0, []),
    ],
)
def test_a_weight_becomes_strengths(weight: float | None, chunk_count: int, expected: list[float]) -> None:
    assert strengths(weight, chunk_count) == expected


@given(st.floats(min_value=0.001, max_value=1000), st.integers(min_value=1, max_value=500))
def test_a_weight_stays_the_sum_to_three_decimals(each: float, chunk_count: int) -> None:
    found = [round(1000 * strength) for strength in strengths(each * chunk_count, chunk_count)]
    assert sum(found) == max(round(1000 * each * chunk_count), chunk_count)
    assert max(found) - min(found) <= 1


def _events() -> tuple[list[Event], Any]:
    heard: list[Event] = []
    return heard, heard.append


def test_an_end_of_a_relation_has_the_type_that_its_chunk_mentions() -> None:
    found = Annotations({"a", "b", "c"})
    found.add_entity(Mention("Mercury", "planet"), ["a"])
    found.add_entity(Mention("Mercury", "metal"), ["b"])
    found.add_entity(Mention("Sun", "star"), ["a"])
    found.add_relation(GivenRelation("Mercury", "Sun"), ["a", "b", "c"])
    types = [found.take(chunk)[1][0].source_type for chunk in ("a", "b", "c")]
    assert types == ["planet", "metal", "planet"]


def test_what_has_no_chunk_is_stated_apart_and_told() -> None:
    heard, listener = _events()
    found = Annotations({"a"})
    found.add_entity(Mention("Ada", "person", "A countess."), ["gone"])
    found.add_entity(Mention("Byron", "person"), ["a", "gone"])
    found.add_entity(Mention(" ", "person"), ["a"])
    found.add_relation(GivenRelation("Ada", "Byron", "is his daughter", weight=-99.0), [])
    [document] = found.unattached("x")
    [chunk] = document.chunks
    assert document.uri == "x#without-text-1"
    assert chunk.text == "Ada (person): A countess.\nAda and Byron: is his daughter."
    assert chunk.mentions == (Mention("Ada", "person", "A countess."),)
    expected = Link("Ada", "Byron", "is his daughter", source_type="person", target_type="person")
    assert chunk.links == (expected,)
    found.tell(listener, "x")
    told = [event.what for event in heard if isinstance(event, Noted)]
    assert [one.split(" have ")[0].split(" had ")[0].split(" without ")[0] for one in told] == [
        "1 entity and 1 relation",
        "1 reference to texts that are not there were left out of entities and relations that",
        "1 entity or relation",
        "1 relation",
    ]


def test_without_a_listener_it_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    found = Annotations(set())
    found.add_entity(Mention("Ada"), [])
    with caplog.at_level(logging.WARNING):
        found.tell(None, "x")
    assert "1 entity and 0 relations have no text that is there" in caplog.text


def test_statements_are_cut_into_chunks_and_documents_of_bounded_size() -> None:
    made = list(documents((Statement("x" * 700, (Mention(f"n{n}"),)) for n in range(2101)), "f", "t"))
    assert [document.uri for document in made] == ["f#1", "f#2", "f#3"]
    assert [len(document.chunks) for document in made] == [500, 500, 51]
    assert all(len(chunk.text) <= 1500 for document in made for chunk in document.chunks)
    assert [m.name for d in made for c in d.chunks for m in c.mentions] == [f"n{n}" for n in range(2101)]
    ends = [chunk.end for chunk in made[0].chunks]
    assert [chunk.start for chunk in made[0].chunks[1:]] == [end + 1 for end in ends[:-1]]


def test_chunks_are_put_in_order_and_start_where_they_overlap() -> None:
    text = "The quick brown fox jumps over the lazy dog, again and again."
    units = [
        TextUnit("d", 1, "b", text[20:50], 3),
        TextUnit("e", 0, "c", "other", 1),
        TextUnit("d", 0, "a", text[:40], 4),
    ]
    found = dict(assembled(units, {"d": 2, "e": 1}))
    assert list(found) == ["e", "d"]
    made = chunks([*found["d"], TextUnit("d", 2, "x", "Something else.", 1)], Annotations(set()))
    assert [(chunk.start, chunk.tokens) for chunk in made] == [(0, 4), (20, 3), (50, 1)]


# --- JSON objects, a member at a time -----------------------------------------------------------------


@pytest.mark.parametrize("piece", [1, 7, 2**20])
def test_a_json_object_is_read_member_by_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(json_object, "_PIECE", piece)
    content = {"a": {"text": 'x\\"} ,é😀', "n": [1, 2.5, None]}, "b": 12345, "": "", "c": "long" * 100, "d": {}}
    for indent in (None, 2):
        (tmp_path / "o.json").write_text(json.dumps(content, indent=indent), "utf-8")
        assert dict(members(tmp_path / "o.json")) == content
    (tmp_path / "o.json").write_text(" { } ")
    assert dict(members(tmp_path / "o.json")) == {}


@pytest.mark.parametrize("text", ["", "[1]", '{"a" 1}', '{"a": 1', '{"a": 1,}', '{"a": [1}', "{1: 2}", "\xff"])
def test_a_broken_json_object_is_unreadable(tmp_path: Path, text: str) -> None:
    (tmp_path / "o.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(UnreadableFile, match=r"o\.json"):
        list(members(tmp_path / "o.json"))


def test_a_member_that_is_too_long_is_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_object, "MOST_LINE", 1000)
    monkeypatch.setattr(json_object, "_PIECE", 100)
    (tmp_path / "o.json").write_text(json.dumps({"a": "x" * 2000}))
    with pytest.raises(UnreadableFile, match="longer than"):
        list(members(tmp_path / "o.json"))


# --- GraphRAG -----------------------------------------------------------------------------------------

STRINGS = pyarrow.list_(pyarrow.string())
# The columns of GraphRAG 3, in their order.
GRAPHRAG: dict[str, dict[str, Any]] = {
    "documents": {
        "id": "string", "human_readable_id": "int64", "title": "string", "text": "string", "conversation_id": "string",
        "turn_index": "int64", "turn_timestamp": "string", "turn_role": "string", "text_unit_ids": STRINGS,
        "creation_date": "string", "raw_data": "string",
    },
    "text_units": {
        "id": "string", "human_readable_id": "int64", "text": "string", "n_tokens": "int64", "document_id": "string",
        "conversation_id": "string", "turn_index": "int64", "turn_timestamp": "string", "turn_role": "string",
        "entity_ids": STRINGS, "relationship_ids": STRINGS, "covariate_ids": STRINGS,
    },
    "entities": {
        "id": "string", "human_readable_id": "int64", "title": "string", "type": "string", "description": "string",
        "text_unit_ids": STRINGS, "frequency": "int64", "degree": "int64",
    },
    "relationships": {
        "id": "string", "human_readable_id": "int64", "source": "string", "target": "string", "description": "string",
        "weight": "float64", "combined_degree": "int64", "text_unit_ids": STRINGS,
    },
    "communities": {
        "id": "string", "human_readable_id": "int64", "community": "int64", "level": "int64", "parent": "int64",
        "children": pyarrow.list_(pyarrow.int64()), "title": "string", "entity_ids": STRINGS,
        "relationship_ids": STRINGS, "text_unit_ids": STRINGS, "period": "string", "size": "int64",
    },
    "community_reports": {
        "id": "string", "human_readable_id": "int64", "community": "int64", "level": "int64", "parent": "int64",
        "children": pyarrow.list_(pyarrow.int64()), "title": "string", "summary": "string", "full_content": "string",
        "rank": "float64", "rating_explanation": "string", "findings": "string", "full_content_json": "string",
        "period": "string", "size": "int64",
    },
}  # fmt: skip


def write_table(folder: Path, name: str, rows: Iterable[dict[str, Any]]) -> None:
    """A table with just the columns that GraphRAG writes; what a row does not say is null."""
    columns = GRAPHRAG[name]
    kinds = [(key, pyarrow.type_for_alias(kind) if isinstance(kind, str) else kind) for key, kind in columns.items()]
    full = [dict.fromkeys(columns) | row for row in rows]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(full, pyarrow.schema(kinds)), folder / f"{name}.parquet")


def write_graphrag(folder: Path) -> Path:
    """An index of two documents, one of which has two text units."""
    folder.mkdir(parents=True, exist_ok=True)
    write_table(
        folder,
        "documents",
        [
            {"id": "d1", "title": "one.txt", "text": "…", "text_unit_ids": ["u1", "u2"], "creation_date": "2026-01-01"},
            {"id": "d2", "title": "two.txt", "text": "…", "text_unit_ids": ["u3"]},
        ],
    )
    write_table(
        folder,
        "text_units",
        [
            {"id": "u1", "text": "Acme was founded by Ada Byron.", "n_tokens": 7, "document_id": "d1"},
            {"id": "u3", "text": "Zeta bought Acme.", "n_tokens": 4, "document_id": "d2"},
            {"id": "u2", "text": "by Ada Byron. She sold it.", "n_tokens": 6, "document_id": "d1"},
            {"id": "u4", "text": "Of no document.", "n_tokens": 3},
        ],
    )
    write_table(
        folder,
        "entities",
        [
            {
                "id": "e1",
                "title": "ACME",
                "type": "ORGANIZATION",
                "description": "A firm.",
                "text_unit_ids": ["u1", "u3"],
            },
            {
                "id": "e2",
                "title": "ADA BYRON",
                "type": "PERSON",
                "description": "Its founder.",
                "text_unit_ids": ["u1", "u2"],
            },
            {"id": "e3", "title": "ZETA", "type": None, "description": None, "text_unit_ids": ["u3"]},
            {"id": "e4", "title": "LOST", "type": "EVENT", "description": "Nowhere.", "text_unit_ids": ["u9"]},
        ],
    )
    write_table(
        folder,
        "relationships",
        [
            {
                "source": "ADA BYRON",
                "target": "ACME",
                "description": "founded",
                "weight": 15.0,
                "text_unit_ids": ["u1", "u2"],
            },
            {"source": "ZETA", "target": "ACME", "description": "bought", "weight": 0.4, "text_unit_ids": ["u3"]},
            {"source": "LOST", "target": "ACME", "description": "haunts", "weight": 2.0, "text_unit_ids": None},
        ],
    )
    write_table(folder, "communities", [{"id": "c1", "community": 0, "level": 0, "parent": -1, "title": "Community 0"}])
    report = {
        "community": 0,
        "level": 0,
        "title": "Acme",
        "full_content": "# Acme\n\nAll.\n\n## Sale\n\nIt was sold.",
        "rank": 7.5,
    }
    write_table(folder, "community_reports", [report])
    return folder


def test_graphrag_comes_with_texts_descriptions_types_and_weights(tmp_path: Path) -> None:
    heard, listener = _events()
    read = list(importing.read(write_graphrag(tmp_path), uri="g", listener=listener))
    found = {document.uri: document for document in read}
    assert list(found) == ["g#d2", "g#d1", "g#text-units", "g#without-text-1"]
    acme, ada = Mention("ACME", "ORGANIZATION", "A firm."), Mention("ADA BYRON", "PERSON", "Its founder.")
    founded = Link("ADA BYRON", "ACME", "founded", (), 7.5, source_type="PERSON", target_type="ORGANIZATION")
    assert (found["g#d1"].title, found["g#d1"].metadata) == ("one.txt", {"creation_date": "2026-01-01"})
    assert found["g#d1"].chunks == (
        Chunk("Acme was founded by Ada Byron.", 0, 7, (acme, ada), (founded,)),
        Chunk("by Ada Byron. She sold it.", 17, 6, (ada,), (Link(*_said(founded, 7.5)),)),
    )
    assert found["g#d2"].chunks[0].links[0].strength == 0.4
    assert found["g#text-units"].chunks[0].text == "Of no document."
    assert found["g#without-text-1"].chunks[0].text == "LOST (EVENT): Nowhere.\nLOST and ACME: haunts."
    told = [event.what for event in heard if isinstance(event, Noted)]
    assert told[0].startswith("1 entity and 1 relation have no text that is there")
    assert "community_reports.parquet is left out" in told[1]


def _said(link: Link, strength: float) -> tuple[Any, ...]:
    said = link.source, link.target, link.description, link.keywords, strength
    return *said, link.emphasis, link.spans, link.source_type, link.target_type


def test_graphrag_reports_come_as_documents_if_wanted(tmp_path: Path) -> None:
    write_graphrag(tmp_path / "output")
    read = importing.read(tmp_path, uri="g", listener=lambda _: None, reports=True)
    [report] = [document for document in read if "report" in document.uri]
    assert (report.uri, report.title) == ("g#report-0", "Acme")
    assert [chunk.text for chunk in report.chunks] == ["# Acme\n\nAll.\n", "## Sale\n\nIt was sold."]
    assert report.metadata == {"kind": "community report", "level": 0, "rank": 7.5}
    with pytest.raises(ConfigError, match="only the output of GraphRAG has community reports"):
        importing.read(tmp_path / "x.csv", "triples", reports=True)


def test_graphrag_2_lists_several_documents_of_a_text_unit(tmp_path: Path) -> None:
    write_graphrag(tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "text_units.parquet")
    owners = [[one] if one else None for one in table["document_id"].to_pylist()]
    older = table.drop_columns(["document_id"]).append_column("document_ids", pyarrow.array(owners, STRINGS))
    pyarrow.parquet.write_table(older, tmp_path / "text_units.parquet")
    read = importing.read(tmp_path, uri="g", listener=lambda _: None)
    assert [document.uri for document in read][:3] == ["g#d2", "g#d1", "g#text-units"]


def test_a_graph_that_was_brought_to_graphrag_may_lack_texts_and_types(tmp_path: Path) -> None:
    write_graphrag(tmp_path)
    (tmp_path / "text_units.parquet").unlink()
    table = pyarrow.parquet.read_table(tmp_path / "entities.parquet")
    pyarrow.parquet.write_table(table.drop_columns(["type", "text_unit_ids"]), tmp_path / "entities.parquet")
    heard, listener = _events()
    [document] = importing.read(tmp_path, uri="g", listener=listener)
    assert document.uri == "g#without-text-1"
    assert document.chunks[0].text.startswith("ACME: A firm.\nADA BYRON: Its founder.\nZETA.\n")
    assert isinstance(heard[0], Noted)
    assert heard[0].what.startswith("4 entities and 3 relations have no text that is there")


def test_tables_that_graphrag_did_not_write_are_unreadable(tmp_path: Path) -> None:
    write_graphrag(tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "entities.parquet")
    pyarrow.parquet.write_table(table.drop_columns(["title"]), tmp_path / "entities.parquet")
    with pytest.raises(UnreadableFile, match=r"entities\.parquet has no column title"):
        list(importing.read(tmp_path))
    (tmp_path / "entities.parquet").write_text("no table")
    with pytest.raises(UnreadableFile, match=r"entities\.parquet is not Parquet"):
        list(importing.read(tmp_path))
    with pytest.raises(UnreadableFile, match="is not the output of GraphRAG"):
        list(importing.read(tmp_path / "nowhere", "graphrag"))


# --- LightRAG, as far as it does not take LightRAG itself ---------------------------------------------

LIGHTRAG_GRAPH = """<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="entity_type" attr.type="string"/>
<key id="d1" for="node" attr.name="description" attr.type="string"/>
<key id="d2" for="node" attr.name="source_id" attr.type="string"/>
<key id="d3" for="edge" attr.name="weight" attr.type="double"/>
<key id="d4" for="edge" attr.name="description" attr.type="string"/>
<key id="d5" for="edge" attr.name="keywords" attr.type="string"/>
<key id="d6" for="edge" attr.name="source_id" attr.type="string"/>
<graph edgedefault="undirected">
<node id="Ada"><data key="d0">UNKNOWN</data><data key="d1">One.&lt;SEP&gt;Two.</data><data key="d2">c1</data></node>
<node id="Byron"><data key="d0">person</data><data key="d2">manual_creation</data></node>
<edge source="Ada" target="Byron"><data key="d3">2.0</data><data key="d4">is &lt;his&gt;</data>
<data key="d5">family, people</data><data key="d6">c1&lt;SEP&gt;c2</data></edge>
</graph></graphml>
"""


def write_lightrag(folder: Path) -> Path:
    rows = {
        "c1": {
            "content": "Ada Byron.",
            "tokens": 3,
            "chunk_order_index": 0,
            "full_doc_id": "d",
            "file_path": "a/b.txt",
        },
        "c2": {"content": "More.", "tokens": 1, "chunk_order_index": 1, "full_doc_id": "d", "file_path": "a/b.txt"},
    }
    (folder / "kv_store_text_chunks.json").write_text(json.dumps(rows))
    (folder / "graph_chunk_entity_relation.graphml").write_text(LIGHTRAG_GRAPH)
    return folder


def test_lightrag_comes_with_all_chunks_that_its_lists_name(tmp_path: Path) -> None:
    heard, listener = _events()
    write_lightrag(tmp_path)
    (tmp_path / "kv_store_entity_chunks.json").write_text('{"Ada": {"chunk_ids": ["c1", "c2"]}}')
    status = {"d": {"status": "processed"}, "e": {"status": "failed", "file_path": "bad.pdf"}}
    (tmp_path / "kv_store_doc_status.json").write_text(json.dumps(status))
    document, apart = importing.read(tmp_path, uri="l", listener=listener)
    assert (document.uri, document.title, document.metadata) == ("l#d", "b.txt", {"file_path": "a/b.txt"})
    ada, link = (
        Mention("Ada", "", "One.\nTwo."),
        Link("Ada", "Byron", "is <his>", ("family", "people"), 1, target_type="person"),
    )
    assert document.chunks == (Chunk("Ada Byron.", 0, 3, (ada,), (link,)), Chunk("More.", 10, 1, (ada,), (link,)))
    assert [m.name for m in apart.chunks[0].mentions] == ["Byron"]
    told = [event.what for event in heard if isinstance(event, Noted)]
    assert told[0].startswith("1 entity and 0 relations")
    assert told[1].startswith("1 document had not been processed by LightRAG to the end (bad.pdf)")


def test_a_folder_without_lightrags_files_is_unreadable(tmp_path: Path) -> None:
    write_lightrag(tmp_path)
    (tmp_path / "graph_chunk_entity_relation.graphml").unlink()
    with pytest.raises(
        UnreadableFile, match=r"has no graph_chunk_entity_relation\.graphml.*in a database cannot be imported"
    ):
        list(importing.read(tmp_path))


def test_texts_are_in_memory_document_by_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_object, "_PIECE", 2**16)
    text = "word " * 4000
    write_lightrag(tmp_path)
    with (tmp_path / "kv_store_text_chunks.json").open("w") as file:
        rows = (f'"c{n}": {json.dumps({"content": f"{text} {n}", "full_doc_id": f"d{n}"})}' for n in range(600))
        file.write("{" + ",\n".join(rows) + "}")
    size = (tmp_path / "kv_store_text_chunks.json").stat().st_size
    tracemalloc.start()
    number = sum(1 for _ in importing.read(tmp_path, listener=lambda _: None))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert number == 601
    assert peak < size / 4 < 2**23


def test_tables_are_in_memory_batch_by_batch(tmp_path: Path) -> None:
    write_graphrag(tmp_path)
    texts = ["".join(chr(97 + (n * k) % 26) for k in range(5000)) for n in range(3000)]
    rows = ({"id": f"u{n}", "text": text, "document_id": f"d{n}"} for n, text in enumerate(texts))
    write_table(tmp_path, "text_units", rows)
    before, most = pyarrow.total_allocated_bytes(), 0
    for _ in importing.read(tmp_path, listener=lambda _: None):
        most = max(most, pyarrow.total_allocated_bytes() - before)
    assert most < sum(map(len, texts)) / 2


# --- graphs without texts -----------------------------------------------------------------------------


def _said_by(read: Iterable[Document]) -> tuple[str, list[Mention], list[Link]]:
    made = [chunk for document in read for chunk in document.chunks]
    mentions = [mention for chunk in made for mention in chunk.mentions]
    return "\n".join(chunk.text for chunk in made), mentions, [link for chunk in made for link in chunk.links]


def _graph() -> Any:
    graph = networkx.MultiDiGraph(name="people")
    graph.add_node(1, name="Ada", type="person", description="A countess.")
    graph.add_node("Byron")
    graph.add_edge(1, "Byron", relation="daughter of", weight=7.4, keywords=["family"])
    graph.add_edge("Byron", 1, description="Byron never met Ada again.", label="left", weight=-40)
    return graph


EXPECTED = (
    "Ada (person): A countess.\nByron.\nAda daughter of Byron.\nByron left Ada: Byron never met Ada again.",
    [Mention("Ada", "person", "A countess."), Mention("Byron")],
    [
        Link("Ada", "Byron", "daughter of", ("daughter of", "family"), 7.4, source_type="person"),
        Link("Byron", "Ada", "Byron never met Ada again.", ("left",), 5, target_type="person"),
    ],
)


def test_a_networkx_graph_is_stated_in_sentences() -> None:
    heard, listener = _events()
    read = list(importing.from_networkx(_graph(), "people.gpickle", listener))
    assert [(document.uri, document.title) for document in read] == [("networkx:people.gpickle#1", "people")]
    assert _said_by(read) == EXPECTED
    assert heard == [Noted("1 edge had a weight that is no number above 0, up to a million, and has the usual one.")]


def test_graphml_is_stated_in_sentences(tmp_path: Path) -> None:
    graph = _graph()
    for *_, values in graph.edges(data=True):
        values["keywords"] = ", ".join(values.get("keywords", ()))
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    assert _said_by(importing.read(tmp_path / "g.graphml", listener=lambda _: None)) == EXPECTED


def test_graphml_has_defaults_and_is_refused_when_it_is_broken(tmp_path: Path) -> None:
    key = '<key id="t" for="node" attr.name="type" attr.type="string"><default>person</default></key>'
    whole = f'<graphml>{key}<graph><node id="Ada"/><edge source="Ada" target="Nowhere"/></graph></graphml>'
    (tmp_path / "g.graphml").write_text(whole)
    _, mentions, links = _said_by(importing.read(tmp_path / "g.graphml"))
    assert (mentions, links) == ([Mention("Ada", "person")], [Link("Ada", "Nowhere", source_type="person")])
    (tmp_path / "g.graphml").write_text(whole[:-9])
    with pytest.raises(UnreadableFile, match=r"g\.graphml is not GraphML"):
        list(importing.read(tmp_path / "g.graphml"))


BOMB = '<!ENTITY a "%s">' % ("a" * 60) + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise("abcdefg")
)
ELSEWHERE = '<!ENTITY g SYSTEM "file:///etc/hostname">'


@pytest.mark.parametrize("entities", [BOMB, ELSEWHERE], ids=["entities in entities", "entities in other files"])
def test_graphml_whose_entities_are_hostile_is_unreadable(tmp_path: Path, entities: str) -> None:
    node = '<key id="k" for="node" attr.name="name"/><graph><node id="1"><data key="k">&g;</data></node></graph>'
    (tmp_path / "g.graphml").write_text(f"<!DOCTYPE x [{entities}]><graphml>{node}</graphml>")
    with pytest.raises(UnreadableFile, match=r"g\.graphml is not GraphML"):
        list(importing.read(tmp_path / "g.graphml"))


TRIPLES = {
    "bare.csv": 'Ada,lived in,London\n\nAda,met,"Babbage, Charles"\n',
    "bare.tsv": "Ada\tlived in\tLondon\nAda\tmet\tBabbage, Charles\n",
    "named.csv": "Subject;Predicate;Object\nAda;lived in;London\nAda;met;Babbage, Charles\n",
}


@pytest.mark.parametrize("name", TRIPLES)
def test_a_table_of_triples_is_stated_in_sentences(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TRIPLES[name])
    [document] = importing.read(tmp_path / name, uri=name)
    text, mentions, links = _said_by([document])
    assert (document.uri, document.title) == (f"{name}#1", name)
    assert text == "Ada lived in London.\nAda met Babbage, Charles."
    assert mentions == []
    assert links == [  # the first keyword is the type
        Link("Ada", "London", "lived in", ("lived in",)),
        Link("Ada", "Babbage, Charles", "met", ("met",)),
    ]


def test_a_table_may_have_types_keywords_descriptions_and_weights(tmp_path: Path) -> None:
    header = "source,target,relation,description,keywords,weight,source_type,target_type"
    (tmp_path / "t.csv").write_text(f'{header}\nAda,London,lived in,She lived there.,"home, city",9,person,place\n')
    text, _, [link] = _said_by(importing.read(tmp_path / "t.csv"))
    assert text == "Ada lived in London: She lived there."
    assert link == Link("Ada", "London", "She lived there.", ("lived in", "home", "city"), 9, 5, (), "person", "place")


def test_rows_that_cannot_be_used_are_refused_by_their_lines(tmp_path: Path) -> None:
    heard, listener = _events()
    file = tmp_path / "t.csv"
    file.write_text("source,predicate,target\nAda,lived in,London\nAda,met,\na,b,c,d\nAda,met,Byron\n")
    assert len(_said_by(importing.read(file, listener=listener))[2]) == 2
    assert [event.place for event in heard if isinstance(event, Refused)] == [f"{file}, line 3", f"{file}, line 4"]
    with pytest.raises(UnreadableFile, match="line 3: it has no subject or no object"):
        list(importing.read(file))
    file.write_text("a,b\n")
    with pytest.raises(UnreadableFile, match="has 2 columns, and none of them is called source or target"):
        list(importing.read(file))


TURTLE = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:ada a :Person ; rdfs:label "Ada Lovelace"@en, "Ada de Lovelace"@fr ; rdfs:comment "A countess." ;
    :livedIn :London_City ; :born 1815 ; :knows [ :said "hello" ] .
<http://other.org/London_City> :twinOf :London_City .
:livedIn rdfs:label "lived in" .
"""


RDFS = "<http://www.w3.org/2000/01/rdf-schema#"
N_TRIPLES = f"""
<http://example.org/ada> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Person> .
<http://example.org/ada> <http://example.org/livedIn> <http://example.org/London_City> .
<http://example.org/ada> {RDFS}label> "Ada de Lovelace"@fr .
<http://example.org/ada> {RDFS}label> "Ada Lovelace"@en .
<http://example.org/ada> {RDFS}comment> "A countess." .
<http://example.org/ada> <http://example.org/born> "1815"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://example.org/ada> <http://example.org/knows> _:somebody .
_:somebody <http://example.org/said> "hello" .
<http://other.org/London_City> <http://example.org/twinOf> <http://example.org/London_City> .
<http://example.org/livedIn> {RDFS}label> "lived in" .
"""


@pytest.mark.parametrize(("name", "content"), [("g.ttl", TURTLE), ("g.nt", N_TRIPLES)])
def test_rdf_is_stated_in_sentences(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    text, mentions, links = _said_by(importing.read(tmp_path / name))
    assert Mention("Ada Lovelace", "person", "A countess.") in mentions
    assert Mention("Ada Lovelace", "person", "born: 1815") in mentions
    assert Mention("Ada Lovelace", "person", "label: Ada de Lovelace") in mentions
    assert Link("Ada Lovelace", "London City", "lived in", ("lived in",), source_type="person") in links
    assert Link("London City (http://other.org/London_City)", "London City", "twin of", ("twin of",)) in links
    [knows] = [link for link in links if link.description == "knows"]
    assert knows.target.startswith("blank node")
    assert f"{knows.target} said: hello." in text
    assert "Ada Lovelace lived in London City." in text
    assert len(links) == 3


def test_lines_of_n_triples_that_cannot_be_read_are_refused_once(tmp_path: Path) -> None:
    heard, listener = _events()
    file = tmp_path / "g.nt"
    file.write_bytes(b"<urn:a> <urn:p> <urn:b> .\nnonsense\n\xff\n# a comment\n<urn:b> <urn:p> <urn:c> .\n")
    assert len(_said_by(importing.read(file, listener=listener))[2]) == 2
    assert [event.place for event in heard if isinstance(event, Refused)] == [f"{file}, line 2", f"{file}, line 3"]
    with pytest.raises(UnreadableFile, match="line 2"):
        list(importing.read(file))
    (tmp_path / "g.ttl").write_text("nonsense")
    with pytest.raises(UnreadableFile, match=r"g\.ttl is not Turtle"):
        list(importing.read(tmp_path / "g.ttl"))


# --- LangChain ----------------------------------------------------------------------------------------


@dataclass
class Node:
    """As langchain_community.graphs.graph_document has it."""

    id: str | int
    type: str = "Node"
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass
class Relationship:
    source: Node
    target: Node
    type: str
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass
class GraphDocument:
    nodes: list[Node]
    relationships: list[Relationship]
    source: LangChainDocument


def test_langchains_graph_documents_keep_their_texts() -> None:
    ada, acme = Node("Ada", "Person", {"description": "A countess."}), Node("Acme")
    works = Relationship(ada, acme, "WORKS_AT", {"weight": 3})
    told = Relationship(ada, acme, "OWNS", {"description": "She owns half of it."})
    page = LangChainDocument("Ada works at Acme.", metadata={"source": "a.txt", "on": Path("x")}, id="7")
    bare = GraphDocument([ada], [works], LangChainDocument(""))
    first, second = importing.from_langchain([GraphDocument([ada, acme], [works, told], page), bare], "lc")
    assert (first.uri, first.title, first.metadata) == ("langchain:lc#7", "a.txt", {"source": "a.txt", "on": "x"})
    mentions = Mention("Ada", "Person", "A countess."), Mention("Acme")
    links = (
        Link("Ada", "Acme", "works at", ("works at",), 3, source_type="Person"),
        Link("Ada", "Acme", "She owns half of it.", ("owns",), source_type="Person"),
    )
    assert first.chunks == (Chunk("Ada works at Acme.", mentions=mentions, links=links),)
    assert (second.uri, second.chunks[0].text) == (
        "langchain:lc#2",
        "Ada (Person): A countess.\nAda and Acme: works at.",
    )


# --- our own form, and which format it is -------------------------------------------------------------


def test_our_own_documents_keep_their_uris(tmp_path: Path) -> None:
    heard, listener = _events()
    file = tmp_path / "d.jsonl.gz"
    rows = ['{"uri": "notes/a.md", "text": "Ada."}', '{"id": 3, "text": "Byron."}', "[]"]
    file.write_bytes(gzip.compress("\n".join(rows).encode()))
    read = importing.read(file, uri="d", listener=listener)
    assert [document.uri for document in read] == ["notes/a.md", "d#3"]
    assert [event.place for event in heard if isinstance(event, Refused)] == [f"{file}, line 3"]


def test_without_a_uri_the_format_and_the_path_are_it(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Ada,lived in,London\n")
    [document] = importing.read(tmp_path / "t.csv")
    assert document.uri == f"triples:{(tmp_path / 't.csv').resolve().as_posix()}#1"


def test_the_command_knows_every_format() -> None:
    assert get_args(FormatName) == tuple(importing.FORMATS)


def test_the_format_is_told_from_what_is_there(tmp_path: Path) -> None:
    write_graphrag(tmp_path / "g" / "output")
    (tmp_path / "l").mkdir()
    write_lightrag(tmp_path / "l")
    (tmp_path / "x.TTL").touch()
    (tmp_path / "x.bin").touch()
    found = [importing.guess(tmp_path / name) for name in ("g", "g/output", "l", "x.TTL")]
    assert [(one.format.name, one.why) for one in found] == [
        ("graphrag", "it has output/entities.parquet and output/relationships.parquet"),
        ("graphrag", "it has entities.parquet and relationships.parquet"),
        ("lightrag", "it has kv_store_text_chunks.json"),
        ("rdf", "its name ends in .ttl"),
    ]
    with pytest.raises(UnreadableFile, match=r"x\.bin has none of the extensions \.jsonl"):
        importing.guess(tmp_path / "x.bin")
    with pytest.raises(UnreadableFile, match="has none of the files that identify its format: entities"):
        importing.guess(tmp_path)
    with pytest.raises(ConfigError, match="does not exist"):
        importing.guess(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="there is no format neo4j"):
        importing.read(tmp_path, "neo4j")

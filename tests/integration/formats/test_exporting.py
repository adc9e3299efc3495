"""Exports are read by the libraries that others read them with."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx
import psycopg
import pyarrow.parquet
import pytest
import rdflib

from tests.unit.formats.test_exporting import HOSTILE, kept
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention
from trueweave.errors import ConfigError, DatabaseError
from trueweave.formats.exporting.rdf import VOCABULARY

TW = rdflib.Namespace(VOCABULARY)
NAMES = [name for name in HOSTILE if re.sub(r"[\x00-\x1f\ud800-\udfff]", "", name)]


@pytest.fixture
async def filled(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    """A workspace whose names, types, keywords and descriptions are hostile, with communities and reports."""
    documents = []
    for n, name in enumerate(NAMES):
        links = (Link(name, "Hub", f"{name} holds {n}", (f"key {name}",), 1 + n % 10),)
        text = re.sub(r"[\x00\ud800-\udfff]", "", f"{name} is of the Hub.")
        documents.append(
            Document(f"note:{n}", (Chunk(text, mentions=(Mention(name, f"t{name}", name),), links=links),))
        )
    await trueweave.add_documents(documents)
    await trueweave.communities.find()
    await trueweave.communities.write_reports()
    return trueweave


async def _rows(trueweave: AsyncTrueweave, folder: Path) -> dict[str, list[dict[str, Any]]]:
    await trueweave.graph.export(folder / "graph.json")
    rows: dict[str, list[dict[str, Any]]] = json.loads((folder / "graph.json").read_bytes())
    return rows


def _shown(text: str) -> str:
    """A text as XML gives it back."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", text)


async def test_json_has_all_rows(filled: AsyncTrueweave, tmp_path: Path) -> None:
    rows = await _rows(filled, tmp_path)
    assert len(rows["entities"]) == len(await filled.graph.entities(limit=1000)) > len(NAMES)
    assert sum(row["weight"] for row in rows["relations"]) == sum(1 + n % 10 for n in range(len(NAMES)))
    assert any(row["title"] for row in rows["communities"])


async def test_networkx_reads_graphml(filled: AsyncTrueweave, tmp_path: Path) -> None:
    rows = await _rows(filled, tmp_path)
    await filled.graph.export(tmp_path / "graph.graphml")
    graph = networkx.read_graphml(tmp_path / "graph.graphml")
    for row in rows["entities"]:
        node = graph.nodes[row["id"]]
        assert (node["name"], node["type"], node["mentions"]) == (_shown(row["name"]), row["type"], row["mentions"])
        assert node.get("description", "") == _shown(row["description"])
    for row in rows["relations"]:
        edge = graph.edges[row["source"], row["target"]]
        assert (edge["weight"], edge["keywords"]) == (row["weight"], ", ".join(row["keywords"]))
    assert (len(graph.nodes), len(graph.edges)) == (len(rows["entities"]), len(rows["relations"]))
    assert ElementTree.parse(tmp_path / "graph.graphml").getroot().tag.endswith("graphml")


async def test_a_networkx_graph_is_made_in_memory(filled: AsyncTrueweave, tmp_path: Path) -> None:
    rows, graph = await _rows(filled, tmp_path), await filled.graph.to_networkx()
    assert graph.is_directed()
    assert {id_: node["name"] for id_, node in graph.nodes.items()} == {r["id"]: r["name"] for r in rows["entities"]}
    assert {ends: edge["weight"] for ends, edge in graph.edges.items()} == {
        (row["source"], row["target"]): row["weight"] for row in rows["relations"]
    }


@pytest.mark.parametrize("ending", ["nt", "ttl"])
async def test_rdflib_reads_triples(filled: AsyncTrueweave, tmp_path: Path, ending: str) -> None:
    rows = await _rows(filled, tmp_path)
    await filled.graph.export(tmp_path / f"graph.{ending}")
    graph = rdflib.Graph().parse(tmp_path / f"graph.{ending}")
    for row in rows["entities"]:
        subject = rdflib.URIRef(f"urn:uuid:{row['id']}")
        assert str(graph.value(subject, rdflib.RDFS.label)) == row["name"]
        assert str(graph.value(subject, rdflib.RDFS.comment) or "") == row["description"]
        assert {str(one) for one in graph.objects(subject, TW.aliases)} == set(row["aliases"])
    assert {(str(s), str(o)) for s, o in graph.subject_objects(TW.relatedTo)} == {
        (f"urn:uuid:{row['source']}", f"urn:uuid:{row['target']}") for row in rows["relations"]
    }
    for row in rows["relations"]:
        relation = rdflib.URIRef(f"urn:uuid:{row['id']}")
        assert {str(one) for one in graph.objects(relation, TW.keywords)} == set(row["keywords"])
        assert graph.value(relation, TW.weight) == rdflib.Literal(row["weight"])
    assert len(set(graph.subjects(rdflib.RDF.type, TW.Community))) == len(rows["communities"])


async def test_pyarrow_reads_parquet(filled: AsyncTrueweave, tmp_path: Path) -> None:
    rows, folder = await _rows(filled, tmp_path), tmp_path / "graph.parquet"
    for _ in range(2):  # the second is written over the first
        await filled.graph.export(folder)
        assert sorted(file.name for file in folder.glob("*")) == [
            "communities.parquet",
            "entities.parquet",
            "relations.parquet",
        ]
    assert pyarrow.parquet.read_table(folder / "entities.parquet").to_pylist() == rows["entities"]
    assert pyarrow.parquet.read_table(folder / "relations.parquet").to_pylist() == rows["relations"]
    found = pyarrow.parquet.read_table(folder / "communities.parquet").to_pylist()
    assert [row | {"findings": json.loads(row["findings"])} for row in found if row["findings"]] == [
        row for row in rows["communities"] if row["findings"]
    ]


def statements(script: str) -> list[str]:
    """The statements of a script, split where cypher-shell splits them: at a semicolon outside of strings."""
    part = re.compile(r"'(?:[^'\\]|\\[\\'\"nrtbf])*'|[^'\"`;\\]+|;")
    found, place = [""], 0
    while place < len(script):
        token = part.match(script, place)
        assert token, f"neither a string nor plain Cypher: {script[place : place + 40]!r}"
        if token[0] == ";":
            found.append("")
        else:
            found[-1] += token[0]
        place = token.end()
    assert found.pop().strip() == "", "the last statement has no end"
    return [one.strip() for one in found]


async def test_a_cypher_script_has_statements_that_end(filled: AsyncTrueweave, tmp_path: Path) -> None:
    rows = await _rows(filled, tmp_path)
    await filled.graph.export(tmp_path / "graph.cypher")
    script = (tmp_path / "graph.cypher").read_text("utf-8")
    found = statements(script)
    assert [one.split()[0] for one in found] == ["CREATE"] * 2 + ["UNWIND"] * 3
    plain = [re.sub(r"'(?:[^'\\]|\\.)*'", "''", one) for one in found]
    assert not any(re.search(r"DELETE|//|\\|`", one) for one in plain), "only values come from documents"
    assert all(one.count("{id: '") == len(rows[section]) for section, one in zip(
        ("communities", "entities", "relations"), plain[2:], strict=True
    ))  # fmt: skip
    assert not re.search(r"\\[uU]", script)


async def test_neo4j_runs_the_script(filled: AsyncTrueweave, tmp_path: Path, neo4j: Any) -> None:
    rows = await _rows(filled, tmp_path)
    await filled.graph.export(tmp_path / "graph.cypher")
    for _ in range(2):
        for statement in statements((tmp_path / "graph.cypher").read_text("utf-8")):
            neo4j.execute_query(statement)
    nodes, _, _ = neo4j.execute_query(
        "MATCH (e:Entity:ExportedEntity) WHERE e.id IN $ids RETURN e.id AS id, e.name AS name, e.description AS said",
        ids=[row["id"] for row in rows["entities"]],
    )
    assert {row["id"]: (row["name"], row["said"]) for row in nodes} == {
        row["id"]: (kept(row["name"]), kept(row["description"])) for row in rows["entities"]
    }
    edges, _, _ = neo4j.execute_query(
        "MATCH (e:ExportedEntity)-[r:RELATED_TO]->(:Entity) WHERE e.id IN $ids RETURN r.id AS id, r.weight AS weight",
        ids=[row["id"] for row in rows["entities"]],
    )
    assert {row["id"]: row["weight"] for row in edges} == {row["id"]: row["weight"] for row in rows["relations"]}


@pytest.mark.parametrize("name", ["graph.json", "graph.parquet", "graph.ttl", "graph.jsonl"])
async def test_an_export_that_fails_leaves_nothing(filled: AsyncTrueweave, url: str, tmp_path: Path, name: str) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as owner:
        await owner.execute("ALTER TABLE trueweave.relation RENAME COLUMN weight TO mass")
        await owner.execute("ALTER TABLE trueweave.chunk RENAME COLUMN text TO said")
    with pytest.raises(DatabaseError, match="does not exist"):
        await filled.graph.export(tmp_path / name)
    assert list((tmp_path / ".").glob("*")) == []


async def test_a_file_without_a_known_ending_is_refused(trueweave: AsyncTrueweave, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"graph\.txt has none of the extensions \.jsonl, \.json, \.graphml"):
        await trueweave.graph.export(tmp_path / "graph.txt")

"""Pictures: where things stand, and that no name or text can do any harm in a page or drawing."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from uuid import UUID

import numpy as np
import pytest

from trueweave import Entity, GraphPicture, Passage, Relation
from trueweave.errors import ConfigError
from trueweave.formats.pictures.colours import OTHER, PALETTE, colours
from trueweave.formats.pictures.layout import Box, labelled, placed
from trueweave.formats.pictures.page import excerpt

NASTY = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"quoted\" & 'quoted'",
    "]]><!-- $data ${x} $$ %s {0} --> \\u003c",
    "line\u2028separators\u2029 and \x07 bells",
    "名前 with 文字, عربى and 🧵",
)


def entity(n: int, name: str, type_: str = "person", degree: int = 1) -> Entity:
    return Entity(UUID(int=n), name, type_, f"about {name}", (f"also {name}",), n + 1, (0,) * 9, degree)


def relation(n: int, a: Entity, b: Entity, said: str = "knows") -> Relation:
    return Relation(UUID(int=1000 + n), a.id, b.id, a.name, b.name, said, ("word",), 3, 1, (0,) * 9)


def nasty() -> GraphPicture:
    entities = tuple(entity(n, name, name) for n, name in enumerate(NASTY))
    relations = tuple(relation(n, entities[0], one, NASTY[n]) for n, one in enumerate(entities[1:], 1))
    passages = {
        one.id: (Passage(UUID(int=n), f"{NASTY[n]}.md", NASTY[n], f"{NASTY[n]} is told of.", 0, 0.0),)
        for n, one in enumerate(entities)
    }
    return GraphPicture(NASTY[0], entities, relations, frozenset({entities[0].id}), passages, NASTY[1])


class Elements(HTMLParser):
    """The elements of a page, and the text in its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.opened: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.opened:
            self.texts.setdefault(self.opened[-1][0], []).append(data)


def test_no_name_becomes_an_element_of_the_page() -> None:
    page = Elements(nasty().html())
    plain = Elements(GraphPicture("plain", (entity(1, "Ada"),), ()).html())
    assert [tag for tag, _ in page.opened] == [tag for tag, _ in plain.opened]
    assert [tag for tag, _ in page.opened].count("script") == 2
    [data] = [text for text in page.texts["script"] if text.startswith('{"title"')]
    read = json.loads(data)
    assert [node["name"] for node in read["nodes"]] == list(NASTY)
    assert read["note"] == NASTY[1]
    assert read["nodes"][2]["passages"] == [[NASTY[2], f"{NASTY[2]} is told of."]]
    assert "".join(page.texts["title"]).strip() == NASTY[0]


def test_a_page_asks_nobody_for_anything() -> None:
    page = nasty().html()
    parsed = Elements(page)
    assert not any({"src", "href"} & attributes.keys() for _, attributes in parsed.opened)
    [policy] = [a["content"] for tag, a in parsed.opened if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy
    assert policy.startswith("default-src 'none'")
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert "fetch(" not in page
    assert "innerHTML" not in page


def test_a_notebook_shows_it_in_a_frame_of_its_own() -> None:
    [(tag, attributes)] = Elements(nasty()._repr_html_()).opened
    assert (tag, attributes["sandbox"], attributes["title"]) == ("iframe", "allow-scripts", NASTY[0])
    assert attributes["srcdoc"] == nasty().html()
    assert nasty()._repr_svg_().startswith("<svg ")


def test_a_drawing_is_xml_with_its_text_as_text() -> None:
    entities = tuple(entity(n, name) for n, name in enumerate(NASTY) if "\x07" not in name)
    relations = tuple(relation(n, entities[0], one) for n, one in enumerate(entities[1:]))
    drawing = GraphPicture(NASTY[1], entities, relations, frozenset({entities[0].id})).svg()
    root = ET.fromstring(drawing)
    assert root.attrib["width"] == "85mm"
    texts = [str(one.text) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "\"quoted\" & 'quoted'" in texts
    assert {one.tag.rpartition("}")[2] for one in root.iter()} == {"svg", "style", "title", "path", "circle", "text"}


def test_controls_do_not_break_a_drawing() -> None:
    ET.fromstring(nasty().svg())


def test_it_is_saved_as_its_name_ends(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("pictures")
    picture = GraphPicture("one", (entity(1, "Ada"),), ())
    picture.save(folder / "a.HTML")
    picture.save(str(folder / "a.svg"))
    assert (folder / "a.HTML").read_text("utf-8") == picture.html()
    assert (folder / "a.svg").read_text("utf-8") == picture.svg()
    with pytest.raises(ConfigError, match=r"a\.png has neither the extension \.html nor \.svg"):
        picture.save(folder / "a.png")
    with pytest.raises(ConfigError, match="cannot write"):
        picture.save(folder / "none" / "a.svg")


def test_the_most_frequent_types_have_colours_of_their_own() -> None:
    types = [f"type {n:02d}" for n in range(9)]
    entities = [entity(n, "x", type_) for n, type_ in enumerate([*types, types[8], ""])]
    found = colours(entities)
    assert len(found) == len(set(found.values())) == len(PALETTE)
    assert found["type 08"] == PALETTE[0]
    assert OTHER not in found.values()


# --- layout ---------------------------------------------------------------------------------------------


def test_equal_graphs_have_equal_pictures_inside_their_frame() -> None:
    edges = [(n, (n * 7 + 3) % 60, 1.0 + n) for n in range(60)]
    at = placed(60, edges, 400, 300)
    assert np.array_equal(at, placed(60, edges, 400, 300))
    assert (at >= -1e-6).all()
    assert (at <= np.array([400, 300]) + 1e-6).all()


def test_what_is_related_is_nearer_than_what_is_not() -> None:
    two = [(a, b, 5.0) for part in (0, 8) for a in range(part, part + 8) for b in range(a + 1, part + 8)]
    at = placed(16, [*two, (0, 8, 1.0)], 300, 300)
    away = np.sqrt(((at[:, None] - at[None]) ** 2).sum(axis=2))
    assert away[:8, :8].max() < away[1:8, 9:].min()


def legends(picture: GraphPicture) -> tuple[list[str], list[str]]:
    """The legends of the page and of the drawing."""
    [data] = [text for text in Elements(picture.html()).texts["script"] if text.startswith('{"title"')]
    drawn = re.findall(r'<text class="l"[^>]*>([^<]*)</text>', picture.svg())
    return [name for name, _ in json.loads(data)["legend"]], drawn


@pytest.mark.parametrize(
    ("types", "legend"),
    [
        (["", ""], []),
        (["person", ""], ["person", "no type"]),
        (["other", "entity", ""], ["entity", "other", "no type"]),
        ([f"type {n}" for n in range(8)], [*(f"type {n}" for n in range(7)), "other types"]),
    ],
)
def test_page_and_drawing_have_one_legend_and_none_without_types(types: list[str], legend: list[str]) -> None:
    picture = GraphPicture("some", tuple(entity(n, f"e{n}", type_) for n, type_ in enumerate(types)), ())
    assert legends(picture) == (legend, legend)


def test_only_relations_that_say_something_have_arrows() -> None:
    ada, byron = entity(1, "Ada"), entity(2, "Byron")
    knows = relation(1, ada, byron)
    together = replace(knows, description="", keywords=())
    for one, directed in ((knows, True), (together, False)):
        picture = GraphPicture("some", (ada, byron), (one,))
        assert ('class="a"' in picture.svg()) is directed
        assert f'"directed":{str(directed).lower()}' in picture.html()


def test_no_two_things_stand_on_each_other() -> None:
    star = [(0, n, 1.0) for n in range(1, 80)]
    at = placed(80, star, 400, 300)
    away = np.sqrt(((at[:, None] - at[None]) ** 2).sum(axis=2)) + np.eye(80) * 1e9
    assert away.min() > 5


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_few_or_none_that_are_related_have_places_too(number: int) -> None:
    assert np.isfinite(placed(number, [], 100, 100)).all()
    assert np.isfinite(placed(number, [(0, 0, 1.0)], 100, 100)).all()


def test_names_cover_neither_each_other_nor_a_point() -> None:
    at = [(float(x), float(y)) for x in range(0, 100, 10) for y in range(0, 100, 10)]
    boxes = [[Box(x + 3, y - 4, x + 40, y + 4), Box(x - 40, y - 4, x - 3, y + 4)] for x, y in at]
    chosen = labelled(at, boxes)
    put = [boxes[n][choice] for n, choice in enumerate(chosen) if choice is not None]
    assert 0 < len(put) < len(at)
    assert not any(a.meets(b) for n, a in enumerate(put) for b in put[:n])
    assert not any(box.meets(Box(x - 1, y - 1, x + 1, y + 1)) for box in put for x, y in at)


def test_an_excerpt_begins_with_the_sentence_that_has_the_name() -> None:
    text = "Nothing here. " * 40 + "Then Ada came. " + "More of it. " * 60
    assert excerpt(text, ["ADA"]).startswith("… Then Ada came. More of it.")
    assert excerpt("Short.", ["x"]) == "Short."
    assert len(excerpt("word " * 1000, ["none"])) < 400
    assert "Ada" in excerpt("word " * 1000 + "Ada " + "word " * 1000, ["Ada"])

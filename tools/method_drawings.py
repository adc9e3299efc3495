"""What each retrieval method does, drawn. The numbers are those of the steps in docs/explanation/methods.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from drawing import Drawing, Kind, Node


def legend() -> Drawing:
    """The symbols."""
    d = Drawing(
        306,
        "The symbols of the drawings: question, chunk, chunk returned, entity, relation, name, community, "
        "report, keyword, call to a language model, and four kinds of lines.",
    )
    d.question(40, 36)
    d.chunk(40, 92)
    d.chunk(40, 144, found=True)
    d.entity(40, 188)
    d.line(d.entity(26, 224), d.entity(58, 224))
    d.name(40, 260)
    for y, text in (
        (42, "question"),
        (98, "chunk"),
        (150, "chunk returned"),
        (194, "entity"),
        (230, "relation"),
        (266, "name in texts"),
    ):
        d.text(78, y, text)
    d.community(290, 36, 54, 36)
    d.report(290, 92)
    d.tag(290, 144, "word", 54)
    d.model(290, 188)
    for y, text in ((42, "community"), (98, "report"), (150, "keyword"), (194, "model call")):
        d.text(330, y, text)
    kinds: Sequence[tuple[int, Kind, str]] = (
        (226, "vector", "similar vectors"),
        (248, "words", "same words"),
        (270, "graph", "in the graph"),
        (292, "flow", "leads to"),
    )
    for y, kind, text in kinds:
        d.way([(262, y - 6), (316, y - 6)], kind, arrow=kind == "flow")
        d.text(330, y, text)
    return d


def auto() -> Drawing:
    d = Drawing(
        220,
        "auto: without vectors it uses keyword; if at least 60 % of the chunks are about one subject and the question "
        "contains a name it uses weave, otherwise fuse.",
    )
    asked = d.question(46, 60)
    first = d.box(176, 60, 140, 60, "Vectors?\nin the index")
    second = d.box(384, 60, 160, 60, "Names?\nchunks and question")
    d.line(asked, first, "flow", arrow=True)
    d.line(first, second, "flow", arrow=True)
    d.text(274, 50, "yes", "small", "middle")
    for x, name in ((176, "keyword"), (320, "fuse"), (424, "weave")):
        d.box(x, 184, 92, 36, name)
    for x, answer in ((176, "no"), (320, "no"), (424, "yes")):
        d.way([(x, 94), (x, 162)], "flow")
        d.text(x + 8, 134, answer, "small")
    d.step(176, 16, 1)
    d.step(384, 16, 2)
    return d


def naive() -> Drawing:
    d = Drawing(
        210,
        "naive: the chunks whose vectors are nearest to the vector of the question.",
    )
    asked = d.question(50, 105)
    near = [d.chunk(x, y, found=True) for x, y in ((150, 60), (160, 150), (205, 105))]
    for x, y in ((320, 64), (310, 165), (376, 110), (436, 64), (430, 160)):
        d.chunk(x, y)
    d.lines(asked, near, "vector")
    d.curve((248, 16), (290, 105), (248, 194))
    d.text(284, 26, "farther away", "small soft")
    d.step(98, 60, 1)
    return d


def keyword() -> Drawing:
    d = Drawing(
        210,
        "keyword: the chunks that contain the words of the question, rare words counting most.",
    )
    asked = d.question(50, 105)
    words = [d.tag(160, y, text, 84) for y, text in ((55, "Halden"), (105, "lease"), (155, "year"))]
    d.lines(asked, words, "weak")
    chunks = [
        d.chunk(x, y, found=found)
        for x, y, found in ((310, 50, True), (390, 100, True), (310, 165, False), (430, 170, False))
    ]
    d.lines(words[0], chunks[:2], "words")
    d.lines(words[1], chunks[:2], "words")
    d.line(words[2], chunks[2], "words")
    d.text(160, 30, "rare: counts most", "small soft", "middle")
    d.step(98, 66, 1)
    d.step(240, 130, 2)
    return d


def fuse() -> Drawing:
    d = Drawing(
        270,
        "fuse: the lists of naive and keyword are added up by rank, so that chunks high in both come first.",
    )
    asked = d.question(44, 135)
    lists = _columns(d, (("naive", "ABCD", 140), ("keyword", "CAEF", 240)))
    d.line(asked, lists[0][0], "vector")
    d.way([(70, 150), (90, 246), (240, 246), (240, 236)], "words")
    _column(d, 424, "fuse", "ACBE", found=True)
    d.way([(264, 135), (400, 135)], "flow")
    d.text(332, 122, "add up ranks", "small", "middle")
    d.step(90, 70, 1)
    d.step(332, 90, 2)
    return d


def local() -> Drawing:
    d = Drawing(
        250,
        "local: keywords of the question lead to similar entities, these to the chunks that mention them, and"
        " of those the most similar to the question are returned.",
    )
    asked = d.question(44, 125)
    words = [d.tag(136, y, text, 88) for y, text in ((75, "keyword"), (175, "keyword"))]
    d.lines(asked, words, "weak")
    near = [d.entity(250, y, near=True) for y in (60, 110, 185)]
    other = d.entity(290, 150)
    d.line(near[1], other)
    d.lines(words[0], near[:2], "vector")
    d.line(words[1], near[2], "vector")
    chunks = [d.chunk(380, y, found=found) for y, found in ((40, True), (95, False), (150, True), (205, False))]
    for entity, mentioned in ((0, 0), (0, 1), (1, 0), (1, 2), (2, 2), (2, 3)):
        d.line(near[entity], chunks[mentioned])
    _chosen(d, asked, (chunks[0], chunks[2]), 238)
    for x, y, number in ((74, 62, 1), (196, 46, 2), (316, 36, 3), (452, 125, 4)):
        d.step(x, y, number)
    return d


def global_() -> Drawing:
    d = Drawing(
        250,
        "global: themes of the question lead to similar relations, these to the chunks that state them or "
        "mention their ends, and of those the most similar to the question are returned.",
    )
    asked = d.question(44, 125)
    theme = d.tag(132, 125, "theme", 76)
    d.line(asked, theme, "weak")
    pairs = [(d.entity(236, y), d.entity(290, y + 14)) for y in (52, 118, 184)]
    for number, (a, b) in enumerate(pairs):
        d.line(a, b, "flow" if number < 2 else "graph")
    d.lines(theme, [Node(258, 58, 8, 8), Node(252, 122, 20, 8)], "vector")
    chunks = [d.chunk(390, y, found=found) for y, found in ((40, True), (95, False), (150, True), (205, False))]
    for pair, stated in ((0, 0), (0, 1), (1, 1), (1, 2), (2, 3)):
        d.line(pairs[pair][1], chunks[stated])
    _chosen(d, asked, (chunks[0], chunks[2]), 238)
    for x, y, number in ((100, 92, 1), (188, 66, 2), (336, 28, 3), (456, 125, 4)):
        d.step(x, y, number)
    return d


def hybrid() -> Drawing:
    d = Drawing(
        262,
        "hybrid: the lists of local and global are interleaved without repeats.",
    )
    asked = d.question(44, 135)
    lists = _columns(d, (("local", "ABC", 150), ("global", "DAE", 250)))
    d.lines(asked, [lists[0][0], lists[0][2]], "weak")
    _column(d, 410, "hybrid", "ADBC", found=True)
    d.way([(280, 135), (384, 135)], "flow")
    d.text(330, 124, "in turn", "small", "middle")
    d.text(410, 252, "E …", "small soft", "middle")
    d.step(96, 80, 1)
    d.step(330, 92, 2)
    return d


def mix() -> Drawing:
    d = Drawing(
        262,
        "mix: the lists of naive, local and global are interleaved without repeats.",
    )
    asked = d.question(40, 135)
    lists = _columns(d, (("naive", "FAG", 124), ("local", "ABC", 202), ("global", "DAE", 280)))
    d.lines(asked, [lists[0][0], lists[0][2]], "weak")
    _column(d, 422, "mix", "FADB", found=True)
    d.way([(304, 135), (396, 135)], "flow")
    d.text(350, 124, "in turn", "small", "middle")
    d.text(422, 252, "G C E …", "small soft", "middle")
    d.step(82, 76, 1)
    d.step(350, 92, 2)
    return d


def subgraph() -> Drawing:
    d = Drawing(
        250,
        "subgraph: entities similar to the question, their neighbours and the paths between them; the chunks "
        "that fit the question and have most of these entities are returned.",
    )
    asked = d.question(44, 125)
    near = [d.entity(x, y, near=True) for x, y in ((160, 60), (176, 190), (262, 84))]
    around = [d.entity(x, y) for x, y in ((214, 130), (300, 160), (226, 40), (120, 226))]
    d.lines(asked, near, "vector")
    for a, b in ((near[0], around[0]), (around[0], near[1]), (around[0], near[2])):
        d.line(a, b, "flow")
    for a, b in ((near[2], around[1]), (near[0], around[2]), (near[1], around[3])):
        d.line(a, b)
    chunks = [d.chunk(400, y, found=found) for y, found in ((55, True), (125, True), (195, False))]
    for entity, chunk in ((near[0], 0), (near[2], 0), (near[2], 1), (near[1], 1), (around[1], 2)):
        d.line(entity, chunks[chunk], "weak")
    for x, y, number in ((98, 66, 1), (240, 158, 2), (340, 46, 3)):
        d.step(x, y, number)
    d.text(232, 236, "a path", "small soft")
    d.way([(226, 226), (200, 166)], "weak", arrow=False)
    return d


def guess() -> Drawing:
    d = Drawing(
        250,
        "guess: a language model writes a made-up passage from facts of the graph, and the chunks most "
        "similar to that passage are returned.",
    )
    asked = d.question(44, 60)
    first = d.model(130, 60)
    d.line(asked, first, "flow", arrow=True)
    near = [d.entity(x, y, near=True) for x, y in ((220, 34), (236, 84))]
    other = d.entity(284, 56)
    d.lines(first, near, "vector")
    for entity in near:
        d.line(entity, other, "flow")
    second = d.model(130, 180)
    d.way([(236, 98), (236, 150), (160, 172)], "flow")
    d.text(248, 132, "facts", "small soft")
    d.way([(44, 92), (44, 180), (102, 180)], "flow")
    made = d.chunk(226, 200, made=True)
    d.line(second, made, "flow", arrow=True)
    d.text(226, 240, "made up", "small soft", "middle")
    chunks = [
        d.chunk(x, y, found=found)
        for x, y, found in ((330, 160, True), (340, 215, True), (430, 130, False), (440, 205, False))
    ]
    d.lines(made, chunks[:2], "vector")
    for x, y, number in ((130, 26, 1), (190, 26, 2), (130, 146, 3), (282, 156, 4)):
        d.step(x, y, number)
    return d


def community() -> Drawing:
    d = Drawing(
        300,
        "community: a language model reads the reports of one level and notes points that help with the "
        "question; the passages that support these points are returned.",
    )
    places = [(70, 60), (70, 150), (70, 240)]
    for x, y in places:
        d.community(x, y, 108, 66)
        inside = [d.entity(x + dx, y + dy) for dx, dy in ((-26, 6), (0, -14), (24, 10))]
        d.line(inside[0], inside[1])
        d.line(inside[1], inside[2])
    reports = [d.report(170, y) for _, y in places]
    for (x, y), report in zip(places, reports, strict=True):
        d.line(Node(x, y, 108, 66), report, "weak")
    asked = d.question(258, 34)
    d.lines(asked, reports[:2], "vector")
    read = d.model(258, 128)
    d.lines(reports[0], [read], "flow", arrow=True)
    d.line(reports[1], read, "flow", arrow=True)
    d.line(asked, read, "flow", arrow=True)
    points = [d.tag(362, y, text, 100) for y, text in ((108, "point, 90"), (148, "point, 60"))]
    d.way([(286, 124), (308, 112)], "flow")
    d.way([(286, 132), (308, 144)], "flow")
    chunks = [d.chunk(x, 240, found=found) for x, found in ((310, True), (362, True), (414, True), (250, False))]
    d.lines(points[1], chunks[:2], "graph")
    d.way([(414, 110), (432, 130), (418, 216)], "graph", arrow=False)
    for x, y, number in ((206, 40, 1), (230, 166, 2), (362, 76, 3), (456, 240, 4)):
        d.step(x, y, number)
    d.text(24, 292, "communities, each with a report", "small soft")
    return d


def drift() -> Drawing:
    d = Drawing(
        280,
        "drift: the nearest community reports give a language model follow-up questions; weave answers them "
        "and the question, and the results are added up by rank.",
    )
    asked = d.question(44, 60)
    reports = [d.report(x, 60) for x in (130, 170)]
    d.line(asked, reports[0], "vector")
    ask = d.model(244, 60)
    d.line(reports[1], ask, "flow", arrow=True)
    questions = [
        d.tag(x, 138, text, width)
        for x, text, width in (
            (76, "question", 96),
            (190, "follow-up", 100),
            (302, "follow-up", 100),
            (414, "follow-up", 100),
        )
    ]
    d.way([(44, 92), (54, 122)], "flow")
    d.way([(228, 78), (200, 122)], "flow")
    d.way([(250, 78), (292, 122)], "flow")
    d.way([(266, 68), (396, 122)], "flow")
    d.box(245, 190, 436, 30, "weave, once for each")
    for one in questions:
        d.way([(one.x, 152), (one.x, 172)], "flow")
    for x in (155, 215, 275, 335):
        d.chunk(x, 248, found=True)
    d.way([(245, 206), (245, 226)], "flow")
    d.text(366, 254, "added by rank", "small soft")
    for x, y, number in ((86, 34, 1), (286, 40, 2), (20, 112, 3), (118, 248, 4)):
        d.step(x, y, number)
    return d


def _walked(d: Drawing, drop: float = 0.0, *, found: bool) -> tuple[Node, list[Node]]:
    """The walk that `walk` and `weave` have in common."""
    asked = d.question(44, 105 + drop)
    named = d.name(130, 40 + drop, near=True)
    d.line(asked, named, "words")
    start = [d.chunk(130, 110 + drop), d.chunk(130, 178 + drop)]
    d.line(asked, start[0], "vector")
    d.line(asked, start[1], "words")
    names = [d.name(220, y + drop) for y in (100, 178)]
    reached = [d.chunk(310, 50 + drop, found=found), d.chunk(310, 128 + drop, found=found), d.chunk(310, 196 + drop)]
    d.line(named, reached[0], "flow", arrow=True)
    d.line(start[0], names[0], "flow", arrow=True)
    d.line(start[1], names[1], "weak", arrow=True)
    d.line(names[0], reached[0], "flow", arrow=True)
    d.line(names[0], reached[1], "flow", arrow=True)
    d.line(names[1], reached[2], "weak", arrow=True)
    return asked, reached


def walk() -> Drawing:
    d = Drawing(
        250,
        "walk: from the names in the question and the best chunks, a walk leads over names to further chunks;"
        " those with most mass are returned.",
    )
    _, reached = _walked(d, found=True)
    further = d.name(385, 88)
    last = d.chunk(445, 128, found=True)
    d.line(reached[0], further, "flow", arrow=True)
    d.line(further, last, "flow", arrow=True)
    d.way([(310, 222), (310, 238), (44, 238), (44, 140)], "weak")
    d.text(180, 232, "30 % restarts in each step", "small soft", "middle")
    for x, y, number in ((74, 54, 1), (175, 70, 2), (262, 152, 3), (414, 66, 4)):
        d.step(x, y, number)
    return d


def weave() -> Drawing:
    d = Drawing(
        310,
        "weave: the walk of walk, then the best 40 chunks are ranked again; a chunk counts for more if it and"
        " another one together cover the question.",
    )
    _walked(d, found=False)
    d.way([(334, 100), (360, 100)], "flow")
    d.box(412, 100, 96, 64, "best 40\nfeatures", "card")
    d.way([(412, 134), (412, 176)], "flow")
    pair = [d.chunk(x, 200, found=True) for x in (388, 438)]
    d.line(pair[0], pair[1], "words")
    words = [
        d.tag(x, 276, text, width) for x, text, width in ((80, "words", 80), (172, "of the", 80), (274, "question", 96))
    ]
    d.line(words[0], pair[0], "words")
    d.line(words[2], pair[1], "words")
    for x, y, number in ((74, 54, 1), (262, 152, 2), (412, 50, 3), (446, 276, 4)):
        d.step(x, y, number)
    return d


def hipporag() -> Drawing:
    d = Drawing(
        250,
        "hipporag: PageRank over entities, relations and chunks, starting at the entities that the question "
        "names and, with less weight, at the nearest chunks.",
    )
    asked = d.question(44, 125)
    near = d.entity(140, 70, near=True)
    around = [d.entity(x, y) for x, y in ((216, 48), (230, 118), (300, 76))]
    chunks = [
        d.chunk(x, y, found=found)
        for x, y, found in ((320, 160, True), (390, 100, True), (200, 200, False), (290, 218, False))
    ]
    d.line(asked, near, "vector")
    d.line(asked, chunks[2], "vector")
    for a, b in ((near, around[0]), (near, around[1]), (around[0], around[2]), (around[1], around[2])):
        d.line(a, b, "flow")
    for a, b in (
        (around[1], chunks[0]),
        (around[2], chunks[0]),
        (around[2], chunks[1]),
        (around[1], chunks[2]),
        (around[1], chunks[3]),
    ):
        d.line(a, b)
    for x, y, number in ((92, 74, 1), (110, 190, 2), (180, 28, 3), (432, 100, 4)):
        d.step(x, y, number)
    return d


def linearrag() -> Drawing:
    d = Drawing(
        260,
        "linearrag: entities of the question activate others over the statements that fit the question; then "
        "PageRank over the active entities and the chunks that mention them.",
    )
    asked = d.question(44, 110)
    near = d.entity(140, 60, near=True)
    second = d.entity(254, 60, near=True)
    third = d.entity(368, 60, near=True)
    off = d.entity(196, 112)
    d.line(asked, near, "vector")
    d.line(near, second, "flow", arrow=True)
    d.line(second, third, "flow", arrow=True)
    d.line(near, off)
    d.text(197, 44, "round 2", "small soft", "middle")
    d.text(311, 44, "round 3", "small soft", "middle")
    d.text(200, 142, "does not fit", "small soft", "middle")
    chunks = [d.chunk(x, 190, found=found) for x, found in ((140, False), (290, True), (380, True), (446, False))]
    for a, b in ((near, 0), (second, 1), (third, 1), (third, 2)):
        d.line(a, chunks[b], "graph")
    d.way([(60, 134), (120, 176)], "vector", arrow=False)
    d.text(295, 238, "PageRank over entities and chunks", "small soft", "middle")
    for x, y, number in ((86, 66, 1), (254, 24, 2), (70, 180, 3), (335, 160, 4)):
        d.step(x, y, number)
    return d


def pathrag() -> Drawing:
    d = Drawing(
        260,
        "pathrag: a resource spreads from each entity of the question; the paths between these entities that most of "
        "it takes are returned, with the best chunks of the entities.",
    )
    asked = d.question(44, 120)
    near = [d.entity(x, y, near=True) for x, y in ((126, 62), (318, 62), (126, 194))]
    between = [d.entity(x, y) for x, y in ((222, 62), (222, 194))]
    hub = d.entity(174, 128)
    d.lines(asked, [near[0], near[2]], "vector")
    d.way([(54, 100), (86, 22), (300, 22), (312, 48)], "vector", arrow=False)
    for a, b in ((near[0], between[0]), (between[0], near[1]), (near[2], between[1]), (between[1], near[1])):
        d.line(a, b, "flow", arrow=True)
    d.line(near[0], hub)
    d.line(hub, near[2])
    for x, y in ((204, 106), (216, 130), (202, 152)):
        d.line(hub, d.entity(x, y), "weak")
    for x, text in ((174, "0.8"), (270, "0.4")):
        d.text(x, 52, text, "small soft", "middle")
    chunks = [d.chunk(420, y, found=found) for y, found in ((62, True), (128, True), (194, False))]
    d.line(near[1], chunks[0], "graph")
    d.way([(286, 116), (396, 126)], "graph", arrow=False)
    d.way([(240, 194), (396, 194)], "weak", arrow=False)
    d.text(174, 242, "a hub has too little for each", "small soft", "middle")
    for x, y, number in ((66, 182, 1), (126, 34, 2), (296, 164, 3), (456, 96, 4)):
        d.step(x, y, number)
    return d


def graphrag() -> Drawing:
    d = Drawing(
        260,
        "graphrag: the entities nearest to the question, the relations between them and to others, the reports on "
        "their communities, and the chunks that mention them.",
    )
    asked = d.question(44, 110)
    around = d.community(202, 112, 180, 150)
    near = [d.entity(x, y, near=True) for x, y in ((154, 78), (230, 66), (190, 150))]
    others = [d.entity(x, y) for x, y in ((252, 142), (130, 210), (100, 34))]
    d.lines(asked, near, "vector")
    for a, b in ((near[0], near[1]), (near[0], near[2])):
        d.line(a, b, "flow")
    for a, b in ((near[1], others[0]), (near[2], others[0]), (near[2], others[1]), (near[0], others[2])):
        d.line(a, b)
    d.line(around, d.report(340, 112), "weak")
    chunks = [d.chunk(x, y, found=found) for x, y, found in ((340, 40, True), (420, 40, True), (420, 190, False))]
    d.line(near[1], chunks[0], "graph")
    d.way([(236, 56), (260, 14), (396, 14), (408, 22)], "graph", arrow=False)
    d.line(others[0], chunks[2], "weak")
    d.text(240, 246, "relations between the entities first", "small soft", "middle")
    for x, y, number in ((94, 76, 1), (206, 106, 2), (376, 112, 3), (380, 70, 4)):
        d.step(x, y, number)
    return d


def _column(d: Drawing, x: float, title: str, labels: str, *, found: bool = False) -> list[Node]:
    d.text(x, 30, title, "head", "middle")
    return [d.chunk(x, 64 + 46 * row, label, found=found) for row, label in enumerate(labels)]


def _columns(d: Drawing, columns: Sequence[tuple[str, str, float]]) -> list[list[Node]]:
    return [_column(d, x, title, labels) for title, labels, x in columns]


def _chosen(d: Drawing, asked: Node, chunks: Sequence[Node], low: float) -> None:
    """The question chooses among chunks: a line below everything and up the right side to each of them."""
    right = max(chunk.x for chunk in chunks) + 48
    d.way(
        [(asked.x, asked.y + 32), (asked.x, low), (right, low), (right, min(c.y for c in chunks))],
        "vector",
        arrow=False,
    )
    for chunk in chunks:
        d.way([(right, chunk.y), (chunk.x + 20, chunk.y)], "vector")


def _reworded(title: str, below: str) -> tuple[Drawing, Node]:
    """A question, and the model that writes what is searched for in its place."""
    d = Drawing(170, title)
    asked, model = d.question(44, 66), d.model(150, 66)
    d.line(asked, model, "flow", arrow=True)
    d.step(150, 26, 1)
    d.text(96, 130, below, "small soft")
    return d, model


def _search_by_part(d: Drawing, written: Node) -> Drawing:
    part = d.box(352, 66, 80, 50, "part")
    d.line(written, part, "flow", arrow=True)
    d.line(part, d.chunk(440, 66, found=True), "flow", arrow=True)
    d.step(352, 26, 2)
    return d


def rephrase() -> Drawing:
    d, model = _reworded(
        "rephrase: a language model writes the question as the beginning of its answer, and another method searches "
        "with that.",
        "What is X?   becomes   X is a",
    )
    begun = d.tag(248, 66, "X is a", 70)
    d.line(model, begun, "flow", arrow=True)
    return _search_by_part(d, begun)


def hyde() -> Drawing:
    d, model = _reworded(
        "hyde: a language model writes a made-up passage that answers the question, and another method searches with "
        "that.",
        "the passage is made up, and never evidence",
    )
    made = d.chunk(248, 66, made=True)
    d.line(model, made, "flow", arrow=True)
    return _search_by_part(d, made)


def rewrite() -> Drawing:
    d, model = _reworded(
        "rewrite: a language model rewrites the question as a search engine would want it, and another method searches "
        "with that.",
        "names in full, nothing irrelevant",
    )
    question = d.question(248, 66)
    d.line(model, question, "flow", arrow=True)
    return _search_by_part(d, question)


def decompose() -> Drawing:
    d = Drawing(
        210,
        "decompose: a language model divides the question into simpler ones; another method searches with each, and "
        "the results are added up by rank.",
    )
    asked, model = d.question(44, 100), d.model(130, 60)
    d.line(asked, model, "flow", arrow=True)
    parts = [d.question(214, y) for y in (36, 96)]
    d.lines(model, parts, "flow")
    searches = [d.box(310, y, 70, 34, "part") for y in (36, 96, 156)]
    for one, search in zip((*parts, asked), searches, strict=True):
        d.line(one, search, "flow", arrow=True)
    added = d.box(420, 96, 70, 50, "add up")
    for search in searches:
        d.line(search, added, "flow", arrow=True)
    for x, y, number in ((130, 22, 1), (352, 16, 2), (420, 58, 3)):
        d.step(x, y, number)
    return d


METHODS: dict[str, Callable[[], Drawing]] = {
    "auto": auto,
    "naive": naive,
    "keyword": keyword,
    "fuse": fuse,
    "local": local,
    "global": global_,
    "hybrid": hybrid,
    "mix": mix,
    "subgraph": subgraph,
    "guess": guess,
    "community": community,
    "drift": drift,
    "rephrase": rephrase,
    "hyde": hyde,
    "rewrite": rewrite,
    "decompose": decompose,
    "walk": walk,
    "weave": weave,
    "hipporag": hipporag,
    "linearrag": linearrag,
    "pathrag": pathrag,
    "graphrag": graphrag,
}

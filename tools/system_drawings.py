"""How Trueweave works, drawn: the whole, record and view, a document's way, a question's way, tenants, deployment."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing


def how_it_works() -> Drawing:
    d = Drawing(
        470,
        "How Trueweave works. Documents are cut into chunks, and names and facts are extracted from them. "
        "These are stored in the record, from which the view is derived: entities, relations, vectors and "
        "communities. A method finds evidence for a question in the view, a language model writes an answer "
        "with citations, and each sentence is checked.",
    )
    row = [
        d.box(x, 50, 140, 60, text)
        for x, text in (
            (84, "Documents\nfiles, mail, web"),
            (240, "Chunks\ncut at sentences"),
            (396, "Names, facts\nin each chunk"),
        )
    ]
    d.line(row[0], row[1], "flow", arrow=True)
    d.line(row[1], row[2], "flow", arrow=True)
    d.area(12, 112, 456, 166, "PostgreSQL")
    record = d.box(366, 210, 184, 112, "Record\nwhat documents say:\nchunks, mentions,\nlinks, your rules")
    view = d.box(114, 210, 184, 112, "View\nwhat it adds up to:\nentities, relations,\nvectors, communities")
    d.way([(396, 82), (396, 150)], "flow")
    d.line(record, view, "flow", arrow=True)
    d.text(240, 198, "adds up", "small", "middle")
    row = [
        d.box(x, 346, 140, 60, text)
        for x, text in ((84, "Method\nfinds evidence"), (240, "Answer\nwith citations"), (396, "Check\nevery sentence"))
    ]
    d.way([(84, 268), (84, 312)], "flow")
    d.line(row[0], row[1], "flow", arrow=True)
    d.line(row[1], row[2], "flow", arrow=True)
    asked = d.question(84, 432)
    d.line(asked, row[0], "flow", arrow=True)
    d.text(122, 438, "Question")
    d.way([(396, 378), (396, 410)], "flow")
    d.text(396, 430, "Each sentence with", "small", "middle")
    d.text(396, 450, "the words it rests on", "small", "middle")
    return d


def record_and_view() -> Drawing:
    d = Drawing(
        410,
        "Record and view. Each document in the record adds its counts to the view. Removing a document "
        "subtracts the same counts. trueweave verify builds a second view from the record and compares both.",
    )
    d.area(12, 12, 206, 250, "Record")
    for y, name, said in (
        (72, "letter 1", "Ada — Babbage"),
        (134, "letter 2", "Ada — Babbage"),
        (196, "letter 3", "Ada — Byron"),
    ):
        d.box(115, y, 182, 48, f"{name}\n{said}", "made" if name == "letter 2" else "card")
    d.text(115, 248, "letter 2 is removed", "small soft", "middle")
    d.area(262, 12, 206, 250, "View")
    ada, babbage, byron = d.entity(365, 92, near=True), d.entity(310, 172), d.entity(420, 172)
    d.text(365, 74, "Ada", "small", "middle")
    d.text(310, 200, "Babbage", "small", "middle")
    d.text(420, 200, "Byron", "small", "middle")
    d.line(ada, babbage, "flow")
    d.line(ada, byron)
    d.text(328, 128, "2 → 1", "small", "end")
    d.text(402, 128, "1", "small")
    d.text(365, 248, "one less, nothing else", "small soft", "middle")
    for y, sign in ((72, "+1"), (134, "−1"), (196, "+1")):
        d.way([(208, y), (258, y)], "flow")
        d.text(236, y - 8, sign, "small", "middle")
    again = d.box(115, 350, 206, 64, "Built from scratch\nout of what is there now")
    same = d.box(365, 350, 206, 64, "Identical?\ntrueweave verify")
    d.way([(115, 266), (115, 314)], "weak")
    d.way([(365, 266), (365, 314)], "weak")
    d.line(again, same, "weak", arrow=True)
    return d


def documents_way() -> Drawing:
    d = Drawing(
        590,
        "A document's way: it is read, queued in one transaction, cut and extracted "
        "by a worker, stored in the record, planned and embedded without locks, and written to the view in "
        "one transaction. Every step can be repeated.",
    )
    steps = (
        ("Read", "text, pages, tables; PDFs\nin a separate process", ""),
        ("Queue", "the text and a job for it,\nin one transaction", "db"),
        ("Chunk and extract", "replies of models are\nstored as they arrive", "llm"),
        ("Store in the record", "one transaction; readers\ndo not see it yet", "db"),
        ("Plan and embed", "from a snapshot,\nwithout a lock", "vec"),
        ("Write the view", "one transaction; readers\nsee all of it at once", "db"),
    )
    for number, (title, said, beside) in enumerate(steps, 1):
        y = 52 + 92 * (number - 1)
        d.box(190, y, 256, 72, f"{title}\n{said}")
        d.step(38, y, number)
        if number < len(steps):
            d.way([(190, y + 38), (190, y + 54)], "flow")
        if beside == "db":
            d.box(404, y, 120, 48, "PostgreSQL", "sunk")
            d.way([(320, y), (342, y)], "flow")
        if beside == "llm":
            d.model(404, y - 6)
            d.way([(320, y), (376, y - 4)], "flow")
            d.text(404, y + 32, "or no model", "small soft", "middle")
        if beside == "vec":
            d.box(404, y, 120, 48, "Embedding\nmodel", "model")
            d.way([(320, y), (342, y)], "flow")
    d.text(190, 574, "Killed anywhere: the step is done again", "small soft", "middle")
    d.way([(404, 540), (404, 566)], "weak")
    d.text(404, 582, "copies", "small soft", "middle")
    return d


def questions_way() -> Drawing:
    d = Drawing(
        560,
        "A question's way: a filter limits what may be found, a method searches by vectors, words and the "
        "graph, the evidence is packed into a prompt, a language model answers with quotes, the quotes are "
        "looked up, and each sentence gets a status.",
    )
    asked = d.question(46, 44)
    filter_ = d.box(250, 44, 300, 52, "Filter\nwhich documents may be used")
    d.line(asked, filter_, "flow", arrow=True)
    for x, title, said in (
        (90, "Vectors", "similar meaning"),
        (240, "Words", "BM25"),
        (390, "Graph", "names, relations"),
    ):
        d.box(x, 134, 138, 52, f"{title}\n{said}")
        d.way([(250 + (x - 240) * 0.6, 72), (x, 104)], "flow")
        d.way([(x, 162), (240 + (x - 240) * 0.6, 192)], "flow")
    d.box(240, 222, 440, 52, "Evidence\nnumbered passages, facts, reports, and a trace")
    d.way([(150, 250), (150, 278)], "flow")
    d.model(150, 298)
    d.way([(150, 318), (150, 344)], "flow")
    d.way([(400, 250), (400, 436), (400, 494)], "flow")
    d.text(392, 300, "without a model:", "small soft", "end")
    d.text(392, 320, "passages only", "small soft", "end")
    d.box(150, 376, 260, 58, 'Answer\nDied in 1852 [2 "27 Nov. 1852"]')
    d.way([(150, 408), (150, 426)], "flow")
    d.box(150, 456, 260, 56, "Check\nquote found? same meaning?")
    d.way([(150, 486), (150, 500)], "flow")
    d.box(240, 526, 440, 44, "Sentences, each with status and source")
    return d


def tenants() -> Drawing:
    d = Drawing(
        440,
        "Tenants: a key is valid for its workspaces. The server starts each transaction with the name of a "
        "workspace, and the row-level security of PostgreSQL lets it see only rows of that workspace.",
    )
    d.box(120, 44, 200, 56, "Caller\nwith a key for acme")
    d.box(360, 44, 200, 56, "Caller\nwith a key for zeta")
    d.box(240, 140, 440, 60, "Server\nkey → workspaces; any other does not exist")
    d.way([(120, 74), (120, 108)], "flow")
    d.way([(360, 74), (360, 108)], "flow")
    d.way([(120, 172), (120, 216)], "flow")
    d.way([(360, 172), (360, 216)], "flow")
    d.text(130, 198, "begin; acme", "mono")
    d.text(370, 198, "begin; zeta", "mono")
    d.area(12, 220, 456, 208, "PostgreSQL, as the role trueweave_app")
    d.box(240, 278, 424, 40, "Row-level security on every table")
    rows = ((112, "acme"), (240, "others"), (368, "zeta"))
    for x, name in rows:
        d.box(x, 376, 112, 68, f"{name}\nrows", "card")
    d.way([(112, 300), (112, 336)], "flow")
    d.way([(368, 300), (368, 336)], "flow")
    d.text(240, 326, "seen by neither", "small soft", "middle")
    return d


def deployment() -> Drawing:
    d = Drawing(
        560,
        "Deployment: browsers, programs and agents reach stateless servers through a proxy with TLS. Servers "
        "and workers use the home database; further PostgreSQL servers hold more workspaces, standbys answer "
        "questions, and Neo4j and Chroma hold copies.",
    )
    for x, title, said in ((88, "Browser", "web UI"), (240, "Programs", "REST, Python"), (392, "Agents", "MCP")):
        d.box(x, 42, 138, 52, f"{title}\n{said}")
        d.way([(x, 70), (x, 98)], "flow")
    d.box(240, 120, 440, 40, "Proxy: TLS, rate limits")
    d.box(120, 204, 200, 60, "trueweave serve\nany number, stateless")
    d.box(360, 204, 200, 60, "trueweave worker\nany number")
    d.way([(120, 142), (120, 170)], "flow")
    d.way([(120, 236), (120, 286)], "flow")
    d.way([(360, 236), (360, 286)], "flow")
    d.box(240, 262, 176, 30, "", "model")
    d.text(240, 267, "models, if any", "small", "middle")
    d.way([(180, 236), (200, 246)], "weak")
    d.way([(300, 236), (280, 246)], "weak")
    d.area(12, 290, 456, 172, "PostgreSQL with pgvector")
    home = d.box(120, 372, 192, 80, "Home\nworkspaces, queue,\nkeys, limits, audit")
    more = d.box(370, 348, 172, 40, "More servers")
    standby = d.box(370, 406, 172, 40, "Standbys")
    d.line(home, more, "weak", arrow=True)
    d.line(home, standby, "weak", arrow=True)
    d.text(120, 446, "start with this one alone", "small soft", "middle")
    d.text(370, 450, "when it grows", "small soft", "middle")
    d.way([(240, 464), (240, 500)], "weak")
    d.text(250, 490, "outbox", "small soft")
    d.box(240, 526, 440, 48, "Copies, if you want them: Neo4j, Chroma")
    return d


SYSTEM: dict[str, Callable[[], Drawing]] = {
    "how-it-works": how_it_works,
    "record-and-view": record_and_view,
    "documents-way": documents_way,
    "questions-way": questions_way,
    "tenants": tenants,
    "deployment": deployment,
}

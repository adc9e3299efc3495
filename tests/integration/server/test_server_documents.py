"""Documents over HTTP: texts, files and annotated lines in; lists, texts with spans and states out; and all gone."""

import asyncio
import io
import json
import zipfile
from datetime import datetime
from typing import Any

import httpx2
import psycopg

from tests.integration.serving import TEXT, fill, serving
from trueweave import Chunk, Document, Mention, Place
from trueweave.server.middleware import Limits
from trueweave.store.postgres.queue.liveness import Liveness

ROOM = "/v1/workspaces/mine"
QUICK: dict[str, Any] = {"extractor": "capitals"}


async def done(client: httpx2.AsyncClient, job: dict[str, Any]) -> dict[str, Any]:
    """The job when it is done, as its events tell."""
    async with client.stream("GET", f"{ROOM}/jobs/{job['id']}/events") as answer:
        assert answer.status_code == 200
        lines = [line async for line in answer.aiter_lines() if line]
    assert lines[-2] == "event: done"
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("data: "))
    return found


async def test_texts_become_documents(url: str) -> None:
    async with serving(url, works=True, **QUICK) as server, server.client(await server.key("write", "mine")) as client:
        documents = [{"uri": f"letter-{n}", "text": TEXT, "title": "T", "metadata": {"n": n}} for n in range(3)]
        answer = await client.post(f"{ROOM}/documents", json={"documents": documents})
        assert answer.status_code == 202
        job = await done(client, answer.json())
        assert (job["state"], job["documents"], job["indexed"], job["refused"]) == ("done", 3, 3, [])
        page = (await client.get(f"{ROOM}/documents", params={"limit": 2})).json()
        rest = (await client.get(f"{ROOM}/documents", params={"limit": 2, "cursor": page["next"]})).json()
        assert [one["uri"] for one in page["items"] + rest["items"]] == ["letter-0", "letter-1", "letter-2"]
        some = await client.get(f"{ROOM}/documents", params={"filter": json.dumps({"metadata": {"n": 1}})})
        assert [one["uri"] for one in some.json()["items"]] == ["letter-1"]
        other = await client.get(f"{ROOM}/documents", params={"cursor": page["next"], "noted": True})
        assert (other.status_code, other.json()["code"]) == (400, "invalid_cursor")
        whole = await client.get(f"{ROOM}/document", params={"uri": "letter-1"})
        found = whole.json()
        assert (found["metadata"], found["chunks"]) == ({"n": 1}, 1)
        assert [(one["text"], one["start"], one["end"]) for one in found["spans"]] == [(TEXT, 0, len(TEXT))]
        assert "Ada Lovelace" in {one["entity"]["name"] for one in found["entities"]}
        again = await client.get(
            f"{ROOM}/document", params={"uri": "letter-1"}, headers={"If-None-Match": whole.headers["etag"]}
        )
        assert (again.status_code, again.content) == (304, b"")
        state = await client.get(f"{ROOM}/document/status", params={"uri": "letter-1"})
        told = state.json()
        assert datetime.fromisoformat(told.pop("added")) == datetime.fromisoformat(found["added"])
        assert told == {"uri": "letter-1", "state": "indexed", "error": "", "chunks": 1, "notes": []}
        assert (await client.post(f"{ROOM}/documents/off", json={"uris": ["letter-1", "x"]})).json() == {"switched": 1}
        state = await client.get(f"{ROOM}/document/status", params={"uri": "letter-1"})
        assert state.json()["state"] == "off"
        off = await client.get(f"{ROOM}/document", params={"uri": "letter-1"})
        assert (off.status_code, off.json()["detail"]) == (404, "the document 'letter-1' is switched off.")
        assert (await client.post(f"{ROOM}/documents/on", json={"uris": ["letter-1", "x"]})).json() == {"switched": 1}
        assert (await client.delete(f"{ROOM}/document", params={"uri": "letter-1"})).json() == {"removed": 1}
        assert (await client.delete(f"{ROOM}/document", params={"uri": "letter-1"})).status_code == 404
        near = await client.get(f"{ROOM}/document", params={"uri": "letter-1"})
        assert (near.status_code, near.json()["code"], near.json()["near"]) == (
            404,
            "unknown_document",
            ["letter-0", "letter-2"],
        )
        assert near.json()["detail"] == "there is no document 'letter-1'. Near it: letter-0, letter-2."
        assert near.json()["next_step"] == "List the documents of the workspace."
        assert (await client.post(f"{ROOM}/documents/delete", json={"uris": ["letter-0", "x"]})).json() == {
            "removed": 1
        }
        [listed] = (await client.get(f"{ROOM}/jobs")).json()["items"]
        assert (listed["id"], listed["documents"], listed["indexed"]) == (job["id"], 3, 1)
        left = (await client.get(f"{ROOM}/jobs/{job['id']}/documents")).json()["items"]
        assert [(one["uri"], one["state"], one["error"]) for one in left] == [("letter-2", "indexed", "")]


async def test_files_are_called_by_uris_and_read_within_limits(url: str) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * (64 << 20))
    async with serving(url, works=True, **QUICK) as server, server.client(await server.key("write", "mine")) as client:
        files = [
            ("file", ("../../etc/notes.md", f"# Notes\n\n{TEXT}".encode())),
            ("file", ("rows.csv", b"id,text\n7,Ada met Byron.\n8,Ada met Babbage.\n")),
            ("file", ("bomb.docx", bomb.getvalue())),
            ("file", ("program.exe", b"MZ")),
            ("file", ("broken.pdf", b"%PDF-1.4 nothing")),
            ("file", ("deep.jsonl", b'{"id": 1, "text": "x", "metadata": ' + b"[" * 100_000 + b"\n")),
        ]
        answer = await client.post(f"{ROOM}/documents/files", files=files)
        assert answer.status_code == 202, answer.text
        job = await done(client, answer.json())
        assert (job["state"], job["indexed"]) == ("done", 3)
        told = "\n".join(job["refused"])
        for name, words in {
            "bomb.docx": "would unpack to",
            "program.exe": "no reader for .exe files",
            "broken.pdf": "cannot be read",
            "deep.jsonl": "nested too deeply",
        }.items():
            assert any(name in one and words in one for one in job["refused"]), (name, told)
        assert "trueweave-upload" not in told, "no path of the server is shown"
        uris = [one["uri"] for one in (await client.get(f"{ROOM}/documents")).json()["items"]]
        assert uris == ["../../etc/notes.md", "rows.csv#7", "rows.csv#8"]
        named = {"file": ("a.txt", TEXT.encode())}
        answer = await client.post(f"{ROOM}/documents/files", files=named, data={"uri": "https://example.org/a"})
        assert (await done(client, answer.json()))["indexed"] == 1
        assert (await client.get(f"{ROOM}/document", params={"uri": "https://example.org/a"})).status_code == 200
        estimate = await client.post(f"{ROOM}/estimate/files", files={"file": ("b.txt", TEXT.encode())})
        assert (estimate.json()["documents"], estimate.json()["price"]) == (1, "0")
        for wrong in ({"data": {"uri": "x"}}, {"files": named, "data": {"uri": ["x", "y"]}}):
            answer = await client.post(f"{ROOM}/documents/files", **wrong)
            assert answer.status_code in (415, 422)


async def test_what_is_too_large_is_refused_before_it_is_read(url: str) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        while True:
            sent += 1 << 16
            yield b"word " * ((1 << 16) // 5)
            await asyncio.sleep(0)

    limits = Limits(texts=1000, upload=1 << 20)
    async with serving(url, limits=limits) as server, server.client(await server.key("write", "mine")) as client:
        answer = await client.post(f"{ROOM}/documents", json={"documents": [{"uri": "a", "text": "x" * 2000}]})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        answer = await client.post(f"{ROOM}/documents/files", files={"file": ("a.txt", b"x" * (2 << 20))})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        form = {"Content-Type": "multipart/form-data; boundary=x"}
        try:
            answer = await client.post(f"{ROOM}/documents/files", content=endless(), headers=form)
            assert answer.status_code == 413
        except httpx2.TransportError:
            pass  # the server may have hung up before all was sent
        assert sent < 64 << 20
        async with server.client() as nobody:
            try:
                answer = await nobody.post(f"{ROOM}/documents/files", content=endless(), headers=form)
                assert answer.status_code == 401
            except httpx2.TransportError:
                pass
        assert (await client.get(f"{ROOM}/documents")).json()["items"] == []


async def test_annotated_documents_are_there_at_once(url: str) -> None:
    rows = [
        {"uri": "urn:1", "text": TEXT, "entities": ["Ada Lovelace"], "triples": [["Ada Lovelace", "met", "Byron"]]},
        {"id": "2", "text": "More of Byron.", "entities": ["Byron"]},
        {"text": "It has no name."},
    ]
    async with serving(url) as server, server.client(await server.key("write", "mine")) as client:
        lines = "\n".join(map(json.dumps, rows))
        answer = await client.post(
            f"{ROOM}/documents/annotated", content=lines, headers={"Content-Type": "application/x-ndjson"}
        )
        found = answer.json()
        assert (answer.status_code, found["documents"], found["new"]) == (200, 2, 2)
        assert found["refused"] == ["annotated, line 3: it has no id. Fix that line and add the file again."]
        assert [one["uri"] for one in (await client.get(f"{ROOM}/documents")).json()["items"]] == [
            "annotated#2",
            "urn:1",
        ]


async def test_a_write_is_carried_out_once_for_each_key(url: str) -> None:
    body = {"documents": [{"uri": "a", "text": TEXT}]}
    async with serving(url, **QUICK) as server, server.client(await server.key("write", "mine")) as client:
        key = {"Idempotency-Key": "one"}
        first = await client.post(f"{ROOM}/documents", json=body, headers=key)
        again = await client.post(f"{ROOM}/documents", json=body, headers=key)
        assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
        assert "idempotent-replayed" not in first.headers
        assert again.headers["idempotent-replayed"] == "true"
        other = await client.post(f"{ROOM}/documents", json={"documents": [{"uri": "b", "text": "B"}]}, headers=key)
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
        failing = await client.post(
            f"{ROOM}/rules", json={"kind": "merge", "names": [{"name": "a"}]}, headers={"Idempotency-Key": "two"}
        )
        assert failing.status_code == 422
        retried = await client.post(
            f"{ROOM}/rules", json={"kind": "split", "names": [{"name": "a"}]}, headers={"Idempotency-Key": "two"}
        )
        assert retried.status_code == 201, "what failed keeps no key"
        both = await asyncio.gather(
            *(client.post(f"{ROOM}/documents", json=body, headers={"Idempotency-Key": "three"}) for _ in range(4))
        )
        assert {one.status_code for one in both} <= {202, 409}
        assert len({one.json()["id"] for one in both if one.status_code == 202}) == 1
        assert len((await client.get(f"{ROOM}/jobs")).json()["items"]) == 2
        async with server.client(await server.key("write", "mine")) as another:
            mine = await another.post(f"{ROOM}/documents", json=body, headers=key)
            assert mine.json()["id"] != first.json()["id"], "keys are those of their callers"


async def test_a_request_that_died_with_its_server_is_carried_out_when_the_lease_has_ended(url: str) -> None:
    body, key = {"documents": [{"uri": "a", "text": TEXT}]}, {"Idempotency-Key": "one"}
    async with serving(url, **QUICK) as server, server.client(await server.key("write", "mine")) as client:
        async with Liveness(server.database) as killed:
            assert (await client.post(f"{ROOM}/documents", json=body, headers=key)).status_code == 202
            with psycopg.connect(url, autocommit=True) as owner:  # as if another server were at it
                owner.execute("UPDATE trueweave.kept_response SET body = NULL, owner = %s", (killed.owner,))
            waiting = await client.post(f"{ROOM}/documents", json=body, headers=key)
            assert (waiting.status_code, waiting.json()["code"]) == (409, "under_way")
        again = await client.post(f"{ROOM}/documents", json=body, headers=key)
        assert again.status_code == 202
        assert "idempotent-replayed" not in again.headers


async def test_a_failed_document_is_listed(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("write", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        job = (await client.post(f"{ROOM}/documents", json={"documents": [{"uri": "a", "text": TEXT}]})).json()
        assert (job["state"], job["waiting"]) == ("under way", 1)
        async with trueweave.workspace.transaction() as tx:
            await tx.execute("UPDATE source SET failed = true, error = 'no good', failures = 3")
        assert (await client.get(f"{ROOM}/jobs/{job['id']}")).json()["state"] == "failed"
        [failed] = (await client.get(f"{ROOM}/documents/failed")).json()["items"]
        assert failed == {"uri": "a", "error": "no good", "failures": 3}
        twice = {"documents": [{"uri": "a", "text": TEXT}, {"uri": "a", "text": "other"}]}
        assert (await client.post(f"{ROOM}/documents", json=twice)).status_code == 422
        assert (await client.post(f"{ROOM}/estimate", json={"documents": twice["documents"][:1]})).status_code == 200


async def test_a_document_has_an_outline_and_mentions_at_their_positions(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        first, second = "\N{GRINNING FACE} Ada met Babbage. Ada left.", "Later Babbage wrote to Ada."
        ada, babbage = Mention("Ada", "person", spans=((2, 5), (19, 22))), Mention("Babbage", spans=((10, 17),))
        later = (Mention("Babbage", spans=((6, 13),)), Mention("Ada", "person", spans=((23, 26),)))
        chunks = (Chunk(first, mentions=(ada, babbage)), Chunk(second, start=len(first) + 1, mentions=later))
        places = (Place(0, "heading", "One", 1), Place(0, "page", "1"), Place(len(first) + 1, "page", "2"))
        await trueweave.add_documents([Document("letter", chunks, "A letter", {}, places)])

        outline = (await client.get(f"{ROOM}/document/outline", params={"uri": "letter"})).json()
        assert (outline["title"], outline["length"], outline["chunks"]) == ("A letter", 56, 2)
        assert [(one["start"], one["kind"], one["label"]) for one in outline["places"]] == [
            (0, "heading", "One"),
            (0, "page", "1"),
            (29, "page", "2"),
        ]
        last = await client.get(f"{ROOM}/document/outline", params={"uri": "letter", "first": 2, "limit": 5})
        assert (last.json()["total"], [one["label"] for one in last.json()["places"]]) == (3, ["2"])

        text, seen = f"{first} {second}", list[tuple[str, str]]()
        page: dict[str, Any] = {"next": ""}
        while page["next"] is not None:
            params = {"uri": "letter", "limit": 2, "cursor": page["next"]}
            page = (await client.get(f"{ROOM}/document/mentions", params=params)).json()
            assert len(page["items"]) <= 2
            seen += [(text[one["start"] : one["end"]], one["name"]) for one in page["items"]]
        assert seen == [("Ada", "Ada"), ("Babbage", "Babbage"), ("Ada", "Ada"), ("Babbage", "Babbage"), ("Ada", "Ada")]
        part = await client.get(f"{ROOM}/document/mentions", params={"uri": "letter", "start": 22, "end": 42})
        assert [(one["start"], one["end"], one["type"]) for one in part.json()["items"]] == [(35, 42, "")]
        ids = [one["chunk"] for one in part.json()["items"]]
        [passage] = (await client.get(f"{ROOM}/passages", params={"id": ids})).json()["passages"]
        assert (passage["uri"], passage["text"], passage["start"], passage["page"]) == ("letter", second, 29, "2")

        await trueweave.remove(["letter"])
        assert (await client.get(f"{ROOM}/passages", params={"id": ids})).json() == {"passages": []}
        for path in ("outline", "mentions"):
            gone = await client.get(f"{ROOM}/document/{path}", params={"uri": "letter"})
            assert (gone.status_code, gone.json()["code"]) == (404, "unknown_document")


async def test_documents_are_listed_by_state_and_time_and_failed_ones_are_queued_again(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("write", "mine")) as client:
        trueweave = await fill(server.database, "mine", "Byron wrote.", "Shelley wrote.")

        async def listed(**params: Any) -> tuple[list[tuple[str, str]], int]:
            """All pages of one document each, and the total that each page states."""
            found = list[tuple[str, str]]()
            page: dict[str, Any] = {"next": ""}
            while page["next"] is not None:
                sent = {"limit": 1, "total": True, "cursor": page["next"], **params}
                answer = await client.get(f"{ROOM}/documents", params=sent)
                assert answer.status_code == 200, answer.text
                page = answer.json()
                found += [(one["uri"], one["state"]) for one in page["items"]]
            return found, page["total"]

        indexed = [("mine/0", "indexed"), ("mine/1", "indexed"), ("mine/ada", "indexed")]
        assert await listed() == (indexed, 3)
        new = {"documents": [{"uri": "a", "text": TEXT}, {"uri": "mine/0", "text": TEXT}, {"uri": "z", "text": "Z"}]}
        await client.post(f"{ROOM}/documents", json=new)
        async with trueweave.workspace.transaction() as tx:
            await tx.execute("UPDATE source SET failed = true, error = 'no good' WHERE uri <> 'a'")
        failed = [("mine/0", "failed"), ("z", "failed")]
        assert await listed() == ([failed[0], *indexed[1:]], 3), "what is in the index stays there"
        assert await listed(state="indexed") == (indexed[1:], 2)
        assert await listed(state="waiting") == ([("a", "waiting")], 1)
        assert await listed(state="failed") == (failed, 2)
        assert await listed(state="indexing") == ([], 0)
        everything = [("a", "waiting"), failed[0], *indexed[1:], failed[1]]
        assert await listed(state="any") == (everything, 5)
        assert await listed(state="any", prefix="mine/") == (everything[1:4], 3)
        year = json.dumps({"metadata": {"year": 1843}})
        assert await listed(state="any", filter=year) == ([("mine/ada", "indexed")], 1)
        latest, total = await listed(state="any", order="added")
        assert ({*latest}, total) == ({*everything}, 5)
        assert {uri for uri, _ in latest[:2]} == {"a", "z"}, "documents in the queue came last"
        [info] = (await client.get(f"{ROOM}/documents", params={"state": "failed", "prefix": "z"})).json()["items"]
        assert (info["chunks"], info["error"]) == (0, "no good")
        later = (await client.get(f"{ROOM}/documents", params={"since": info["added"], "state": "any"})).json()
        assert {one["uri"] for one in later["items"]} == {"a", "z"}
        assert later["total"] is None
        by_uri = (await client.get(f"{ROOM}/documents", params={"limit": 1})).json()["next"]
        other = await client.get(f"{ROOM}/documents", params={"limit": 1, "order": "added", "cursor": by_uri})
        assert (other.status_code, other.json()["code"]) == (400, "invalid_cursor")

        retried = await client.post(f"{ROOM}/documents/retry", json={"uris": ["z", "a", "nothing"]})
        assert (retried.status_code, retried.json()) == (202, {"retried": 1})
        assert await listed(state="failed") == (failed[:1], 1)
        assert (await client.post(f"{ROOM}/documents/retry", json={})).json() == {"retried": 1}
        assert await listed(state="failed") == ([], 0)
        assert (await listed(state="waiting"))[1] == 3

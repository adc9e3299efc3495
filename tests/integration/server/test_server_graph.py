"""The graph, communities, rules and money over HTTP, and pages of lists."""

import base64
import json
from typing import Any

import httpx2

from tests.integration.serving import fill, serving
from trueweave import AsyncTrueweave, Chunk, Document, Link

ROOM = "/v1/workspaces/mine"


async def all_pages(client: httpx2.AsyncClient, path: str, **params: Any) -> list[Any]:
    """All items of a list, two at a time."""
    found: list[Any] = []
    page: dict[str, Any] = {"next": ""}
    while page["next"] is not None:
        answer = await client.get(f"{ROOM}{path}", params={"limit": 2, "cursor": page["next"], **params})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert len(page["items"]) <= 2
        found += page["items"]
    return found


async def test_look_ups_take_a_filter(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        index = await AsyncTrueweave.enter(server.database, "mine")
        said = Chunk("Byron met Ada", links=(Link("Byron", "Ada"), Link("Ada", "London")))
        await index.add_documents(
            [Document("a", (said,), metadata={"k": 1}), Document("b", (said,), metadata={"k": 2})]
        )
        ada = await index.graph.entity("Ada")
        relation = next(one.id for one in ada.relations if one.target_name == "London")
        one, none = json.dumps({"metadata": {"k": 1}}), json.dumps({"uris": ["c"]})

        async def get(path: str, passing: str = one, **params: Any) -> Any:
            return (await client.get(f"{ROOM}{path}", params={**params, "filter": passing})).json()

        assert (await get("/entity", name="Ada"))["entity"]["count"] == 1 < ada.entity.count
        assert (await get("/entity", none, name="Ada"))["code"] == "unknown_entity"
        assert {item["count"] for item in await all_pages(client, "/entities", filter=one)} == {1}
        assert {item["count"] for item in await all_pages(client, "/relations", filter=one)} == {1}
        assert [item["uri"] for item in (await get("/entity/mentions", name="Ada"))["items"]] == ["a"]
        assert (await get("/entity/documents", name="Ada"))["documents"] == 1
        assert (await get("/relation", id=relation))["count"] == 1
        assert (await get("/relation", none, id=relation))["code"] == "unknown_relation"
        assert [item["uri"] for item in (await get("/relation/statements", id=relation))["items"]] == ["a"]
        assert {item["count"] for item in (await get("/neighbours", entity="Ada"))["entities"]} == {1}
        assert {item["count"] for item in (await get("/around", entity="Ada"))["nodes"]} == {1}
        assert [item["name"] for item in (await get("/entities/complete", text="lon"))["entities"]] == ["London"]
        assert (await get("/entities/complete", none, text="lon"))["entities"] == []
        assert (await get("/types"))["relations"] == [{"type": "", "count": 2}]
        path = (await get("/path", start="Byron", end="London"))["path"]
        assert {passage["uri"] for step in path["steps"] for passage in step["passages"]} == {"a"}
        assert {item["count"] for item in (await get("/picture", entity="Ada"))["entities"]} == {1}
        body = {"entities": [str(ada.entity.id)], "filter": {"metadata": {"k": 1}}}
        assert (await client.post(f"{ROOM}/subgraph", json=body)).json()["nodes"][0]["count"] == 1
        refused = await get("/picture", community="abcd")
        assert "takes no filter" in json.dumps(refused), refused


async def test_entities_and_relations(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        trueweave = await fill(server.database, "mine", "Byron wrote.", "Annabella wrote.")
        await trueweave.add_documents(
            [Document("more", (Chunk("Byron met Ada", links=(Link("Byron", "Ada Lovelace", target_type="person"),)),))]
        )
        wanted = await trueweave.graph.entities()
        assert [one["id"] for one in await all_pages(client, "/entities")] == [str(one.id) for one in wanted]
        assert [one["name"] for one in await all_pages(client, "/entities", type="person")] == ["Ada Lovelace"]
        relations = await trueweave.graph.relations()
        assert {one["id"] for one in await all_pages(client, "/relations")} == {str(one.id) for one in relations}
        of_byron = await all_pages(client, "/relations", entity="Byron")
        assert [(one["source_name"], one["target_name"]) for one in of_byron] == [("Byron", "Ada Lovelace")]

        found = (await client.get(f"{ROOM}/entity", params={"name": "ada lovelace"})).json()
        assert (found["entity"]["name"], len(found["relations"])) == ("Ada Lovelace", 3)
        assert {one["uri"] for one in found["passages"]} == {"mine/ada", "more"}
        by_id = (await client.get(f"{ROOM}/entity", params={"name": found["entity"]["id"]})).json()
        assert by_id == found
        unknown = await client.get(f"{ROOM}/entity", params={"name": "Ada Lovelase"})
        assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_entity")
        assert unknown.json()["near"][0] == "Ada Lovelace::person"

        hits = (await client.get(f"{ROOM}/entities/search", params={"text": "lovelace"})).json()
        assert ([one["name"] for one in hits["entities"]], hits["by"]) == (["Ada Lovelace"], ["words"])
        hits = (await client.get(f"{ROOM}/relations/search", params={"text": "worked"})).json()
        assert [one["target_name"] for one in hits["relations"]] == ["Charles Babbage"]
        around = (await client.get(f"{ROOM}/neighbours", params={"entity": "Byron", "hops": 2})).json()
        assert {one["name"] for one in around["entities"]} == {"Ada Lovelace", "Charles Babbage", "London"}
        path = (await client.get(f"{ROOM}/path", params={"start": "Byron", "end": "London"})).json()["path"]
        assert [one["name"] for one in path["entities"]] == ["Byron", "Ada Lovelace", "London"]
        assert path["steps"][0]["forward"]
        none = await client.get(f"{ROOM}/path", params={"start": "Byron", "end": "Annabella"})
        assert none.json() == {"path": None}


async def test_communities(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("write", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        rings = [("a", "b", "c"), ("d", "e", "f"), ("g", "h", "i")]
        links = [Link(x, y) for ring in rings for x, y in zip(ring, ring[1:] + ring[:1], strict=True)]
        await trueweave.add_documents([Document("rings", (Chunk("rings", links=tuple(links)),))])
        assert (await client.get(f"{ROOM}/communities/hierarchy")).json() == {"hierarchy": None}
        assert (await client.post(f"{ROOM}/communities/find")).json()["added"] == 4
        listed = await all_pages(client, "/communities", level=0)
        assert sorted(one["size"] for one in listed) == [3, 3, 3, 3]
        assert len({one["id"] for one in listed}) == 4
        one = (await client.get(f"{ROOM}/communities/{listed[0]['id']}")).json()
        assert (one["report"], len(one["members"])) == (None, 3)
        members = await all_pages(client, f"/communities/{listed[0]['id']}/members")
        assert members == one["members"]
        tree = (await client.get(f"{ROOM}/communities/tree", params={"limit": 3})).json()
        assert (len(tree["communities"]), tree["total"]) == (3, 4)
        path = f"{ROOM}/communities/{listed[0]['id']}/report"
        assert (await client.get(f"{path}/estimate")).json()["reports"] == 1
        async with server.client(await server.key("read", "mine")) as reader:
            assert (await reader.get(f"{path}/estimate")).status_code == 200
            assert (await reader.post(path)).status_code == 403
        written = await client.post(path, headers={"Idempotency-Key": "one"})
        assert written.status_code == 200, written.text
        assert (await client.post(path, headers={"Idempotency-Key": "one"})).json() == written.json()
        asked = await client.post(f"{ROOM}/communities/reports")
        assert (asked.status_code, asked.json()["reports"]) == (202, 3)
        assert (await client.get(f"{ROOM}/activity")).json()["reports"] == 3
        await trueweave.communities.write_reports()
        assert (await client.get(f"{ROOM}/activity")).json()["reports"] == 0
        assert (await client.get(f"{ROOM}/communities/{listed[0]['id']}")).json()["report"]["title"]
        assert (await client.get(f"{ROOM}/communities/hierarchy")).json()["hierarchy"]["levels"]
        gone = await client.get(f"{ROOM}/communities/00000000-0000-0000-0000-000000000000")
        assert (gone.status_code, gone.json()["code"]) == (404, "unknown_community")


async def test_rules(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("write", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        ada, london = {"name": "Ada Lovelace"}, {"name": "London"}
        bodies: list[dict[str, Any]] = [
            {"kind": "merge", "names": [ada, {"name": "Countess"}]},
            {"kind": "split", "names": [london]},
            {"kind": "rename", "names": [ada], "label": "Ada King"},
            {"kind": "retype", "names": [london], "label": "city"},
            {"kind": "describe", "names": [ada], "target": london, "label": "lived there"},
            {"kind": "suppress", "names": [{"name": "Charles Babbage"}]},
            {"kind": "add", "names": [ada], "target": {"name": "Byron"}, "label": "was his daughter", "type": "kin"},
        ]
        made = []
        for body in bodies:
            answer = await client.post(f"{ROOM}/rules", json=body)
            assert answer.status_code == 201, answer.text
            made.append(answer.json())
        assert [one["kind"] for one in made] == [one["kind"] for one in bodies]
        assert {one["by"] for one in made} == {"test write"}
        listed = await all_pages(client, "/rules")
        assert [one["id"] for one in listed] == [one["id"] for one in made]
        names = {one.name for one in await trueweave.graph.entities()}
        assert names == {"Ada King", "London", "Byron"}
        assert (await client.delete(f"{ROOM}/rules/{made[2]['id']}")).json() == {"undone": made[2]["id"]}
        again = await client.delete(f"{ROOM}/rules/{made[2]['id']}")
        assert (again.status_code, again.json()["code"]) == (404, "unknown_rule")
        two = await client.post(f"{ROOM}/rules", json={"kind": "rename", "names": [ada, london], "label": "x"})
        assert (two.status_code, two.json()["code"]) == (422, "invalid_rule")


async def test_suggestions_are_accepted_and_rejected(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("write", "mine")) as client:
        texts = [f"{name} wrote." for name in ("Annabella", "Annabela", "Byron", "Byronn")]
        trueweave = await fill(server.database, "mine", *texts)
        found = (await client.get(f"{ROOM}/rules/suggestions", params={"threshold": 80})).json()["suggestions"]
        pairs = {one["one"]["name"]["name"][:2]: one for one in found}
        assert pairs.keys() == {"An", "By"}
        accepted = await client.post(f"{ROOM}/rules/suggestions/accept", json={"ids": [pairs["An"]["id"]]})
        assert [one["kind"] for one in accepted.json()["rules"]] == ["merge"]
        rejected = await client.post(f"{ROOM}/rules/suggestions/reject", json={"ids": [pairs["By"]["id"]]})
        assert {one["name"] for one in rejected.json()["rejected"][0]} == {"Byron", "Byronn"}
        left = await client.get(f"{ROOM}/rules/suggestions", params={"threshold": 80})
        assert left.json() == {"suggestions": [], "total": 0, "next": None}
        assert len([one for one in await trueweave.graph.entities() if one.name.startswith("Anna")]) == 1


async def test_money(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("admin", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        async with trueweave.workspace.transaction() as tx:
            await tx.execute(
                "INSERT INTO spend VALUES (DEFAULT, gen_random_uuid(), 'extract', 'd', 'm', 5, 7, 0.25, 'done', 1)"
            )
        spent = (await client.get(f"{ROOM}/spend")).json()
        assert (spent["currency"], [one["stage"] for one in spent["receipt"]]) == ("USD", ["extract"])
        assert (await client.get(f"{ROOM}/spend", params={"since": "2100-01-01T00:00:00Z"})).json()["receipt"] == []
        assert (await client.get(f"{ROOM}/spend", params={"since": "yesterday"})).status_code == 422
        assert (await client.get(f"{ROOM}/spend/documents")).json()["documents"][0]["document"] == "d"
        assert (await client.put(f"{ROOM}/budget", json={"price": "2.50"})).status_code == 200
        assert float((await client.get(f"{ROOM}/budget")).json()["price_cap"]) == 2.5


async def test_a_cursor_is_taken_by_its_own_list_alone(url: str) -> None:
    async with serving(url) as server:
        for name in ("mine", "other"):
            await fill(server.database, name, "Byron wrote.", "Annabella wrote.")
        async with server.client(await server.key("read")) as client:
            cursor = (await client.get(f"{ROOM}/entities", params={"limit": 1})).json()["next"]
            tag = json.loads(base64.urlsafe_b64decode(cursor))[0]
            forged = [
                base64.urlsafe_b64encode(json.dumps([tag, position]).encode()).decode()
                for position in ("x", [1], ["a", 2, 3], None, [1, "x", "no id"], [10**400, "x", cursor])
            ]
            assert (await client.get(f"{ROOM}/entities", params={"cursor": cursor})).status_code == 200
            for path, given in [
                (f"{ROOM}/relations", cursor),
                (f"{ROOM}/documents", cursor),
                ("/v1/workspaces/other/entities", cursor),
                *((f"{ROOM}/entities", one) for one in (*forged, "nonsense", "🙂", "e30=")),
            ]:
                answer = await client.get(path, params={"cursor": given})
                assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor"), given
            for limit in (0, 201, "many"):
                assert (await client.get(f"{ROOM}/entities", params={"limit": limit})).status_code == 422


async def test_a_part_of_the_graph_to_draw(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        links = (Link("Byron", "Ada Lovelace", target_type="person"), Link("Byron", "Shelley", strength=9))
        await trueweave.add_documents([Document("more", (Chunk("Byron met Ada", links=links),))])
        ada = await trueweave.graph.entity("Ada Lovelace")
        [passage] = (await trueweave.document("more")).passages
        body = {"entities": [str(ada.entity.id)], "chunks": [str(passage.id)]}
        whole = (await client.post(f"{ROOM}/subgraph", json=body)).json()
        assert [one["name"] for one in whole["nodes"]] == ["Ada Lovelace", "Byron", "Shelley"]
        names = {one["id"]: one["name"] for one in whole["nodes"]}
        assert [(names[one["source"]], names[one["target"]], one["weight"]) for one in whole["edges"]] == [
            ("Byron", "Shelley", 9.0),
            ("Byron", "Ada Lovelace", 5.0),
        ]
        assert (whole["entities"], whole["relations"]) == (3, 2)
        some = (await client.post(f"{ROOM}/subgraph", json={**body, "limit": 2})).json()
        assert ([one["name"] for one in some["nodes"]], some["entities"]) == (["Ada Lovelace", "Byron"], 3)
        assert (len(some["edges"]), some["relations"]) == (1, 1)
        await trueweave.remove(["more"])
        left = (await client.post(f"{ROOM}/subgraph", json=body)).json()
        assert [one["name"] for one in left["nodes"]] == ["Ada Lovelace"]
        nothing = await client.post(f"{ROOM}/subgraph", json={})
        assert nothing.json() == {"nodes": [], "edges": [], "entities": 0, "relations": 0}


async def test_neighbours_to_draw_and_types(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        links = (Link("Ada Lovelace", "Byron", "", ("kin",), 9, source_type="person", target_type="person"),)
        more = (*links, Link("London", "Byron", source_type="place", target_type="person"))
        await trueweave.add_documents([Document("more", (Chunk("Byron met Ada", links=more),))])

        async def around(**params: Any) -> tuple[list[str], int, int]:
            answer = await client.get(f"{ROOM}/around", params={"entity": "Ada Lovelace", **params})
            assert answer.status_code == 200, answer.text
            found = answer.json()
            return [one["name"] for one in found["nodes"]], found["entities"], len(found["edges"])

        names, entities, edges = await around()
        assert (names[:2], {*names[2:]}, entities, edges) == (
            ["Ada Lovelace", "Byron"],
            {"London", "Charles Babbage"},
            4,
            4,
        )
        assert await around(limit=1) == (["Ada Lovelace", "Byron"], 4, 1)
        assert await around(type="PLACE") == (["Ada Lovelace", "London"], 2, 1)
        assert await around(min_weight=8.5) == (["Ada Lovelace", "Byron"], 2, 1)
        byron = (await trueweave.graph.entity("Byron")).entity.id
        assert await around(document="more") == (["Ada Lovelace", "Byron"], 2, 1)
        assert (await client.get(f"{ROOM}/around", params={"entity": "Byron", "document": "none"})).status_code == 404
        types = (await client.get(f"{ROOM}/types")).json()
        assert types["entities"] == [
            {"type": "person", "count": 2},
            {"type": "", "count": 1},
            {"type": "place", "count": 1},
        ]
        assert {one["type"]: one["count"] for one in types["relations"]} == {"": 2, "kin": 1, "work": 1}
        far = (
            Link("London", "Thames", source_type="place"),
            Link("Thames", "Sea"),
            Link("Byron", "Thames", source_type="person"),
        )
        await trueweave.add_documents([Document("far", (Chunk("London and the Thames", links=far),))])
        # Each entity is counted once, however many ways lead to it.
        names, entities, _ = await around(hops=2)
        assert (set(names[4:]), entities) == ({"Thames"}, 5)
        assert (await around(hops=3))[:2][1] == 6
        names, entities, _ = await around(hops=2, limit=1)
        assert (names[:2], len(names), entities) == (["Ada Lovelace", "Byron"], 3, 5)
        names, entities, _ = await around(entity=["Ada Lovelace", "Sea"], limit=1)
        assert (names[:2], set(names[2:]), entities) == (["Ada Lovelace", "Sea"], {"Byron", "Thames"}, 6)
        assert "Byron" not in (await around(exclude=str(byron)))[0]


async def test_the_beginning_of_a_name_is_completed(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        names = ["Élodie d’Arc", "The Analytical Engine", "Engine", "Love", "a%b_c", "阿达 洛芙莱斯", "x" * 3000]
        links = [Link("Love", name) for name in names]
        await trueweave.add_documents(
            [Document("more", tuple(Chunk(f"text {n}", links=(link,)) for n, link in enumerate(links)))]
        )

        async def completed(text: str, **params: Any) -> list[str]:
            answer = await client.get(f"{ROOM}/entities/complete", params={"text": text, **params})
            assert answer.status_code == 200, answer.text
            return [one["name"] for one in answer.json()["entities"]]

        assert await completed("LOV") == ["Love", "Ada Lovelace"]  # first names, then last words
        assert await completed("lov", limit=1) == ["Love"]
        assert await completed("ada l") == ["Ada Lovelace"]
        assert await completed("elodie D'") == ["Élodie d’Arc"]
        assert await completed("the engine") == ["Engine", "The Analytical Engine"]
        assert await completed("analyt") == ["The Analytical Engine"]
        assert await completed("洛芙") == ["阿达 洛芙莱斯"]
        assert await completed("a%") == ["a%b_c"]
        assert await completed("xxx") == ["x" * 3000]
        assert await completed("x" * 400) == ["x" * 3000]
        assert await completed("%") == await completed("_") == await completed("lovelace ada") == []

"""Settings of a workspace, types with a trial, models with their checks, spending, keys, and what is forbidden."""

from __future__ import annotations

from playwright.async_api import Route, expect

from tests.browser.hostile import IMAGE, TURNED
from tests.browser.pages import Web, check_accessibility, check_is_text, check_looks, check_width
from tests.browser.test_documents import room


async def test_an_administrator_changes_settings_and_tries_types(web: Web) -> None:
    async with room(web, "office", {"ada.md": "Ada Lovelace met Charles Babbage."}) as client:
        async with web.visit("office/settings") as page:
            await page.get_by_label("max_chunk_size").fill("500")
            await page.get_by_role("button", name="Save").click()
            await expect(page.get_by_text("Saved. Other servers")).to_be_visible()
            assert (await client.get("settings")).json()["own"] == {"extractor": "capitals", "max_chunk_size": 500}
            await page.get_by_label("max_chunk_size").fill("5")  # the server refuses what a field lets through
            await check_looks(page)
            await page.get_by_role("button", name="Discard changes").click()
            await expect(page.get_by_label("max_chunk_size")).to_have_value("500")
            await page.get_by_role("link", name="Types").click()
            await page.get_by_label("Entity types").fill(f"ship: a vessel\n{IMAGE}")
            await page.get_by_role("button", name="Use the beginning of a document").click()
            await expect(page.get_by_label("Text")).to_have_value("Ada Lovelace met Charles Babbage.")
            await page.get_by_role("button", name="Try", exact=True).click()
            await expect(page.get_by_role("region", name="Entities")).to_contain_text("Ada Lovelace")
            assert "entity_types" not in (await client.get("settings")).json()["own"], "a trial saves nothing"
            await page.get_by_role("button", name="Save").click()
            await expect(page.get_by_text("Saved. Documents that are added")).to_be_visible()
            own = (await client.get("settings")).json()["own"]
            assert own["entity_types"] == {"ship": "a vessel", IMAGE: ""}
            await page.get_by_role("button", name="Add a relation").click()
            await page.get_by_label("Relation 1", exact=True).fill("born in")
            await page.get_by_label("Relation 1 has only").select_option("one target at a time")
            await page.get_by_role("button", name="Save").click()
            await expect(page.get_by_text("Saved. Conflicts are found")).to_be_visible()
            own = (await client.get("settings")).json()["own"]
            assert own["functional_relations"] == {"born in": "one target at a time"}
            await check_looks(page)
            await page.reload()
            await expect(page.get_by_label("Relation 1", exact=True)).to_have_value("born in")
        async with web.visit("office/ask") as page:
            await expect(page.get_by_role("heading", name="Ask office")).to_be_visible()
            await page.keyboard.press("g")
            await page.keyboard.press("s")
            await expect(page.get_by_role("heading", name="Settings")).to_be_focused()
            await page.goto(f"{web.url}/ui/office/settings/models")
            await expect(page.get_by_text("writes answers")).to_be_visible()
            await page.get_by_role("button", name="Run the checks").click()
            await expect(page.get_by_text("PostgreSQL 16 or later")).to_be_visible()
            await check_looks(page)


async def test_spending_and_keys(web: Web) -> None:
    async with room(web, "bursary", capitals=True) as client, web.visit("bursary/settings/budget") as page:
        await expect(page.get_by_text("Nothing was spent.")).to_be_visible()
        await page.get_by_label("Unit").select_option("tokens")
        await page.get_by_label("From now on, spend at most").fill("5000")
        await page.get_by_role("button", name="Set the limit").click()
        await expect(page.get_by_text("of 5,000 tokens")).to_be_visible()
        assert (await client.get("budget")).json()["token_cap"] == 5000

        async def spent(route: Route) -> None:
            day = {"day": "2026-11-01", "name": IMAGE, "calls": 2, "tokens_in": 10, "tokens_out": 5, "price": None}
            await route.fulfill(json={"currency": "EUR", "days": [day]})

        await page.route("**/spend/daily*", spent)
        await page.get_by_label("By").select_option("model")
        await expect(page.get_by_role("region", name="Spending by day")).to_contain_text(IMAGE)
        assert page.url.endswith("?by=model")
        await check_is_text(page)
        await check_looks(page)
        await page.get_by_role("link", name="Keys").click()
        name = f"{IMAGE} {TURNED} {'k' * 120}"
        await page.get_by_label("Name of the new key").fill(name)
        await page.get_by_role("button", name="Make a key").click()
        dialog = page.get_by_role("dialog")
        key = (await dialog.locator("pre").inner_text()).strip()
        async with web.site.server.client(key) as owner:
            assert (await owner.get("/v1/workspaces")).json()["items"][0]["name"] == "bursary"
            await page.keyboard.press("Escape")
            await expect(page.get_by_text(key)).to_have_count(0)
            row = page.get_by_role("row").filter(has_text="kkkk")
            await expect(row).to_contain_text("bursary")
            await check_is_text(page)
            await check_looks(page)
            await row.get_by_role("button", name="Revoke").click()
            await dialog.get_by_role("button", name="Revoke").click()
            await expect(row).to_contain_text("revoked")
            assert (await owner.get("/v1/workspaces")).status_code == 401


async def test_what_is_forbidden_is_not_shown_and_failures_have_a_next_step(web: Web) -> None:
    reader = await web.site.server.key("read", "carol")
    async with web.visit("carol/settings/keys", key=reader) as page:
        await expect(page.get_by_text("Keys needs the scope admin")).to_be_visible()
        parts = page.get_by_role("navigation", name="Settings").get_by_role("link")
        await expect(parts).to_have_text(["Models", "Budget", "Access"])
        await check_accessibility(page)
        await parts.last.click()
        await expect(page.get_by_text("read, for some workspaces")).to_be_visible()
        await check_looks(page)
        await parts.first.click()
        await expect(page.get_by_text("writes answers")).to_be_visible()
        await expect(page.get_by_role("button", name="Run the checks")).to_have_count(0)
    async with web.visit("carol/settings/nothing") as page:
        await expect(page.get_by_text("There are no such settings")).to_be_visible()
    async with web.visit(None, expected=["status of 503"]) as page:

        async def fails(route: Route) -> None:
            await route.fulfill(status=503, json={"detail": "the database is unavailable.", "next_step": "Wait."})

        await page.route("**/carol/settings", fails)
        await page.goto(f"{web.url}/ui/carol/settings/types")
        await expect(page.get_by_role("alert")).to_contain_text("The database is unavailable.")
        await check_width(page)

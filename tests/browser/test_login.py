"""Logging in over TLS: by key, by identity provider, behind a proxy; forged writes; and sessions that end."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.async_api import Page, Response, expect

from tests.browser.pages import COOKIE, Web, check_looks
from tests.browser.site import PARTNERS
from tests.certificates import Certificate, make_certificate
from tests.servers import NginxServer, OidcProvider, no_nginx, no_oidc_provider
from trueweave.server import services
from trueweave.store.postgres.access import api_keys

REFUSED = "status of 401"


async def test_a_key_opens_a_session_that_scripts_cannot_read(web: Web) -> None:
    key = await web.site.server.key("read", "carol")
    async with web.visit("carol/ask?q=", key="", expected=[REFUSED]) as page:
        await expect(page.get_by_role("heading", name="Log in to Trueweave")).to_be_visible()
        assert page.url.endswith("/ui/login?next=%2Fcarol%2Fask%3Fq%3D")
        field = page.get_by_label("Key", exact=True)
        await field.focus()
        await page.keyboard.type("twk_wrong")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_be_visible()
        await field.focus()
        await page.keyboard.type(key)
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Question", exact=True)).to_be_visible()
        [cookie] = await page.context.cookies()
        assert cookie["name"] == COOKIE
        assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Strict")
        stored = await page.evaluate("document.cookie + JSON.stringify({...localStorage, ...sessionStorage})")
        assert key not in stored
        assert cookie["value"] not in stored
        await page.get_by_role("button", name="Log out").click()
        await expect(page.get_by_role("heading", name="Log in to Trueweave")).to_be_visible()
        assert await page.context.cookies() == []
        await page.go_back()
        await expect(page.get_by_role("heading", name="Log in to Trueweave")).to_be_visible()


async def test_a_person_logs_in_at_the_identity_provider(web: Web, tmp_path: Path) -> None:
    if reason := no_oidc_provider():
        pytest.skip(reason)
    provider = OidcProvider(tmp_path, web.url, {"ada": ["carol"]}, port=web.site.provider)
    provider.start()
    try:
        async with web.visit("login?next=/carol/ask", key="", others=[provider.url]) as page:
            await page.get_by_role("link", name="Log in at your identity provider").click()
            await page.locator("[name=login]").fill("ada")
            await page.locator("[name=password]").fill("any")
            await page.locator("[type=submit]").click()
            await expect(page.get_by_label("Question", exact=True)).to_be_visible()
            assert page.url == f"{web.url}/ui/carol/ask"
            await page.get_by_role("button", name="Log out ada").click()
            await expect(page.get_by_role("heading", name="Log in to Trueweave")).to_be_visible()
    finally:
        provider.kill()


async def test_a_login_that_failed_at_the_provider_is_told(web: Web) -> None:
    async with web.visit("login?error=provider_unavailable", key="") as page:
        await expect(page.get_by_role("alert")).to_contain_text("The identity provider cannot be reached.")
        await expect(page.get_by_label("Key", exact=True)).to_be_visible()
        await check_looks(page)


async def test_behind_a_proxy_that_logs_people_in_no_form_is_shown(web: Web, tmp_path: Path) -> None:
    if reason := no_nginx():
        pytest.skip(reason)
    key = await web.site.server.key("read", "carol")
    header = f'proxy_set_header Authorization "Bearer {key}";'
    proxy = NginxServer(tmp_path, web.url, header, certificate=make_certificate(tmp_path))
    proxy.start()
    try:
        # Seen once, on a busy machine, for an unknown reason. What the page shows is still checked.
        busy = ["ERR_TOO_MANY_RETRIES"]
        async with web.visit(f"carol/ask?q={PARTNERS}", key="", origin=proxy.url, expected=busy) as page:
            await expect(page.get_by_text("(checked by rules)")).to_be_visible()
            await expect(page.get_by_role("button", name="Log out")).to_have_count(0)
    finally:
        proxy.kill()


FORGED = """async (target) => {
  const file = new FormData();
  file.append("file", new File(["forged"], "forged.txt"));
  const asked = {method: "POST", mode: "no-cors", credentials: "include"};
  await fetch(`${target}/v1/workspaces/carol/documents/files`, {...asked, body: file});
  await fetch(`${target}/v1/workspaces/carol/communities/find`, asked);
  const form = document.createElement("form");
  form.action = `${target}/v1/workspaces/carol/documents/files`;
  Object.assign(form, {method: "post", enctype: "multipart/form-data"});
  document.body.append(form);
  form.submit();
}"""


async def test_writes_that_a_page_of_another_port_sends_are_refused(web: Web, tmp_path: Path) -> None:
    with page_elsewhere(make_certificate(tmp_path)) as elsewhere:
        async with web.visit(None, others=[elsewhere], expected=["status of 403", "status of 404"]) as page:
            answers: list[Response] = []
            page.on("response", lambda answer: answers.append(answer))
            await page.goto(elsewhere)
            await page.evaluate(FORGED, web.url)
            await page.wait_for_url(f"{web.url}/**")
            writes = [one for one in answers if one.request.method == "POST"]
            assert [one.status for one in writes] == [403, 403, 403]
            headers = await writes[-1].request.all_headers()
            assert headers["cookie"].startswith(f"{COOKIE}=")
            assert headers["sec-fetch-site"] == "same-site"
    async with web.site.server.client(web.site.key) as client:
        assert "forged" not in (await client.get("/v1/workspaces/carol/documents")).text


async def test_a_revoked_key_ends_its_sessions(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_KEY_FRESH", 0.2)
    key = await web.site.server.key("read", "carol")
    async with web.visit("carol/ask", key=key, expected=[REFUSED]) as page:
        await expect(page.get_by_text("For example")).to_be_visible()
        await api_keys.revoke(web.site.server.database, key.split("_")[1])  # by another process
        await until_logged_out(page)
        await expect(page.get_by_role("heading", name="Log in to Trueweave")).to_be_visible()
        await expect(page.get_by_text("For example")).to_have_count(0)


async def until_logged_out(page: Page) -> None:
    """Load the page again until it leads to the login."""
    inside = page.get_by_label("Question", exact=True)
    for _ in range(50):
        await page.reload()
        await expect(inside.or_(page.get_by_role("heading", name="Log in to Trueweave"))).to_be_visible()
        if "/ui/login" in page.url:
            return
    pytest.fail("the session did not end")


@contextmanager
def page_elsewhere(certificate: Certificate) -> Iterator[str]:
    """An empty page over TLS at another port of this machine."""

    class _Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><link rel=icon href=data:,><title>Elsewhere</title>")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.chain, certificate.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()

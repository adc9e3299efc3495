"""The policy of the pages, as the browser enforces it."""

from __future__ import annotations

from tests.browser.pages import Web

TRIED = "() => {{ try {{ {}; return '' }} catch (error) {{ return error.name }} }}"


async def test_pages_forbid_inline_code_and_strings_as_markup(web: Web) -> None:
    async with web.visit("carol/ask", expected=["(?i)content security policy", "TrustedHTML", "TrustedScript"]) as page:
        answer = await page.reload()
        assert answer
        policy = await answer.header_value("content-security-policy")
        assert policy
        assert "unsafe" not in policy
        assert "require-trusted-types-for 'script'" in policy
        for forbidden in (
            "document.body.innerHTML = '<b>x</b>'",
            "document.createElement('script').text = 'x'",
            "trustedTypes.createPolicy('other', {})",
            "setTimeout('window.ran = true')",
            "document.body.setAttribute('onclick', 'window.ran = true')",
        ):
            thrown = await page.evaluate(
                f"() => {{ try {{ {forbidden}; return '' }} catch (error) {{ return error.name }} }}"
            )
            assert thrown, forbidden
        await page.evaluate(
            """() => {
              const style = document.createElement("style");
              style.textContent = "body { color: rgb(1, 2, 3) !important }";
              document.head.append(style);
            }"""
        )
        assert await page.evaluate("getComputedStyle(document.body).color") != "rgb(1, 2, 3)"
        assert not await page.evaluate("'ran' in window")

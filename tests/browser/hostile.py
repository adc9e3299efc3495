"""Documents, names and answers that try to run as scripts, to turn text around, or to push a page apart."""

from __future__ import annotations

from trueweave import Chunk, Document, Link, Mention

SCRIPT = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(1)>"
ADDRESS = "javascript:alert(1)"
ABROAD = "https://elsewhere.example/taken"
TURNED = "\u202egnp.exe\u202c \u200fשלום\u200e \u2067مرحبا\u2069"
LONG = "Llanfair" * 1250  # one word of 10,000 characters
EMOJI = "😀👩‍👩‍👧🇳🇱 e\u0301 𝔘"

URI = f"{EMOJI}/{IMAGE} & {TURNED}.txt"
QUOTE = f"The captain {EMOJI} signed as {SCRIPT} at dawn"
BEFORE = f"{EMOJI} {IMAGE} {TURNED} {LONG} {EMOJI} "
TEXT = f"{BEFORE}{QUOTE}. [A link]({ADDRESS}) and {ABROAD} followed. {LONG}"
QUESTION = f"What did the captain sign {IMAGE} {TURNED}?"
# The model repeats what it read, as Markdown and as HTML; then a table that is wider than any page.
ANSWER = (
    f"{EMOJI} {QUOTE} [[{QUOTE}]]. See [here]({ADDRESS}), ![a picture]({ABROAD}), <{ABROAD}> and {IMAGE}. "
    f"{LONG}\n\n<iframe src={ABROAD}></iframe>\n\n| {LONG[:900]} | b |\n|---|---|\n| `{LONG[:900]}` | {IMAGE} |\n"
)
NAMES = (IMAGE, SCRIPT, TURNED, "Llanfair" * 24)


def document() -> Document:
    """One document whose uri, title, text, metadata, mentions and links are all hostile."""
    mentions = tuple(Mention(name, IMAGE, f"{SCRIPT} {LONG[:500]}") for name in NAMES)
    links = tuple(Link(NAMES[0], name, f"{IMAGE} {ADDRESS}", (SCRIPT,)) for name in NAMES[1:])
    return Document(URI, (Chunk(TEXT, mentions=mentions, links=links),), f"{TURNED} {IMAGE}", {IMAGE[:20]: LONG})

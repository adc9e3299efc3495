"""Questions about all documents together, such as "What are the main themes?"."""

from __future__ import annotations

import re

_MAIN = r"(?:main|key|central|overall|major|principal|common|recurring|dominant|overarching|underlying|most important)"
_THEMES = (
    r"(?:themes?|topics?|subjects?|ideas?|messages?|trends?|patterns?|issues?|concerns?|findings|conclusions?"
    r"|takeaways?|arguments?|lessons?)"
)
_ALL = r"(?:(?:all|both|these|this|the|my|our|whole|entire|of)\s+){1,3}"
_DOCUMENTS = (
    r"(?:documents?|texts?|files?|notes?|letters?|mails?|e-?mails?|corpus|collection|archive|folder|library|data ?set"
    r"|books?|story|novels?|papers?|articles?|reports?|minutes|pages)"
)
_WHOLE = re.compile(
    rf"\b{_MAIN}\s+{_THEMES}(?:\s+(?:are|do|discussed|covered|mentioned|there|here))*"
    rf"(?:\s+(?:of|in|across|from|over)\s+{_ALL}{_DOCUMENTS})?\s*[?.!]?\s*$"
    rf"|\b(?:summari[sz]e|summary of|overview of|gist of)\s+(?:everything|{_ALL}{_DOCUMENTS})\b"
    rf"|\bwhat\s+(?:is|are|do)\s+{_ALL}{_DOCUMENTS}\s+(?:(?:all|mostly|mainly)\s+)?(?:about|deal with|cover)\b"
    rf"|\bacross\s+all\s+(?:(?:the|these|my|our)\s+)?{_DOCUMENTS}\b",
    re.IGNORECASE,
)


def asks_about_the_whole(question: str) -> bool:
    """Whether an English question is about all documents together. No few passages answer such a question; reports on
    communities do. Questions in other languages are not recognised."""
    return bool(_WHOLE.search(question))

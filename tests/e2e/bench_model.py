"""What a language model says in tests of `trueweave bench`, by rules."""

import json
import re
from typing import Any

from trueweave.testing.model_server import Asked

_BORN = re.compile(r"(\w+ \w+) was born in the rainy town of (\w+)\.")
_FOUNDED = re.compile(r"(\w+ \w+) founded the hat factory (\w+)\.")


def reply(asked: Asked) -> str:
    """A question about the person of the passages, whose quotes are wrong for Karl Noor."""
    system, user = asked.messages[0].content, asked.messages[-1].content
    if system.startswith("You write a question"):
        return json.dumps(_question(user))
    if system.startswith("You judge an answer"):
        said = user.rpartition("Answer:")[2]
        right = "yes" if any(one in said for one in user.partition("Passages:")[0].split()[-3:]) else "no"
        return json.dumps({"correct": right, "complete": right, "supported": "yes", "reason": ""})
    if "{" in json.dumps(asked.schema or ""):
        return json.dumps({"entities": [], "relations": []})
    born = _BORN.search(user)
    return f"{born[2]} [1]." if born else "[0] The documents do not say."


def _question(passages: str) -> dict[str, Any]:
    born, founded = _BORN.search(passages), _FOUNDED.search(passages)
    numbers = {founded: 1, born: 2} if founded and born and founded.start() < born.start() else {born: 1, founded: 2}
    if born and founded and numbers[founded] == 1:
        quotes = [{"passage": 1, "quote": founded[0]}, {"passage": 2, "quote": born[0]}]
        return {
            "question": f"Which rain-soaked town did the maker of {founded[2]} hats come from?",
            "answer": born[2],
            "quotes": quotes,
        }
    if born and founded:
        quotes = [{"passage": 2, "quote": founded[0]}, {"passage": 1, "quote": born[0]}]
        return {
            "question": f"Which hat works did the native of rainy {born[2]} set up?",
            "answer": founded[2],
            "quotes": quotes,
        }
    if born:
        quote = "He was born somewhere." if born[1] == "Karl Noor" else born[0]
        return {
            "question": f"From which rain-soaked town does {born[1]} come?",
            "answer": born[2],
            "quotes": [{"passage": 1, "quote": quote}],
        }
    assert founded
    return {
        "question": f"What is the hat works of {founded[1]} called?",
        "answer": founded[2],
        "quotes": [{"passage": 1, "quote": founded[0]}],
    }

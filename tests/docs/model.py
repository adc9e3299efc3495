"""What a language model says on the pages of the documentation, by rules."""

import json
import re
from itertools import pairwise

from trueweave.testing.model_server import Asked

NAME = re.compile(r"\b[A-Z][a-z]+ (?:of )?[A-Z][a-z]+\b")
FACTS = (  # a phrase of the question, a passage that answers it, and what is said then
    ("ground the lens", "the lens for Gull Stack was ground by Isolde Marrack", "Isolde Marrack ground it"),
    (
        "ground the lens",
        "Isolde Marrack was bound to Tobias Wendle for seven years",
        "She was bound to Tobias Wendle for seven years",
    ),
)


def reply(asked: Asked) -> str:
    """Entities that share a sentence for an extraction, and an answer with one sentence too many for a question."""
    if asked.schema and "entities" in json.dumps(asked.schema):
        return _extraction(asked.messages[-1].content)
    if asked.schema:
        properties = asked.schema["properties"]
        return json.dumps({name: {"city": "Paris", "year": 1924}.get(name, []) for name in properties})
    if "Question: " not in (text := asked.messages[-1].content):
        return "ok"
    passages, _, question = text.rpartition("Question: ")
    said = [_cited(passages, words, claim) for phrase, words, claim in FACTS if phrase in question]
    return " ".join([*filter(None, said), "He was paid for it."]) if any(said) else "[0] The documents do not say."


def _cited(passages: str, words: str, claim: str) -> str:
    """The claim with the passage that has these words, if it is there."""
    before, found, _ = passages.partition(words)
    numbers = re.findall(r"^.*?\[(\d+)\]", before, re.MULTILINE)
    return f'{claim} [{numbers[-1]} "{words}"].' if found else ""


def _extraction(text: str) -> str:
    names = list(dict.fromkeys(NAME.findall(text)))
    entities = [{"name": name, "type": "person", "description": f"{name} is named.", "emphasis": 5} for name in names]
    same = {"description": "They are named together.", "keywords": [], "strength": 5, "emphasis": 5}
    pairs = [{"source": first, "target": second, **same} for first, second in pairwise(names)]
    return json.dumps({"entities": entities, "relations": pairs})

"""The example of an insurance, from its files to answers that cite a clause, a row of a table and a scanned page."""

import json
import re
import shutil
from pathlib import Path

from tests.e2e.conftest import ROOT, Trueweave, answer, model_server
from trueweave.testing.model_server import Asked

SCRIPT = ("--script", f"{__name__}:reply")
ENTITIES = {
    "Skarvnes Mutual": "insurer",
    "Harbour Cooperative": "policyholder",
    "4711-08": "policy",
    "Clause 9": "clause",
    "Flood": "event",
    "Bicycles": "benefit",
}
RELATIONS = [
    ("Clause 9", "includes", "Flood"),
    ("Harbour Cooperative", "holds", "4711-08"),
    ("Flood", "pays", "Clause 9"),
]
QUESTIONS = {
    "leak": "How much does the policy pay for finding a leak?",
    "bicycles": "What is the deductible for bicycles?",
    "March": "Which claim was accepted in March?",
}
ANSWERS = {
    "leak": ("Finding the leak is paid up to EUR 3,000", "finding the leak, up to EUR 3,000 for each event"),
    "bicycles": ("The deductible for bicycles is EUR 150", "Bicycles | EUR 2,000 | EUR 150"),
    "March": ("Claim HH-2026-004711 was accepted", "Claim HH-2026-004711 is accepted."),
}


def reply(asked: Asked) -> str:
    """What the model says: the entities and relations that a text names, or an answer with a quote."""
    text = asked.messages[-1].content
    if asked.schema and "entities" in asked.schema["properties"]:
        named = {name: kind for name, kind in ENTITIES.items() if name in text}
        return json.dumps(
            {
                "entities": [{"name": name, "type": kind, "description": kind} for name, kind in named.items()],
                "relations": [
                    {"source": source, "target": target, "type": kind, "keywords": [kind], "description": kind}
                    for source, kind, target in RELATIONS
                    if source in named and target in named
                ],
            }
        )
    if asked.schema:
        return json.dumps({"low_level": [], "high_level": []})
    said, quote = next(found for word, found in ANSWERS.items() if word in text.rpartition("Question")[2])
    passage = re.findall(r"\[(\d+)\]", text[: text.index(quote)])[-1]
    return f'{said} [{passage} "{quote}"].'


def test_the_insurance_example_goes_from_its_files_to_cited_answers(trueweave: Trueweave, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "insurance", tmp_path, dirs_exist_ok=True)
    with model_server(*SCRIPT) as url:
        settings = (tmp_path / "trueweave.toml").read_text("utf-8")
        (tmp_path / "trueweave.toml").write_text(f'model = "openai/any"\nmodel_url = "{url}"\n{settings}', "utf-8")
        trueweave("init")
        assert "2 documents read, 2 new" in trueweave("add", "documents", "--yes").stdout
        terms = answer(trueweave("document", "documents/terms.md", "--json"))["document"]
        assert terms["metadata"] == {"insurer": "Skarvnes Mutual", "date": "2026-01-01", "tags": ["household", "terms"]}
        policy = answer(trueweave("document", "documents/policy.pdf", "--json"))["document"]
        assert policy["metadata"] == {"ocr": True}
        assert re.match(r"page 2 was read by OCR \(RapidOCR, mean confidence (0\.9\d|1\.00)\)", policy["notes"][0])
        found = {one["name"]: one["type"] for one in answer(trueweave("entities", "--json"))["entities"]}
        assert found == ENTITIES
        cited = {}
        for word, question in QUESTIONS.items():
            asked = answer(trueweave("ask", question, "--json"))
            [citation] = asked["citations"]
            assert citation["verbatim"], asked
            cited[word] = (citation["uri"], citation["page"], citation["headings"])
    assert cited == {
        "leak": ("documents/terms.md", "", ["Household insurance", "Clause 3: Burst pipes"]),
        "bicycles": ("documents/policy.pdf", "1", ["Policy 4711-08"]),
        "March": ("documents/policy.pdf", "2", ["Policy 4711-08"]),
    }

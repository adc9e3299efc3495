"""Questions about all documents together are told from those about something in them."""

import json
from pathlib import Path

import pytest

from trueweave.retrieval.methods.whole import asks_about_the_whole

FOLDERS = Path(__file__).parents[3] / "benchmarks" / "folders"


@pytest.mark.parametrize(
    "question",
    [
        "What are the main themes?",
        "What are the main themes of these letters?",
        "Which key topics are discussed in this collection?",
        "What are the most important issues in our reports?",
        "Summarise these documents.",
        "Please summarize everything",
        "Give me an overview of the whole archive.",
        "What are these documents about?",
        "What do all my notes deal with?",
        "Which people appear across all documents?",
    ],
)
def test_about_all_documents(question: str) -> None:
    assert asks_about_the_whole(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote to Babbage?",
        "What are the main findings about lymphoma?",
        "What is the main theme of the letter to Babbage?",
        "How does the narrator change throughout the novel?",
        "Write a summary for the patient.",
        "What is the subject of the painting?",
        "Worum geht es in diesen Dokumenten?",
    ],
)
def test_about_something_in_them(question: str) -> None:
    assert not asks_about_the_whole(question)


def test_no_question_of_the_small_folders_is_about_all_documents() -> None:
    files = sorted(FOLDERS.glob("*/questions.jsonl"))
    assert len(files) == 8
    asked = [json.loads(line)["question"] for file in files for line in file.read_text("utf-8").splitlines()]
    assert [question for question in asked if asks_about_the_whole(question)] == []

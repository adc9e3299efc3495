"""The data of `trueweave demo`: the archive of a harbour, questions about it, and vectors.

documents/      letters, minutes, notices, logs, mails, a register and two PDF files; people and places are invented
questions.jsonl questions, each with the passages that hold its answer
vectors.npz     vectors of all texts that the demo embeds, written by tools/write_demo_vectors.py
"""

from pathlib import Path

FOLDER = Path(__file__).parent
DOCUMENTS = FOLDER / "documents"
QUESTIONS = FOLDER / "questions.jsonl"
VECTORS = FOLDER / "vectors.npz"
MODEL = "bge-small-en-v1.5"  # that the vectors are from

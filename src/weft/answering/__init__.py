"""From evidence to an answer with citations, each of them checked.

    answering = Answering(use_cot=False, numerical_answer=False)
    async for piece in answering.stream(question, evidence, llm, history):   # str …, and at the end an Answer
        ...
    answering.context(evidence).text               # what a model would be shown, without asking one
    await standalone(question, history, llm)       # a follow-up question as it can be searched for

An answer with number 0 (`[0]`) in front of it is one that the documents do not give: `known` is False.
How sentences are judged is in weft.answering.cite, how room is divided in weft.answering.compose.
"""

from weft.answering.ask import Answering
from weft.answering.compose import Context, LeftOut
from weft.answering.conversation import standalone

__all__ = ["Answering", "Context", "LeftOut", "standalone"]

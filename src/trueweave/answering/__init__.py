"""From evidence to an answer with citations, each of them checked.

    answering = Answering(use_cot=False, numerical_answer=False)
    async for piece in answering.stream(question, evidence, llm, history):   # str …, and at the end an Answer
        ...
    answering.context(evidence).text               # what a model would be shown, without asking one
    await standalone(question, history, llm)       # a follow-up question as it can be searched for

An answer with number 0 (`[0]`) in front of it is one that the documents do not give: `known` is False.
How sentences are judged is in trueweave.answering.cite, how room is divided in trueweave.answering.compose.
"""

from trueweave.answering.ask import Answering
from trueweave.answering.compose import Context, LeftOut
from trueweave.answering.conversation import standalone

__all__ = ["Answering", "Context", "LeftOut", "standalone"]

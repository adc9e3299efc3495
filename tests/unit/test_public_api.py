from types import ModuleType

import trueweave

PUBLIC = """
    Answer AsyncTrueweave Chunk Citation Document Entity Evidence Filter Link Mention NameKey Passage Relation
    ResolutionSettings Rule Status Trueweave TrueweaveError Verdict
"""


def test_these_names_are_public_and_no_others() -> None:
    assert trueweave.__all__ == PUBLIC.split()
    assert all(hasattr(trueweave, name) for name in trueweave.__all__)  # two of them are loaded when they are asked for
    visible = {name: value for name, value in vars(trueweave).items() if not name.startswith("_")}
    assert {name for name, value in visible.items() if not isinstance(value, ModuleType)} == set(trueweave.__all__)

from types import ModuleType

import weft

PUBLIC = """
    Answer AsyncWeft Chunk Citation Document Entity Evidence Filter Link Mention NameKey Passage Relation
    ResolutionSettings Rule Status Verdict Weft WeftError
"""


def test_these_names_are_public_and_no_others() -> None:
    assert weft.__all__ == PUBLIC.split()
    assert all(hasattr(weft, name) for name in weft.__all__)  # two of them are loaded when they are asked for
    visible = {name: value for name, value in vars(weft).items() if not name.startswith("_")}
    assert {name for name, value in visible.items() if not isinstance(value, ModuleType)} == set(weft.__all__)

from types import ModuleType

import weft

PUBLIC = """
    AsyncWeft Chunk Document Entity Link Mention NameKey Relation ResolutionSettings Rule Status Verdict WeftError
"""


def test_these_names_are_public_and_no_others() -> None:
    assert weft.__all__ == PUBLIC.split()
    visible = {name: value for name, value in vars(weft).items() if not name.startswith("_")}
    assert {name for name, value in visible.items() if not isinstance(value, ModuleType)} == set(weft.__all__)

import pytest

from trueweave.models.json_repair import loads


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "He said "hi" to me", "b": [1, 2,],}', {"a": 'He said "hi" to me', "b": [1, 2]}),
        ('{"a": "He said "yes", and left", "b": 1}', {"a": 'He said "yes", and left', "b": 1}),
        ("{'name': 'Ada's work', 'x': None, 'y': True}", {"name": "Ada's work", "x": None, "y": True}),
        ("{name: Ada Lovelace, n: -3.5}", {"name": "Ada Lovelace", "n": -3.5}),
        ('{"a": "x", // a remark, "not": a key\n "b": ["y" "z"]}', {"a": "x", "b": ["y", "z"]}),
        ('{"a": "x"\n"b": "y"}', {"a": "x", "b": "y"}),
        ("{“a”: “b”}", {"a": "b"}),
        ('{"a": "b", "c": "d', {"a": "b", "c": "d"}),
        ('{"a": {"b": [1, {"c": 2}]', {"a": {"b": [1, {"c": 2}]}}),
        ('{"a": "b"]}', {"a": "b"}),
        ('{"a": 1} and {"b": 2}', [{"a": 1}, "and", {"b": 2}]),
        ('{"a": "one\\ntwo \\"three\\" \\ud83d\\ude00 \\u00e9"}', {"a": 'one\ntwo "three" 😀 é'}),
    ],
)
def test_mistakes_that_models_make_are_read_as_they_were_meant(text: str, value: object) -> None:
    assert loads(text) == value


def test_what_nests_too_deep_is_an_error() -> None:
    with pytest.raises(ValueError, match="deeper than 100"):
        loads("[" * 101)

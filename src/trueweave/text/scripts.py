"""Scripts that are read by characters, because they have no spaces between words or join particles to them."""

from __future__ import annotations

# Thai, Lao, Myanmar, Khmer, Japanese kana, Han and Hangul, for use in a character class of a pattern.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff"
)

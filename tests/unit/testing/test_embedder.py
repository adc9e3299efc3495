"""The embedder that tests and examples use in place of a model."""

import numpy as np
import pytest

from trueweave.testing import HashEmbedder


async def test_vectors_have_length_one_whatever_the_text() -> None:
    vectors = await HashEmbedder(dimensions=16).embed(["Ada wrote to Babbage", "", "!?", "東京"], "document")
    assert vectors.shape == (4, 16)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4))


async def test_the_same_words_have_the_same_vector_and_shared_words_bring_texts_nearer() -> None:
    here, again, near, far = await HashEmbedder().embed(
        ["Ada wrote to Babbage", "ADA wrote: to Babbage!", "Ada wrote to Byron", "an unrelated sentence altogether"],
        "document",
    )
    assert np.array_equal(here, again)
    assert here @ near > here @ far


async def test_no_texts_have_no_vectors() -> None:
    assert (await HashEmbedder(dimensions=16).embed([], "document")).shape == (0, 16)

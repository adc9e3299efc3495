"""Model files from a hub: found on this machine, or downloaded, verified and kept.

    FOLDER/bge-small-en-v1.5/tokenizer.json
    FOLDER/bge-small-en-v1.5/onnx/model.onnx
    FOLDER/bge-small-en-v1.5/download.json     the commit, and each file's size and checksum

A file has a temporary name until its checksum is verified: an interrupted download is resumed, and no process sees an
incomplete file. One process at a time downloads a model, and others wait for it.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha1, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

import platformdirs

from trueweave.core.errors import ConfigError, ModelFilesMissing
from trueweave.core.events import ModelDownload, tell
from trueweave.models.catalogue import HubModel

if TYPE_CHECKING:
    from huggingface_hub import HfFileMetadata

_RECORD = "download.json"
_COMMIT_DIGITS = 40
_BLOCK = 1 << 20
_PIECE = 1 << 16  # the most that a broken connection can lose
_TRIES = 5  # in a row without progress
_PAUSE = 1.0  # seconds between tries
_STEP = 1 << 20  # bytes between two events

Told = Callable[[ModelDownload], None]


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A downloaded file. The checksum is the hub's: SHA-256, or git's SHA-1 for small files."""

    size: int
    checksum: str


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model's files on this machine. The commit and the files are known if Trueweave downloaded them."""

    folder: Path
    commit: str = ""
    files: tuple[tuple[str, ModelFile], ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all downloaded files."""
        return sum(file.size for _, file in self.files)


def default_folder() -> Path:
    """Where models are kept: one folder per user, in the system's place for caches."""
    return platformdirs.user_cache_path("trueweave", appauthor=False) / "models"


def find(model: HubModel, folder: Path | None = None) -> ModelFiles | None:
    """A model's files in this folder or, without one, in Trueweave's own folder or Hugging Face's cache."""
    if folder is not None:
        return _in_folder(model, folder / model.name)
    return _downloaded(model, default_folder() / model.name) or _in_hub_cache(model)


def is_within_reach(model: HubModel, folder: Path | None = None) -> bool:
    """Whether a model's files are here or can be downloaded: everything they need is installed, and the hub is not
    switched off."""
    if any(find_spec(name) is None for name in ("huggingface_hub", "onnxruntime", "tokenizers")):
        return False
    from huggingface_hub import constants

    return bool(find(model, folder)) or not (folder or constants.HF_HUB_OFFLINE)


async def ready(model: HubModel, folder: Path | None = None) -> ModelFiles:
    """A model's files, downloaded if they are not here yet. The listener of the current run receives the progress.

    With a `folder`, files are only taken from there, and nothing is downloaded.
    """
    if found := await asyncio.to_thread(find, model, folder):
        return found
    if folder is not None:
        raise ModelFilesMissing(
            f"local/{model.name} is not in {folder}, which model_folder names, so that nothing is downloaded. "
            f"{by_hand(model, folder)}"
        )
    loop, context = asyncio.get_running_loop(), copy_context()

    def told(event: ModelDownload) -> None:
        loop.call_soon_threadsafe(tell, event, context=context)

    return await asyncio.to_thread(download, model, default_folder(), told)


def download(model: HubModel, folder: Path, told: Told = tell) -> ModelFiles:
    """A model's files in a subfolder of this folder, downloaded from the hub unless they are there."""
    if find_spec("huggingface_hub") is None:
        raise ConfigError(f'to download local/{model.name} needs huggingface_hub: pip install "trueweave[local]"')
    place = folder / model.name
    with _alone(place):
        if found := _downloaded(model, place):
            return found
        files: list[tuple[str, ModelFile]] = []
        commit = model.revision
        for name in model.files:
            commit, file = _download_file(model, name, commit, place, told)
            files.append((name, file))
        made = ModelFiles(place, commit, tuple(files))
        record = {
            "repository": model.repository,
            "commit": commit,
            "files": {name: asdict(file) for name, file in files},
        }
        partial_record = place / f"{_RECORD}.part"
        partial_record.write_text(json.dumps(record, indent=1), encoding="utf-8")
        partial_record.replace(place / _RECORD)
    return made


# --- finding files --------------------------------------------------------------------------------------


def _downloaded(model: HubModel, place: Path) -> ModelFiles | None:
    """The files that Trueweave has downloaded there, if complete and of the commit that the model is pinned to."""
    record = place / _RECORD
    if not record.is_file() or _in_folder(model, place) is None:
        return None
    said = json.loads(record.read_bytes())
    if len(model.revision) == _COMMIT_DIGITS and said["commit"] != model.revision:
        return None  # an earlier version of Trueweave used another commit
    return ModelFiles(place, said["commit"], tuple((name, ModelFile(**file)) for name, file in said["files"].items()))


def _in_folder(model: HubModel, place: Path) -> ModelFiles | None:
    """Files that someone put there: in the folder structure of the hub, or all in one folder."""
    there = all((place / name).is_file() or (place / Path(name).name).is_file() for name in model.files)
    return ModelFiles(place) if there else None


def _in_hub_cache(model: HubModel) -> ModelFiles | None:
    if find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache

    found = [try_to_load_from_cache(model.repository, name, revision=model.revision) for name in model.files]
    if not all(isinstance(path, str) and Path(path).is_file() for path in found):
        return None
    folder = Path(str(found[-1]))
    for _ in Path(model.model).parts:
        folder = folder.parent
    return ModelFiles(folder, folder.name)


# --- downloading ---------------------------------------------------------------------------------------


def _download_file(model: HubModel, name: str, revision: str, place: Path, told: Told) -> tuple[str, ModelFile]:
    """The commit of the model, and the file once it is there. All files of a model are from one commit."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    try:
        said = get_hf_file_metadata(hf_hub_url(model.repository, name, revision=revision))
        commit = said.commit_hash or revision
        file = _expected(model, name, said)
        url = hf_hub_url(model.repository, name, revision=commit)
        target = place / name
        if not (target.is_file() and _digest(target, file.checksum) == file.checksum):
            _receive(model, name, url, target, file, told)
    except (EntryNotFoundError, RepositoryNotFoundError) as error:
        raise ModelFilesMissing(
            f"the hub has no {name} of {model.repository} at {revision}, or does not show it: {_first_line(error)} "
            f"Is HF_ENDPOINT the address of a whole mirror? {by_hand(model)}"
        ) from error
    except _network_errors() as error:
        problem = f"local/{model.name} is not on this machine and cannot be downloaded: {_first_line(error)}"
        raise ModelFilesMissing(f"{problem} {by_hand(model)}") from error
    return commit, file


def _expected(model: HubModel, name: str, said: HfFileMetadata) -> ModelFile:
    checksum = model.sha256.get(name) or said.etag or ""
    if said.size is None or len(checksum) not in (40, 64):
        raise ModelFilesMissing(
            f"the hub gives neither size nor checksum of {name} of {model.repository}, so that it cannot be checked. "
            f"Is HF_ENDPOINT the address of a mirror of Hugging Face? {by_hand(model)}"
        )
    return ModelFile(said.size, checksum)


def _receive(model: HubModel, name: str, url: str, target: Path, file: ModelFile, told: Told) -> None:
    """Download a file to its place, resuming an earlier attempt."""
    from huggingface_hub.errors import HfHubHTTPError

    # A partial file of another version has another name.
    part = target.with_name(f"{target.name}.{file.checksum[:12]}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    tries = 0
    while (before := _size(part)) < file.size:
        try:
            _receive_more(url, part, lambda done: told(ModelDownload(model.name, name, done, file.size)))
        except HfHubHTTPError:  # the server has answered
            raise
        except _network_errors():
            tries = 0 if _size(part) > before else tries + 1
            if tries == _TRIES:
                raise
            time.sleep(_PAUSE)
    told(ModelDownload(model.name, name, file.size, file.size))
    found = _digest(part, file.checksum)
    if found != file.checksum or _size(part) != file.size:
        part.unlink()
        raise ModelFilesMissing(
            f"{name} of {model.repository} was not taken: its checksum is {found[:12]}… in place of "
            f"{file.checksum[:12]}…, so that it is damaged or another file. Run the same again; if that does not help, "
            f"download it from elsewhere. {by_hand(model)}"
        )
    part.replace(target)


def _receive_more(url: str, part: Path, done: Callable[[int], None]) -> None:
    """Download the rest of a file and append it."""
    from huggingface_hub import get_session, get_token, hf_raise_for_status

    have = _size(part)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    if token := get_token():
        headers["Authorization"] = f"Bearer {token}"
    with get_session().stream("GET", url, headers=headers, follow_redirects=True, timeout=30.0) as response:
        hf_raise_for_status(response)
        is_rest = response.status_code == 206  # a server without support for ranges sends the whole file
        with part.open("ab" if is_rest else "wb") as opened:
            at = said = have if is_rest else 0
            for block in response.iter_bytes(_PIECE):
                opened.write(block)
                at += len(block)
                if at - said >= _STEP:
                    done(at)
                    said = at


def _network_errors() -> tuple[type[Exception], ...]:
    """The errors of the HTTP client that the hub's library uses, whichever it is, and OSError."""
    from huggingface_hub.errors import HfHubHTTPError

    return cast("tuple[type[Exception], ...]", HfHubHTTPError.__bases__)


def _digest(path: Path, like: str) -> str:
    """The checksum of a file, of the same kind as `like`: SHA-256, or the SHA-1 that git uses for a file."""
    digest = sha256() if len(like) == 64 else sha1(f"blob {_size(path)}\0".encode(), usedforsecurity=False)
    with path.open("rb") as opened:
        for block in iter(partial(opened.read, _BLOCK), b""):
            digest.update(block)
    return digest.hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Let in one process at a time; others wait."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle = place.with_name(f"{place.name}.lock").open("w")
    except OSError as error:
        raise ConfigError(
            f"cannot write to {place}: {error.strerror}. Run `trueweave models fetch {place.name} --to FOLDER` with a "
            'folder of yours, and set model_folder = "FOLDER".'
        ) from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def by_hand(model: HubModel, folder: Path | None = None) -> str:
    """What to do without a network."""
    place, then = (f"{folder}", "") if folder else ("FOLDER", '; then set model_folder = "FOLDER"')
    return (
        f"Without a network, run `trueweave models fetch {model.name} --to FOLDER` on a machine that has one and copy "
        f"it, or put {' and '.join(model.files)} of {model.repository} into {place}/{model.name}{then}."
    )


def _first_line(error: BaseException) -> str:
    plain = next(iter(str(error).splitlines()), "") or type(error).__name__
    return plain if plain.endswith((".", "!", "?")) else f"{plain}."

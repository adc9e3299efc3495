"""What Weft's own tests, and those of its extensions, are written with."""

from weft.testing.databases import Databases
from weft.testing.embedder import HashEmbedder
from weft.testing.faults import Faults, SimulatedCrash
from weft.testing.model_server import Fault, ModelServer, Trouble

__all__ = ["Databases", "Fault", "Faults", "HashEmbedder", "ModelServer", "SimulatedCrash", "Trouble"]

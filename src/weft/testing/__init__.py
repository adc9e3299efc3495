"""What Weft's own tests, and those of its extensions, are written with."""

from weft.testing.databases import Databases
from weft.testing.embedder import HashEmbedder
from weft.testing.faults import Faults, SimulatedCrash

__all__ = ["Databases", "Faults", "HashEmbedder", "SimulatedCrash"]

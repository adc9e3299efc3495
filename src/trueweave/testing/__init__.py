"""Utilities for the tests of Trueweave and of its extensions."""

from trueweave.testing.databases import Databases
from trueweave.testing.embedder import HashEmbedder
from trueweave.testing.faults import Faults, SimulatedCrash
from trueweave.testing.model_server import Fault, ModelServer, Trouble

__all__ = ["Databases", "Fault", "Faults", "HashEmbedder", "ModelServer", "SimulatedCrash", "Trouble"]

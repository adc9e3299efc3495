"""Pictures of parts of the graph: a page to look around in, and a drawing for a paper."""

from trueweave.formats.pictures.picture import MOST, GraphPicture

__all__ = ["MOST", "GraphPicture"]

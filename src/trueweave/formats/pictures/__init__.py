"""Pictures of parts of the graph: an interactive page, and a drawing for a paper."""

from trueweave.formats.pictures.picture import MOST, GraphPicture

__all__ = ["MOST", "GraphPicture"]

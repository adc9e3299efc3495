"""A component for Haystack's pipelines, in a module of its own: who imports it imports Haystack."""

from haystack import Document, Pipeline, component

from trueweave.integrations.haystack import HaystackRetriever


@component
class Uris:
    """The uris of documents."""

    @component.output_types(uris=list[str])
    def run(self, documents: list[Document]) -> dict[str, list[str]]:
        return {"uris": [one.meta["uri"] for one in documents]}


def pipeline_with(retriever: HaystackRetriever) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    pipeline.add_component("uris", Uris())
    pipeline.connect("retriever.documents", "uris.documents")
    return pipeline

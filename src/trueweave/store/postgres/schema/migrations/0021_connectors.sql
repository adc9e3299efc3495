-- additive
-- Documents that come from addresses. See docs/adr/0045-connectors.md.

CREATE TABLE connector_document (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    origin    uuid NOT NULL,
    uri       text NOT NULL,
    item      text NOT NULL,
    version   text NOT NULL,
    validator text NOT NULL,
    recipe    uuid NOT NULL,
    PRIMARY KEY (workspace, origin, uri)
);
COMMENT ON TABLE connector_document IS 'A document that was fetched from an address, and the version of the item that it was read from. An item may hold several documents.';
COMMENT ON COLUMN connector_document.origin IS 'A hash of the address.';
COMMENT ON COLUMN connector_document.validator IS 'What the connector asks with whether the item has changed, such as an ETag.';
COMMENT ON COLUMN connector_document.recipe IS 'A hash of the recipe that its documents were submitted with. With another one, the item is fetched again.';
CREATE INDEX connector_document_item ON connector_document (item, origin, workspace);
CREATE INDEX connector_document_uri ON connector_document (uri, workspace);

SELECT guard('connector_document'::regclass);

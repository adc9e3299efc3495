-- breaking
-- Readers of the documents of sources. Breaking, because a process of the version before would add these documents
-- without their readers, and would show documents with readers to every caller. See docs/adr/0056-access-rights.md.

ALTER TABLE connector_source ADD COLUMN readers text[];
COMMENT ON COLUMN connector_source.readers IS 'The readers that its documents are given, unless they state their own. NULL if none are given: then they keep those that they have.';

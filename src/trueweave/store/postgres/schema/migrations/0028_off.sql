-- breaking
-- Documents that are switched off. Breaking, because a process of the version before would index and show them. See
-- docs/adr/0059-documents-switched-off.md.

ALTER TABLE document ADD COLUMN off boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN document.off IS 'It is switched off: it is stored, and left out of the index. Without meaning in versions that are not current.';
COMMENT ON TABLE document IS 'One version of one document. A new version is current but not yet visible, and the old one visible but no longer current, until indexing switches both at once. One that is switched off is current and not visible. source is the hash of what the text was made from.';
DROP INDEX document_due;
CREATE INDEX document_due ON document (workspace, uri) WHERE (current AND NOT off) <> visible;
CREATE INDEX document_off ON document (workspace, uri) WHERE current AND off;

ALTER TABLE source ADD COLUMN off boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN source.off IS 'The document that is made from it is switched off.';

ALTER TABLE erasure ADD COLUMN off boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN erasure.off IS 'The document was switched off, not removed: only reports that may quote it are erased.';

GRANT SELECT (off) ON document TO trueweave_caller;
CREATE POLICY switched_on ON document AS RESTRICTIVE TO trueweave_reader USING (NOT off);

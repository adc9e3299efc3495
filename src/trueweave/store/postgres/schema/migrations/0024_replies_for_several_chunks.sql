-- additive
-- Replies about several chunks, which a model read together. See docs/adr/0049-units-of-extraction.md.

ALTER TABLE reply ADD COLUMN chunk_hashes uuid[];
COMMENT ON COLUMN reply.chunk_hashes IS 'If the text that it was made from is made of several chunks: their hashes. The reply is kept as long as all of them.';
CREATE INDEX reply_of_several ON reply (workspace) WHERE chunk_hashes IS NOT NULL;

-- breaking
-- Equal texts are shown once, and equal documents are told of: both are found by their hashes.
CREATE INDEX chunk_copies ON chunk (text_hash, id, workspace);
CREATE INDEX document_content ON document (content_hash, added, workspace) WHERE wanted;

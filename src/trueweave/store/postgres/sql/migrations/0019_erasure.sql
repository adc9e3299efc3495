-- Removed documents: which communities may have reports that quote them, and what was spent on them.

ALTER TABLE erasure ADD communities uuid[] NOT NULL DEFAULT '{}';
CREATE INDEX spend_document ON spend (document, workspace) WHERE document <> '';

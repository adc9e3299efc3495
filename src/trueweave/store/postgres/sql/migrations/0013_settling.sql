-- breaking
-- Who is at what while it is settled. No transaction stays open while a model is waited for, so that this is kept as a
-- lease: it runs out by itself when its owner is gone. Two who settle the same do harmless work twice, so nothing rests
-- on it, and it need not survive a crash of the server.

CREATE UNLOGGED TABLE settling (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    kind      text NOT NULL,
    subject   text NOT NULL,
    owner     uuid NOT NULL,
    until     timestamptz NOT NULL,
    PRIMARY KEY (workspace, kind, subject)
);
COMMENT ON TABLE settling IS 'Leases: a document by its uri, all names that are to be resolved again, or a turn of one''s own, for which others hold back.';

SELECT guard('settling'::regclass);

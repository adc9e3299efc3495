-- breaking
-- Work that failed by a bug of Trueweave, so that it is named, left out until somebody asks for another try, and blocks
-- nothing else. (A document that fails before it is stored keeps its error itself: see source.)

CREATE TABLE failed_work (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    kind      text NOT NULL,
    subject   text NOT NULL,
    label     text NOT NULL,
    error     text NOT NULL,
    times     int NOT NULL DEFAULT 1,
    failed    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, kind, subject)
);
COMMENT ON TABLE failed_work IS 'Work that failed by a bug: its kind, what it was about (the uri of a document to be settled, the hash of a description to be summarised or of what a report would be written from; empty for the kind as a whole), how to name that to a person, and the latest error.';

SELECT guard('failed_work'::regclass);

-- additive
-- Certificates of erasure that are not issued yet. See docs/adr/0060-certificates.md.

CREATE TABLE pending_certificate (
    workspace  int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    request    bytea NOT NULL,
    secret     bytea NOT NULL,
    asked      timestamptz NOT NULL DEFAULT now(),
    documents  jsonb NOT NULL,
    view       text NOT NULL,
    sizes      int[] NOT NULL,
    windows    bytea NOT NULL,
    named      bytea NOT NULL,
    short      int NOT NULL,
    before     jsonb NOT NULL,
    PRIMARY KEY (workspace, request)
);
COMMENT ON TABLE pending_certificate IS 'A removal whose certificate is not written yet. It holds hashes of the removed documents, and none of their text; it is deleted when the certificate is written.';
COMMENT ON COLUMN pending_certificate.request IS 'A hash of what was to be removed, by which the same command finds it again.';
COMMENT ON COLUMN pending_certificate.secret IS 'The key of the hashes.';
COMMENT ON COLUMN pending_certificate.view IS 'The digest of the view before the removal.';
COMMENT ON COLUMN pending_certificate.sizes IS 'The numbers of words of the windows.';
COMMENT ON COLUMN pending_certificate.windows IS 'Hashes of runs of words of the texts, 8 bytes each, sorted.';
COMMENT ON COLUMN pending_certificate.named IS 'Hashes of uris and ids, 8 bytes each, sorted.';
COMMENT ON COLUMN pending_certificate.short IS 'How many texts were too short to be searched for.';
COMMENT ON COLUMN pending_certificate.before IS 'The rows that the search found before the removal, by column.';

SELECT guard('pending_certificate'::regclass);

-- Standbys of this server, and whether they have replayed its log up to a position; NULL if the owner may not know.
CREATE FUNCTION standby_reach(upto pg_lsn, OUT name text, OUT has_all boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT coalesce(application_name, ''), replay_lsn >= upto FROM pg_stat_replication ORDER BY 1
$$;
REVOKE EXECUTE ON FUNCTION standby_reach FROM PUBLIC;
GRANT EXECUTE ON FUNCTION standby_reach TO trueweave_app;

-- The primary's position in its write-ahead log, and how much of it a standby has replayed.

-- name: position
-- A commit is flushed before it is acknowledged, unless synchronous_commit is off. The first digits of a segment's name
-- are the timeline.
SELECT (SELECT system_identifier FROM pg_control_system()), ('x' || left(pg_walfile_name(at), 8))::bit(32)::int,
       (at - '0/0'::pg_lsn)::bigint
FROM (SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
             ELSE pg_current_wal_flush_lsn() END AS at) AS now

-- name: replayed
-- A standby knows of a new timeline at once, but reports it only after it next writes its control file.
SELECT pg_is_in_recovery(), (SELECT system_identifier FROM pg_control_system()),
       greatest((SELECT timeline_id FROM pg_control_checkpoint()),
                (SELECT min_recovery_end_timeline FROM pg_control_recovery())),
       coalesce((pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint, 0)

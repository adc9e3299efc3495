-- additive
-- Names as they are completed while somebody types.

-- The beginning of a name without case, accents and leading article, at most 80 characters: what is typed is compared with it.
CREATE FUNCTION folded_name(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT left(regexp_replace(ltrim(CASE WHEN octet_length(given) = length(given) THEN lower(left(given, 100)) ELSE
        translate(regexp_replace(normalize(lower(left(given, 100)), NFKD), '[\u0300-\u036f]', '', 'g'), '‘’', '''''')
        END), '^(the|an|a) +', ''), 80)
$$;

-- Columns of their own, because row-level security keeps conditions on functions from using an index.
ALTER TABLE name
    ADD COLUMN folded text COLLATE "C" GENERATED ALWAYS AS (folded_name(written)) STORED,
    ADD COLUMN last_word text COLLATE "C" GENERATED ALWAYS AS (substring(folded_name(written) FROM ' [("“]*([^ ]+)$')) STORED;
COMMENT ON COLUMN name.folded IS 'The beginning of the name without case, accents and leading article.';
COMMENT ON COLUMN name.last_word IS 'The last word of the column folded. NULL if there is only one.';
-- Unlike others, these begin with the workspace: a range of names must not read those of all workspaces.
CREATE INDEX name_folded ON name (workspace, folded);
CREATE INDEX name_last_word ON name (workspace, last_word) WHERE last_word IS NOT NULL;

-- The entities with a name that begins with a text (place 0 if it is equal, else 1), and those with a name whose last
-- word does (place 2). In each index only `most` names are read, in alphabetical order: without the settings, the planner takes a
-- workspace that its statistics do not know to be small, and reads and sorts all names that match.
CREATE FUNCTION completed_names(typed text, most int) RETURNS TABLE (entity uuid, place int, count bigint, folded text)
LANGUAGE sql STABLE SET enable_bitmapscan = off SET enable_seqscan = off SET enable_sort = off AS $$
    (SELECT n.entity, (n.folded <> folded_name(typed))::int, n.count, n.folded FROM name n
     WHERE n.folded >= folded_name(typed) AND n.folded < folded_name(typed) || chr(1114111) AND n.entity IS NOT NULL
     ORDER BY n.folded LIMIT most)
    UNION ALL
    (SELECT n.entity, 2, n.count, n.folded FROM name n
     WHERE n.last_word >= folded_name(typed) AND n.last_word < folded_name(typed) || chr(1114111) AND n.entity IS NOT NULL
     ORDER BY n.last_word LIMIT most)
$$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION folded_name, completed_names TO trueweave_app;

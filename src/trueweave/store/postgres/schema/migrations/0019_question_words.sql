-- additive
-- A question's stop words are none in the other languages of the workspace, where they are rare and would weigh most.
-- So only its own language is told of them. See docs/adr/0011-text-search.md.

CREATE OR REPLACE FUNCTION question_words(question text) RETURNS TABLE (word bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
    own constant text := language_of(question, NULL);
    stem constant regdictionary := (own || '_stem')::regdictionary;
    told constant text := (SELECT string_agg(p.token, ' ') FROM ts_parse('default', question) p
                           WHERE ts_lexize(stem, lower(p.token)) IS DISTINCT FROM '{}');
BEGIN
    RETURN QUERY SELECT DISTINCT w.word FROM (
        SELECT t.language FROM text_language t WHERE t.workspace = current_setting('trueweave.workspace')::int
        ORDER BY t.chunks DESC, t.language LIMIT 16) AS spoken
    CROSS JOIN LATERAL words_of(CASE WHEN spoken.language = own THEN question ELSE told END, spoken.language) w;
END $$;

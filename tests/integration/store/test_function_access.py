"""Which roles may call which functions of the schema. A new function fails these tests until it is listed here."""

import psycopg

# The role of Trueweave's own processes. Row-level security confines it to the workspace that it has entered, but a
# SECURITY DEFINER function is not confined: it must check the workspace itself.
BY_APP = {
    "add_text(uuid[])",
    "await_sight(text[])",
    "drop_past()",
    "await_writers()",
    "begin_drop()",
    "chunks_with(bigint[],bigint[])",
    "claim_jobs(integer,bigint,integer,integer,integer,integer,boolean)",
    "claim_projection(text,uuid,double precision,integer)",
    "claim_sources(integer,uuid,integer)",
    "clear_chunk_words()",
    "clear_space(integer)",
    "clear_text()",
    "completed_names(text,integer)",
    "count_text()",
    "create_workspace(text,text,text[])",
    "drop_left_tables(interval)",
    "drop_workspace()",
    "end_copy()",
    "expired_workspaces()",
    "finish_jobs(integer,bigint[])",
    "index_partition(text,integer)",
    "index_text(uuid[],uuid[])",
    "is_alive(integer)",
    "keep_readers(uuid[])",
    "list_workspaces(integer[],text,integer)",
    "make_own_table(integer,text,integer,text)",
    "make_space(text,integer,text)",
    "make_temporary_workspace(text,interval)",
    "make_workspace(text,text[])",
    "leave_graph_tables()",
    "mark_indexed(text)",
    "note_server_size(text,bigint)",
    "open_placed(integer,text,text)",
    "open_workspace(text,boolean,text,text[])",
    "ordered_facets(jsonb)",
    "placements(integer[],timestamp with time zone)",
    "queue_state()",
    "release_jobs(integer,bigint[],interval[])",
    "release_replaced(integer)",
    "release_sources(uuid)",
    "release_unknown_jobs(bigint,bigint[])",
    "replace_workspace(integer)",
    "replaced_workspaces()",
    "rule_readers(text)",
    "search_text(text,integer,double precision,double precision,uuid[])",
    "sees_all()",
    "set_place(integer,boolean,interval)",
    "standby_reach(pg_lsn)",
    "store_chunk_words(uuid[],bigint[],bigint[])",
    "switch_own_table(integer,text)",
    "term_coverage(text,uuid[])",
    "text_lines()",
    "unsettled_places()",
    "watched_workspaces(integer,integer)",
    "workspaces_after(integer,integer)",
}

# The role of callers who may not read all documents, too.
BY_CALLERS = {
    "enter(integer,boolean,boolean)",
    "facets(jsonb)",
    "few_seen()",
    "folded_name(text)",
    "may_differ()",
    "meets(uuid,jsonb)",
    "moment(text)",
    "near_seen(halfvec,integer,integer,integer,uuid[])",
    "place_of(numeric)",
    "places_of(jsonb,integer,integer)",
    "reader_facets(text[])",
    "search_seen(text,integer,double precision,double precision,uuid[])",
    "seen_chunks(uuid[])",
    "seen_coverage(text,uuid[])",
    "seen_documents(uuid[])",
    "seen_leads(bigint[],bigint[],integer,uuid[],halfvec)",
    "seen_names(uuid[],integer)",
    "seen_occurrences(uuid[])",
    "seen_pairs(uuid[],uuid[],integer)",
    "seen_phrases(bigint[],uuid[])",
    "seen_similarity(halfvec,uuid[])",
    "summaries_of(uuid[])",
}

# Roles made by `trueweave workspace role` call these in the row-level security policies.
BY_READERS = {
    "holds_restricted()",
    "readable(name)",
}

# Triggers, column defaults, and functions that only other functions and migrations call.
BY_OWNER = {
    "chunk_tables()",
    "choose_server(text[])",
    "count_bytes_that_came()",
    "count_bytes_that_went()",
    "drop_ordered_facets()",
    "guard(regclass,text)",
    "guard_callers(regclass,text,text)",
    "guard_derived(regclass)",
    "guard_readers(regclass,text)",
    "guard_vectors(regclass)",
    "hides_documents(boolean)",
    "hash_rules()",
    "is_readable(uuid,text[],text[],jsonb)",
    "keep_ordered_facets()",
    "keep_sight()",
    "language_of(text,text)",
    "make_vector_table(text,integer)",
    "named_language(text)",
    "odds_of(double precision,double precision)",
    "pairs_of(text)",
    "passes(uuid,jsonb)",
    "question_words(text)",
    "sketch_of(bigint[],double precision[])",
    "text_rows(uuid[])",
    "tier_of(double precision)",
    "words_of(text,text)",
    "workspace_salt()",
}

LISTED = """
    SELECT p.oid::regprocedure::text, p.prosecdef, coalesce(p.proconfig, '{}'),
        array(SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
            FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
            WHERE a.privilege_type = 'EXECUTE' AND a.grantee <> p.proowner ORDER BY 1)
    FROM pg_proc p WHERE p.pronamespace = 'trueweave'::regnamespace
"""


def functions(url: str) -> list[tuple[str, bool, list[str], list[str]]]:
    """Signature, whether it is SECURITY DEFINER, its settings, and the roles besides the owner that may call it."""
    with psycopg.connect(url) as connection:
        return connection.execute(LISTED).fetchall()


def test_each_function_may_be_called_by_the_listed_roles_alone(url: str) -> None:
    expected = {
        ("trueweave_app",): BY_APP,
        ("trueweave_app", "trueweave_caller"): BY_CALLERS,
        ("trueweave_reader",): BY_READERS,
        (): BY_OWNER,
    }
    found: dict[tuple[str, ...], set[str]] = {}
    for name, _, _, callers in functions(url):
        found.setdefault(tuple(callers), set()).add(name)
    assert found == expected


def test_a_security_definer_function_has_a_search_path_that_callers_cannot_change(url: str) -> None:
    paths = {"search_path=trueweave, pg_temp", "search_path=trueweave, public, pg_temp"}
    definers = [(name, settings) for name, is_definer, settings, _ in functions(url) if is_definer]
    assert definers
    assert [name for name, settings in definers if paths.isdisjoint(settings)] == []

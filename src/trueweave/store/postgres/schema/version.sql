-- The migrations of a database. Everything except the migrations themselves is read from catalogues that anybody may
-- read.

-- name: access
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'trueweave' AND c.relname = 'migration'),
       EXISTS (SELECT FROM pg_roles WHERE rolname = %(role)s AND pg_has_role(oid, 'SET') AND pg_has_role(oid, 'USAGE'))

-- name: applied
SELECT number, name, additive FROM trueweave.migration ORDER BY number

-- name: opened
-- One statement, because every connection runs it.
SELECT row_security_active('document'), pg_has_role(session_user, current_user, 'USAGE'),
       (SELECT json_agg(json_build_array(number, name, additive) ORDER BY number) FROM migration)

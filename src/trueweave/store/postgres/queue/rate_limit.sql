-- name: promise
-- Reserve the next free time under each limit; returns in how many seconds that is.
INSERT INTO rate_limit AS p (model, requests, tokens)
VALUES (%(model)s, clock_timestamp() + %(request)s::interval, clock_timestamp() + %(token)s::interval)
ON CONFLICT (model) DO UPDATE SET
    requests = greatest(p.requests, clock_timestamp()) + %(request)s::interval,
    tokens = greatest(p.tokens, clock_timestamp()) + %(token)s::interval
RETURNING extract(epoch FROM greatest(requests - %(request)s::interval, tokens - %(token)s::interval)
                             - clock_timestamp())::float8

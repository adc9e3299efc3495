-- additive
-- Which process carries a request with an Idempotency-Key out: when its lease ends, the key is free. See docs/adr/0031-the-server.md.

ALTER TABLE kept_response ADD COLUMN owner int;
COMMENT ON COLUMN kept_response.owner IS 'The process that carries the request out; none when it was answered, or when that process was not registered here.';

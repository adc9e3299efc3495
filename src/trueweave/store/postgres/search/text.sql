-- name: index
SELECT index_text(%(coming)s::uuid[], %(going)s::uuid[])

-- name: add
SELECT add_text(%(coming)s::uuid[])

-- name: count
SELECT count_text()

-- name: clear
SELECT clear_text()

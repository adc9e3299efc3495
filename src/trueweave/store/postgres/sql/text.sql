-- name: index
SELECT index_text(%(coming)s::uuid[], %(going)s::uuid[])

-- name: clear
SELECT clear_text()

-- An endpoint for vectors and a vector, which schema version 31 added.
INSERT INTO embeddings (generation, kind, address, model, sealed_secret, changed_at, failures, last_failure, next_at, claimed_by, claimed_until)
VALUES ('emb_1', 'ollama', 'http://127.0.0.1:11434', 'small', CAST('sealed' AS BLOB), '2026-01-01T00:00:00.000000Z', 2, 'http_503',
    '2026-01-01T01:00:00.000000Z', 'harbour:42', '2026-01-01T00:01:00.000000Z');
INSERT INTO vector_feeds (stream_id, fields_json, seq) VALUES (1, '["title"]', 3);
INSERT INTO record_vectors (stream_id, record_id, field, seq, digest, vector)
VALUES (1, 1, 'title', 3, CAST('digest' AS BLOB), CAST('abcdef' AS BLOB));

-- A small store at schema version 29, with rows in every table. Both databases execute this file: it leaves out
-- generated numbers, which start at 1 in a new database, and writes BLOB where PostgreSQL has BYTEA.
INSERT INTO connector_manifests (connector_id, generation, body, created_at)
VALUES ('example', 1, '{"name":"example"}', '2026-01-01T00:00:00.000000Z');

INSERT INTO connections (connection_id, connector_id, display_name, status, source_kind, source_binding_json, manifest_generation, created_at, updated_at, look_at, touches)
VALUES ('c', 'example', 'Example', 'active', 'account', '{"login":"ann"}', 1, '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z', '2026-01-02T00:00:00.000000Z', 7);

INSERT INTO run_history (run_id, connection_id, connector_id, trigger_kind, recovery_only, status, records_emitted, reported_records_emitted, facts_json, collection_rate_json, records_committed, gaps_recovered, started_at, completed_at, grant_id)
VALUES ('r1', 'c', 'example', 'manual', 0, 'succeeded', 4, 4, '{"streams":[]}', NULL, 4, 0, '2026-01-01T00:00:00.000000Z', '2026-01-01T00:01:00.000000Z', 'g1');

INSERT INTO run_leases (connection_id, run_id, run_no, holder, generation, expires_at, cancel_requested, event_seq)
VALUES ('c', NULL, NULL, '', 1, NULL, 0, 2);

INSERT INTO run_events (run_no, event_seq, event_type, occurred_at, stream, data_json)
VALUES (1, 1, 'run.started', '2026-01-01T00:00:00.000000Z', '', NULL),
       (1, 2, 'run.completed', '2026-01-01T00:01:00.000000Z', '', '{"records_emitted":4}');

INSERT INTO streams (connection_id, name, last_seq, search_seq, search_fields, declared_run_no, live_records, deleted_records, changed_at, facts_json, facts_run_id, facts_status, facts_at)
VALUES ('c', 'items', 4, 0, '["title"]', 1, 2, 1, '2026-01-01T00:00:02.000000Z', '{"stream":"items","collected":4}', 'r1', 'succeeded', '2026-01-01T00:01:00.000000Z');

INSERT INTO records (stream_id, record_key, data, emitted_at, semantic_time, seq, version, changed_at, run_no)
VALUES (1, 'a', '{"title":"second words"}', '2026-01-01T00:00:01Z', '2025-12-31T00:00:00.000000Z', 3, 2, '2026-01-01T00:00:02.000000Z', 1),
       (1, 'b', '{"title":"other words"}', '2026-01-01T00:00:01Z', '', 2, 1, '2026-01-01T00:00:01.000000Z', 1),
       (1, 'gone', NULL, '2026-01-01T00:00:01Z', '', 4, 1, '2026-01-01T00:00:02.000000Z', 1);

INSERT INTO record_history (record_id, version, data, emitted_at, semantic_time, seq, changed_at, run_no)
VALUES (1, 1, '{"title":"first words"}', '2026-01-01T00:00:00Z', '', 1, '2026-01-01T00:00:01.000000Z', 1);

INSERT INTO cursor_log (connection_id, stream, mode, grant_id, cursor_json, run_id, cause, stream_seq, at)
VALUES ('c', 'items', '', '', '{"n":1}', 'r1', 'slice', 2, '2026-01-01T00:00:01.000000Z'),
       ('c', 'items', '', '', '{"n":2}', 'r1', 'slice', 4, '2026-01-01T00:00:02.000000Z');

INSERT INTO connector_state (connection_id, stream, mode, grant_id, cursor_json, commit_id, run_id, updated_at)
VALUES ('c', 'items', '', '', '{"n":2}', 2, 'r1', '2026-01-01T00:00:02.000000Z');

INSERT INTO connector_detail_gaps (gap_id, connection_id, connector_id, grant_id, stream, parent_stream, record_key, reason, status,
    detail_locator_json, attempt_count, last_attempt_at, discovered_run_id, last_run_id, lease_attempted, ignored_why, created_at, updated_at)
VALUES ('gap_1', 'c', 'example', '', 'items', 'lists', 'missing', 'rate_limited', 'pending',
    '{"id":"missing"}', 2, '2026-01-01T00:00:01.000000Z', 'r1', 'r1', 0, '', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:01.000000Z');

INSERT INTO interactions (run_id, request_id, connection_id, kind, message, stream, answer_key, sealed_answer, opened_at, closed_at, status)
VALUES ('r1', 'q', 'c', 'otp', 'Code?', '', NULL, NULL, '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:30.000000Z', 'success');

INSERT INTO connector_schedules (connection_id, interval_seconds, jitter_seconds, enabled, created_at, updated_at)
VALUES ('c', 3600, 60, 1, '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z');

INSERT INTO connection_credentials (connection_id, credential_kind, sealed_secret, fingerprint, status, captured_at, rejection_reason)
VALUES ('c', 'token', 'sealed', 'f1', 'active', '2026-01-01T00:00:00.000000Z', '');

INSERT INTO device_exporters (device_id, display_name, status, agent_version, collector_protocol_version, last_used_at, last_address, installation, doubled_at, created_at, updated_at)
VALUES ('dexp1', 'Laptop', 'active', '1', '1', '2026-01-01T00:00:00.000000Z', '192.0.2.1', 'inst1', NULL, '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z');

INSERT INTO device_source_instances (source_instance_id, device_id, connector_id, connection_id, local_binding_id, source_kind, display_name,
    status, last_heartbeat_status, records_pending, manifest_generation, generation, max_batch_seq, clock_skew_s, collection_scope_json, created_at, updated_at)
VALUES ('dsrc1', 'dexp1', 'example', 'c', 'b', 'local_device', 'Notes', 'active', 'healthy', 7, 1, 2, 9, -3, '{"since":"2025-01-01T00:00:00Z"}',
    '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z');

INSERT INTO device_enrollment_codes (code_id, code_hash, connector_id, local_binding_id, display_name, status, collection_scope_json, device_id,
    source_instance_id, created_at, expires_at, consumed_at, spent_at)
VALUES ('dcode1', CAST('code' AS BLOB), 'example', 'b', 'Notes', 'consumed', NULL, 'dexp1', 'dsrc1', '2026-01-01T00:00:00.000000Z',
    '2026-01-01T00:15:00.000000Z', '2026-01-01T00:01:00.000000Z', '2026-01-01T00:02:00.000000Z');
INSERT INTO device_ingest_credentials (credential_id, device_id, token_hash, status, code_id, created_at, last_used_at)
VALUES ('dcred1', 'dexp1', CAST('token' AS BLOB), 'active', 'dcode1', '2026-01-01T00:01:00.000000Z', '2026-01-01T00:02:00.000000Z');
INSERT INTO device_ingest_batch_outcomes (device_id, batch_id, source_instance_id, batch_seq, body_hash, run_id, record_count, rejected_count,
    http_status, response_json, created_at)
VALUES ('dexp1', 'batch1', 'dsrc1', 9, 'abc', 'r1', 4, 0, 201, '{}', '2026-01-01T00:02:00.000000Z');
INSERT INTO device_terminal_commits (source_instance_id, commit_id, run_id, envelope_hash, response_json, created_at)
VALUES ('dsrc1', 'commit1', 'r1', 'abc', '{}', '2026-01-01T00:02:00.000000Z');

INSERT INTO scheduler_backoffs (connection_id, reason_class, consecutive_failures, observed_at, next_attempt_at)
VALUES ('c', 'source_pressure', 1, '2026-01-01T00:01:00.000000Z', '2026-01-01T01:00:00.000000Z');

INSERT INTO readiness_probes (connection_id, dimension, name, status, reason, observed_at)
VALUES ('c', 'runtime', 'network', 'ok', '', '2026-01-01T00:01:00.000000Z');

INSERT INTO run_requests (connection_id, trigger_kind, recovery_only, requested_at, ask_anyway, scope_json, whole, grant_id)
VALUES ('c', 'manual', 1, '2026-01-01T00:02:00.000000Z', 1, '', 1, ''),
    ('c', 'manual', 0, '2026-01-01T00:03:00.000000Z', 0, '[{"name":"items","resources":["z"]}]', 0, 'g1');

INSERT INTO workers (worker_id, host, pid, version, capabilities_json, slots, running, draining, started_at, seen_at)
VALUES ('w1', 'harbour', 42, '1.0.0', '["network"]', 4, 0, 0, '2026-01-01T00:00:00.000000Z', '2026-01-01T00:02:00.000000Z');

INSERT INTO connector_attention_records (attention_id, connection_id, dedupe_key, kind, satisfied_when, urgency, affects_json, owner_copy, reason_code,
    occasion, lifecycle, opened_at, updated_at, failed_confirmations, notification_state, notification_reason, revision)
VALUES ('att1', 'c', 'c reauth', 'reauth', 'credential_accepted', 'now', '["items"]', 'Sign in again.', 'auth_failed',
    '', 'open', '2026-01-01T00:01:00.000000Z', '2026-01-01T00:01:00.000000Z', 0, 'sent', '', 2);

INSERT INTO push_targets (target_id, kind, label, endpoint, p256dh, auth, created_at, failures, last_failure)
VALUES ('t1', 'web_push', 'Phone', 'https://push.example/1', 'p', 'a', '2026-01-01T00:00:00.000000Z', 1, 'timeout');

INSERT INTO settings (name, value, updated_at)
VALUES ('shared', 'value', '2026-01-01T00:00:00.000000Z');

INSERT INTO owner_sessions (session_hash, data, expires_at)
VALUES (CAST('session hash' AS BLOB), CAST('session' AS BLOB), '2026-02-01T00:00:00.000000Z');

INSERT INTO owner_tokens (token_id, token_hash, prefix, label, created_at, last_used_at, scopes)
VALUES ('ot1', CAST('owner token hash' AS BLOB), 'pdpp_ab', 'Laptop', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:05:00.000000Z', 'read run');

INSERT INTO owner_browsers (browser_hash, created_at, signed_in_at)
VALUES (CAST('browser hash' AS BLOB), '2026-01-01T00:00:00.000000Z', '2026-01-01T00:05:00.000000Z');

INSERT INTO owner_passkeys (passkey_id, relying_host, label, credential, created_at)
VALUES ('pk1', 'localhost', 'Desk', CAST('credential' AS BLOB), '2026-01-01T00:00:00.000000Z');

INSERT INTO owner_recovery_codes (code_hash, created_at, used_at)
VALUES (CAST('code one' AS BLOB), '2026-01-01T00:00:00.000000Z', NULL),
    (CAST('code two' AS BLOB), '2026-01-01T00:00:00.000000Z', '2026-01-01T00:05:00.000000Z');

INSERT INTO grants (grant_id, client_id, client_name, purpose, mode, scope_json, created_at, expires_at, last_used_at, uses)
VALUES ('g1', 'https://planner.example', 'Planner', 'Plan the week', 'continuous', '{"streams":[]}', '2026-01-01T00:00:00.000000Z',
    '2027-01-01T00:00:00.000000Z', '2026-01-01T00:05:00.000000Z', 3);

INSERT INTO grant_tokens (token_hash, grant_id)
VALUES (CAST('grant token hash' AS BLOB), 'g1');

INSERT INTO grant_uses (grant_id, stream, reads, records, last_used_at)
VALUES ('g1', 'items', 3, 40, '2026-01-01T00:05:00.000000Z');

INSERT INTO grant_requests (request_id, client_id, client_name, redirect_uri, state, code_challenge, purpose, mode, scope_json,
    created_at, expires_at, decided_at, grant_id, code_hash, code_expires_at, code_spent_at)
VALUES ('q1', 'https://planner.example', 'Planner', 'https://planner.example/back', 's', 'challenge', 'Plan the week', 'continuous',
    '{"streams":[]}', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:10:00.000000Z', '2026-01-01T00:01:00.000000Z', 'g1', CAST('code hash' AS BLOB),
    '2026-01-01T00:02:00.000000Z', '2026-01-01T00:01:30.000000Z'),
    ('q2', 'https://reader.example', 'Reader', 'https://reader.example/back', 's', 'challenge', 'Read', 'single_use',
    '{"streams":[]}', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:10:00.000000Z', NULL, NULL, NULL, NULL, NULL);

INSERT INTO audit_entries (happened_at, last_at, kind, outcome, reason, actor, actor_id, actor_name, address, object, object_name, times, records, fold_key)
VALUES ('2026-01-01T00:05:00.000000Z', '2026-01-01T00:05:30.000000Z', 'read', 'done', '', 'grant', 'g1', 'Planner', '192.0.2.7', 'items', 'Items', 3, 40, 'folded');

INSERT INTO browser_profiles (connection_id, name, generation, account_mac, sealed, sealed_at, bytes)
VALUES ('c', 'example__c', 4, 'ab12', CAST('sealed profile' AS BLOB), '2026-01-01T00:06:00.000000Z', 2048);

UPDATE connection_credentials SET generation = 7, renewable = 1, token_expires_at = '2026-01-01T01:00:00.000000Z', refresh_failures = 2 WHERE connection_id = 'c';

INSERT INTO provider_sign_ins (mark, binder, connection_id, sealed, expires_at, next_poll_at)
VALUES ('mark', 'session s1', 'c', CAST('sealed sign-in' AS BLOB), '2099-01-01T00:10:00.000000Z', '2026-01-01T00:00:00.000000Z');

INSERT INTO imports (import_id, connection_id, path, name, sha256, bytes, received_at, run_no, records_new, records_changed, records_same)
VALUES ('imp1', 'c', 'export.zip', 'My export.zip', 'beef', 2048, '2026-01-01T00:00:00.000000Z', 1, 2, 0, 0);
INSERT INTO record_imports (record_id, import_no)
VALUES (1, 1), (2, 1), (2, 0);
UPDATE streams SET imported = 1 WHERE name = 'items';

UPDATE streams SET count_seq = 2 WHERE name = 'items';
INSERT INTO day_counts (stream_id, day, records, bytes) VALUES (1, '', 1, 23);
INSERT INTO month_counts (stream_id, month, records, bytes) VALUES (1, '', 1, 23);

INSERT INTO blobs (sha256, bytes, stored_at, unreferenced_at)
VALUES ('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 4, '2026-01-01T00:07:00.000000Z', NULL);
INSERT INTO record_blobs (record_id, position, field, sha256, mime, name)
SELECT id, 0, 'title', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'text/plain', 'test.txt' FROM records WHERE record_key = 'a';
INSERT INTO stream_files (sha256, stream_id, uses) VALUES ('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 1, 1);
UPDATE streams SET files = 1, file_bytes = 4 WHERE name = 'items';

INSERT INTO provider_waits (connection_id, sender, until, reason, noted_at)
VALUES ('c', 'api', '2026-01-01T01:00:00.000000Z', 'retry_after', '2026-01-01T00:00:00.000000Z');

INSERT INTO connector_confirmations (connector_id, executable, variables_json, paths_json, confirmed_at)
VALUES ('weather', 'ab12', '["WEATHER_KEY"]', '[]', '2026-01-01T00:00:00.000000Z');

INSERT INTO oauth_clients (client_id, client_name, redirect_uris_json, created_at, approved_at, ends_at)
VALUES ('cl1', 'Planner', '["https://planner.example/back"]', '2026-01-01T00:00:00.000000Z', NULL, '2099-01-01T00:00:00.000000Z');

INSERT INTO runtime_components (name, status, reason, observed_at, every_seconds)
VALUES ('scheduler', 'ok', '', '2026-01-01T00:02:00.000000Z', 30);

INSERT INTO saved_searches (search_id, name, address, created_at)
VALUES ('search1', 'Pears', '/records?q=pear', '2026-01-01T00:00:00.000000Z');

INSERT INTO allowances (allowance_key, joinings, learned_json, used_at)
VALUES ('k1', 4, '{"interval_ms":250}', '2026-01-01T00:00:00.000000Z');
INSERT INTO allowance_members (allowance_key, run_id, holder, joined, news_json)
VALUES ('k1', 'r1', 'harbour:42', 4, '{"interval_ms":250}');
INSERT INTO allowance_connections (connection_id, sender, allowance_key)
VALUES ('c', 'api', 'k1');

INSERT INTO deletions (deletion_id, scope, connection_id, stream, since, until, state, asked_at, purge_after, ended_at, records, tombstones, versions, bytes, files, file_bytes, purged)
VALUES ('del1', 'record', 'c', 'items', '', '', 'purged', '2026-01-01T00:00:00.000000Z', '2026-01-08T00:00:00.000000Z', '2026-01-08T00:00:01.000000Z', 1, 0, 2, 30, 0, 0, 1);
INSERT INTO deletion_rules (deletion_no, connection_id, stream, key_hash, since, until, turned_away)
VALUES (1, 'c', 'items', 'abc', '', '', 5);
INSERT INTO deleted_files (sha256, deletion_no) VALUES ('cafe', 1);

-- A second connection, with a record that a deletion hides and that can still be restored.
INSERT INTO connections (connection_id, connector_id, display_name, status, source_kind, source_binding_json, manifest_generation, created_at, updated_at, look_at)
VALUES ('d', 'example', 'Diary', 'draft', 'account', '{"login":"bob"}', 1, '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z', '');
INSERT INTO streams (connection_id, name, last_seq, search_seq, search_fields, declared_run_no, live_records, deleted_records, changed_at, time_seq, count_seq)
VALUES ('d', 'notes', 2, 0, '[]', 1, 0, 1, '2026-01-01T00:00:03.000000Z', 2, 2);
INSERT INTO records (stream_id, record_key, data, emitted_at, semantic_time, seq, version, changed_at, run_no)
VALUES (2, 'hidden', NULL, '2026-01-01T00:00:03Z', '', 2, 2, '2026-01-01T00:00:03.000000Z', 0);
INSERT INTO record_history (record_id, version, data, emitted_at, semantic_time, seq, changed_at, run_no)
VALUES (4, 1, '{"title":"hidden words"}', '2026-01-01T00:00:01Z', '', 1, '2026-01-01T00:00:01.000000Z', 1);
INSERT INTO deletions (deletion_id, scope, connection_id, stream, since, until, state, asked_at, purge_after, records, bytes, files, file_bytes)
VALUES ('del2', 'record', 'd', 'notes', '', '', 'hidden', '2026-01-01T00:00:03.000000Z', '2099-01-01T00:00:00.000000Z', 1, 24, 0, 0);
INSERT INTO deleted_records (record_id, deletion_no, version, live) VALUES (4, 2, 1, 1);
INSERT INTO deleted_record_blobs (record_id, position, field, sha256, mime, name)
VALUES (4, 0, 'title', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'text/plain', 'diary.txt');
INSERT INTO deletion_rules (deletion_no, connection_id, stream, key_hash, since, until)
VALUES (2, 'd', 'notes', 'bf849abad7b0f6766d6d2fef33507c15bff428b864b362aafc0d0574a77c2577', '', '');

-- A store that had records before this index existed makes it while others read and write.
DROP INDEX records_by_time;

-- One row for everything that waits for upload or was uploaded. Times are
-- microseconds since 1970; seq is the order of insertion and is never used twice.
CREATE TABLE local_device_outbox (
	seq                INTEGER PRIMARY KEY AUTOINCREMENT,
	id                 TEXT    NOT NULL UNIQUE,
	source_instance_id TEXT    NOT NULL,
	kind               TEXT    NOT NULL CHECK (kind IN ('record_batch', 'checkpoint', 'gap')),
	status             TEXT    NOT NULL CHECK (status IN ('ready', 'leased', 'succeeded', 'dead_letter')),
	body_hash          TEXT    NOT NULL,
	attempt_count      INTEGER NOT NULL DEFAULT 0,
	next_attempt_at    INTEGER NOT NULL,
	lease_holder       TEXT    NOT NULL DEFAULT '',
	lease_epoch        INTEGER NOT NULL DEFAULT 0,
	lease_until        INTEGER NOT NULL DEFAULT 0,
	last_error         TEXT    NOT NULL DEFAULT '',
	acknowledged_at    INTEGER,
	created_at         INTEGER NOT NULL,
	updated_at         INTEGER NOT NULL,
	payload_json       TEXT    NOT NULL DEFAULT 'null' -- the receipt once it was acknowledged
);

-- What an item carries until it is acknowledged. It is written once: a lease changes its item's
-- row alone.
CREATE TABLE local_device_payload (
	seq          INTEGER PRIMARY KEY,
	payload_json TEXT NOT NULL,
	packed       BLOB
);

CREATE INDEX local_device_outbox_ready ON local_device_outbox (seq) WHERE status = 'ready';

-- Finds what stands before a checkpoint.
CREATE INDEX local_device_outbox_open ON local_device_outbox (source_instance_id, seq) WHERE status <> 'succeeded';

-- Finds the newest items of a source.
CREATE INDEX local_device_outbox_source ON local_device_outbox (source_instance_id, seq);

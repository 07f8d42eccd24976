package outbox

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"
)

// TestFileOfAnOlderProgramMovesForward: what waited in a file of an earlier version can be looked
// at, goes out as it was, in its order, and what the server had keeps its receipt.
func TestFileOfAnOlderProgramMovesForward(t *testing.T) {
	for version, later := range map[string]string{
		"3": ``,
		"4": `CREATE TABLE local_device_payload (seq INTEGER PRIMARY KEY, payload_json TEXT NOT NULL);
			INSERT INTO local_device_payload SELECT seq, payload_json FROM local_device_outbox WHERE status <> 'succeeded';
			UPDATE local_device_outbox SET payload_json = 'null' WHERE status <> 'succeeded';`,
	} {
		t.Run(version, func(t *testing.T) { olderMovesForward(t, version, later) })
	}
}

func olderMovesForward(t *testing.T, version, later string) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`PRAGMA journal_mode = WAL`,
		`CREATE TABLE local_device_outbox (
			seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, source_instance_id TEXT NOT NULL,
			kind TEXT NOT NULL CHECK (kind IN ('record_batch', 'checkpoint', 'gap')),
			status TEXT NOT NULL CHECK (status IN ('ready', 'leased', 'succeeded', 'dead_letter')),
			body_hash TEXT NOT NULL, attempt_count INTEGER NOT NULL DEFAULT 0, next_attempt_at INTEGER NOT NULL,
			lease_holder TEXT NOT NULL DEFAULT '', lease_epoch INTEGER NOT NULL DEFAULT 0, 
			lease_until INTEGER NOT NULL DEFAULT 0,
			last_error TEXT NOT NULL DEFAULT '', acknowledged_at INTEGER, created_at INTEGER NOT NULL, 
			updated_at INTEGER NOT NULL,
			payload_json TEXT NOT NULL)`,
		`CREATE INDEX local_device_outbox_ready ON local_device_outbox (seq) WHERE status = 'ready'`,
		`CREATE INDEX local_device_outbox_open ON local_device_outbox (source_instance_id, seq) WHERE status <> 'succeeded'`,
		`CREATE INDEX local_device_outbox_source ON local_device_outbox (source_instance_id, seq)`,
		`INSERT INTO local_device_outbox (id, source_instance_id, kind, status, body_hash, next_attempt_at, created_at, 
		updated_at, payload_json) VALUES
			('local-outbox:1', 'src-a', 'record_batch', 'succeeded', 'h1', 0, 0, 0, '"receipt-1"'),
			('local-outbox:2', 'src-a', 'record_batch', 'ready', 'h2', 0, 0, 0, '{"records":[2]}'),
			('local-outbox:3', 'src-a', 'checkpoint', 'ready', 'h3', 0, 0, 0, '{"state":{"notes":3}}'),
			('local-outbox:4', 'src-a', 'record_batch', 'dead_letter', 'h4', 0, 0, 0, '{"records":[4]}')`,
		later + `PRAGMA user_version = ` + version,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	now := time.Now()
	look, err := OpenToRead(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := look.Counts(t.Context(), "src-a", now)
	check(t, err, look.Close())
	if counts.Pending != 2 || counts.DeadLetter != 1 || counts.Succeeded != 1 {
		t.Errorf("before it is moved it has %+v", counts)
	}
	for range 2 { // the second time it is as any other
		o, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if receipt, err := o.LastReceipt(t.Context(), "src-a"); receipt != "receipt-1" || err != nil {
			t.Errorf("the receipt is %q, %v", receipt, err)
		}
		if size, err := o.Size(t.Context()); size != int64(len(`{"records":[2]}{"state":{"notes":3}}{"records":[4]}`)) ||
			err != nil {
			t.Errorf("%d bytes wait, %v", size, err)
		}
		check(t, o.Close())
	}
	o, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if _, err := o.RequeueDeadLetters(t.Context(), "src-a", now); err != nil {
		t.Fatal(err)
	}
	got := o.mustClaim(t, 9, now)
	if len(got) != 3 || string(got[0].Payload) != `{"records":[2]}` || string(got[1].Payload) != `{"state":{"notes":3}}` ||
		string(got[2].Payload) != `{"records":[4]}` {
		t.Errorf("claimed %+v", got)
	}
	check(t, o.Ack(t.Context(), "receipt-2", now, got...))
	if size, err := o.Size(t.Context()); size != 0 || err != nil {
		t.Errorf("%d bytes are left, %v", size, err)
	}
}

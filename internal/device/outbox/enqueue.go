package outbox

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// Enqueue appends items in order, all or none. They are durable when it returns. An item with an
// existing id changes nothing if hash, kind and source match. If they differ, the whole call fails
// with ErrConflict.
//
// Enqueue computes the id of an item without one. The id depends on the source, kind and hash, and on
// the id of the previous item in the source's queue. A call that repeats the newest items of a queue
// therefore changes nothing. Content that reappears later, such as a cursor that returns to an earlier
// value, is new work.
func (o *Outbox) Enqueue(ctx context.Context, items []QueuedItem, now time.Time) error {
	items = slices.Clone(items)
	for n := range items {
		if err := complete(&items[n]); err != nil {
			return fmt.Errorf("enqueue item %d: %w", n, err)
		}
	}
	if len(items) == 0 {
		return nil
	}
	err := o.write(ctx, func(tx *sql.Tx) error {
		if err := identifyAll(ctx, tx, items); err != nil {
			return err
		}
		for _, i := range items {
			if err := insert(ctx, tx, i, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

func complete(i *QueuedItem) (err error) {
	switch {
	case !i.Kind.known():
		return fmt.Errorf("unknown kind %q", i.Kind)
	case i.SourceInstanceID == "":
		return errors.New("it names no source")
	case i.ID != "" && (len(i.ID) == len(IDPrefix) || !strings.HasPrefix(i.ID, IDPrefix)):
		return fmt.Errorf("its id does not begin with %q", IDPrefix)
	case !i.Payload.IsValid():
		return errors.New("its payload is not valid JSON")
	case i.BodyHash == "" && i.Packed != nil:
		return errors.New("what it carries has no hash")
	case i.BodyHash == "":
		i.BodyHash, err = wire.Hash(i.Payload)
	}
	return err
}

// identifyAll computes the missing ids of items, one source at a time.
func identifyAll(ctx context.Context, tx *sql.Tx, items []QueuedItem) error {
	bySource := map[string][]*QueuedItem{}
	for n := range items {
		i := &items[n]
		bySource[i.SourceInstanceID] = append(bySource[i.SourceInstanceID], i)
	}
	for source, group := range bySource {
		if !slices.ContainsFunc(group, func(i *QueuedItem) bool { return i.ID == "" }) {
			continue
		}
		rows, err := tx.QueryContext(ctx, `SELECT id FROM local_device_outbox WHERE source_instance_id = ?
			ORDER BY seq DESC LIMIT ?`, source, len(group)+1)
		newest, err := collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
		if err != nil {
			return err
		}
		ids := chain(newest, group)
		for n, i := range group {
			i.ID = ids[n]
		}
	}
	return nil
}

// chain returns the ids of a group that follows or repeats the newest ids of its source. In the
// argument newest, the newest id comes first.
func chain(newest []string, group []*QueuedItem) []string {
	if len(newest) >= len(group) {
		ids := chainFrom(at(newest, len(group)), group)
		tail := slices.Clone(newest[:len(group)])
		slices.Reverse(tail)
		if slices.Equal(ids, tail) {
			return ids
		}
	}
	return chainFrom(at(newest, 0), group)
}

func chainFrom(previous string, group []*QueuedItem) []string {
	ids := make([]string, len(group))
	for n, i := range group {
		if ids[n] = i.ID; i.ID == "" {
			sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", previous, i.SourceInstanceID, i.Kind, i.BodyHash))
			ids[n] = IDPrefix + hex.EncodeToString(sum[:])
		}
		previous = ids[n]
	}
	return ids
}

func at(ids []string, n int) string {
	if n < len(ids) {
		return ids[n]
	}
	return ""
}

func insert(ctx context.Context, tx *sql.Tx, i QueuedItem, now time.Time) error {
	done, err := tx.ExecContext(ctx, `INSERT INTO local_device_outbox
		(id, source_instance_id, kind, status, body_hash, next_attempt_at, created_at, updated_at)
		VALUES (?1, ?2, ?3, 'ready', ?4, ?5, ?5, ?5) ON CONFLICT (id) DO NOTHING`,
		i.ID, i.SourceInstanceID, i.Kind, i.BodyHash, micros(now))
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err != nil {
		return err
	}
	if n == 1 {
		seq, err := done.LastInsertId()
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO local_device_payload VALUES (?, ?, ?)`, seq, string(i.Payload), i.Packed)
		}
		return err
	}
	var same bool
	err = tx.QueryRowContext(ctx,
		`SELECT source_instance_id = ? AND kind = ? AND body_hash = ? FROM local_device_outbox WHERE id = ?`,
		i.SourceInstanceID, i.Kind, i.BodyHash, i.ID).Scan(&same)
	if err == nil && !same {
		err = ErrConflict
	}
	return err
}

package sqlstore

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// deletionRule is what runs may not store again after a deletion.
type deletionRule struct {
	no           int64
	stream       string // empty means every stream
	keyHash      string // empty means every key
	since, until string
}

// covers reports whether the rule blocks a record. A tombstone has no time, so the rule of a range does not block it.
func (u *deletionRule) covers(connectionID string, r *slice.Record) bool {
	switch {
	case u.stream != "" && u.stream != r.Stream:
		return false
	case u.keyHash != "":
		return u.keyHash == store.DeletedKey(connectionID, r.Stream, r.Key)
	case u.since == "" && u.until == "":
		return true
	}
	return !r.Deleted() && r.SemanticTime != "" && r.SemanticTime >= u.since && (u.until == "" || r.SemanticTime < u.until)
}

// withoutDeleted picks the records that no deletion of the owner blocks, and counts the others.
func (t *tx) withoutDeleted(h heldLease, name string, records []slice.Record, pick []int) ([]int, error) {
	if h.owner {
		return pick, nil
	}
	rules, err := t.deletionRules(h.ConnectionID)
	if err != nil || len(rules) == 0 {
		return pick, err
	}
	turned := map[int64]int64{}
	kept := make([]int, 0, len(pick))
	for _, i := range pick {
		no := int64(0)
		for n := range rules {
			if rules[n].covers(h.ConnectionID, &records[i]) {
				no = rules[n].no
				break
			}
		}
		if no == 0 {
			kept = append(kept, i)
			continue
		}
		turned[no]++
	}
	for no, n := range turned {
		if _, err := t.exec(`UPDATE deletion_rules SET turned_away = turned_away + ? WHERE rule_no = ?`, n, no); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// deletionRules reads the rules of a connection, once per transaction. The caller holds its lease, as the writer of a
// rule does.
func (t *tx) deletionRules(connectionID string) ([]deletionRule, error) {
	if rules, known := t.rules[connectionID]; known {
		return rules, nil
	}
	rules, err := listInTx(t, func(s scanner) (u deletionRule, err error) {
		return u, s.Scan(&u.no, &u.stream, &u.keyHash, &u.since, &u.until)
	}, `SELECT rule_no, stream, key_hash, since, until FROM deletion_rules WHERE connection_id = ? ORDER BY rule_no`,
		connectionID)
	if err != nil {
		return nil, err
	}
	if t.rules == nil {
		t.rules = map[string][]deletionRule{}
	}
	t.rules[connectionID] = rules
	return rules, nil
}

// resetCursor sets a cursor to the beginning and preserves the pace in it.
func (t *tx) resetCursor(id store.CursorID, now time.Time) error {
	var current jsontext.Value
	err := t.row(`SELECT cursor_json FROM connector_state WHERE `+bookmarkIs, id.ConnectionID, id.Stream, id.Mode,
		id.GrantID).Scan(intoJSON(&current))
	if err != nil || len(current) == 0 {
		return err
	}
	_, pace := protocol.SplitPace(current)
	_, err = t.commitCursor(id, store.CursorCommit{Cursor: pace, Cause: store.CauseRewind}, formatTime(now))
	return err
}

package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func (db *DB) RequestRun(ctx context.Context, r store.RunRequest) (added bool, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if added, err = tx.requestRun(r); err != nil || !added {
			return err
		}
		return tx.touch(r.ConnectionID)
	})
	return added && err == nil, err
}

// requestRun adds the request unless one waits that asks for as much. An owner who does
// not want to wait for the provider takes the waiting one's place.
func (t *tx) requestRun(r store.RunRequest) (added bool, err error) {
	scope, err := scopeText(r.Scope)
	if err != nil {
		return false, err
	}
	n, err := t.exec(`INSERT INTO run_requests (`+requestColumns+`, whole) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (connection_id, grant_id) DO UPDATE SET trigger_kind = excluded.trigger_kind, recovery_only = excluded.recovery_only,
				requested_at = excluded.requested_at, ask_anyway = 1
				WHERE excluded.ask_anyway = 1 AND run_requests.ask_anyway = 0`,
		r.ConnectionID, r.Trigger, number(r.RecoveryOnly), stamp(r.RequestedAt), number(r.AskAnyway), scope, r.GrantID, number(len(r.Scope) == 0))
	if err == nil {
		var joined int64
		joined, err = t.joinRequest(r)
		n += joined
	}
	if err != nil {
		return false, fmt.Errorf("request a run of connection %s: %w", r.ConnectionID, err)
	}
	return n > 0, nil
}

// joinRequest lets the request that waits ask for what another of the same grant, or
// without one, asks as well.
func (t *tx) joinRequest(r store.RunRequest) (changed int64, err error) {
	if len(r.Scope) == 0 {
		return t.exec(`UPDATE run_requests SET whole = 1, recovery_only = ? WHERE connection_id = ? AND grant_id = ? AND whole = 0`,
			number(r.RecoveryOnly), r.ConnectionID, r.GrantID)
	}
	var known string
	if err := t.row(`SELECT scope_json FROM run_requests WHERE connection_id = ? AND grant_id = ?`, r.ConnectionID, r.GrantID).Scan(&known); err != nil {
		return 0, err
	}
	waiting, err := readScope(known)
	if err != nil {
		return 0, err
	}
	scope, err := scopeText(joinScopes(waiting, r.Scope))
	if err != nil || scope == known {
		return 0, err
	}
	return t.exec(`UPDATE run_requests SET scope_json = ? WHERE connection_id = ? AND grant_id = ?`, scope, r.ConnectionID, r.GrantID)
}

// joinScopes gives the resources of both, by stream.
func joinScopes(a, b []protocol.StreamScope) []protocol.StreamScope {
	out := slices.Clone(a)
	for _, s := range b {
		i := slices.IndexFunc(out, func(o protocol.StreamScope) bool { return o.Name == s.Name })
		if i < 0 {
			out = append(out, s)
			continue
		}
		keys := slices.Concat(out[i].Resources, s.Resources)
		slices.Sort(keys)
		out[i].Resources = slices.Compact(keys)
	}
	return out
}

func scopeText(scope []protocol.StreamScope) (string, error) {
	if len(scope) == 0 {
		return "", nil
	}
	body, err := json.Marshal(scope)
	return string(body), err
}

func readScope(text string) (scope []protocol.StreamScope, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &scope)
	}
	return scope, err
}

// answerRequest ends the part of the request that a run answers which begins now: the
// single records that it is to fetch, or all the rest.
func (t *tx) answerRequest(r store.RunStart) error {
	answered := `whole = 0`
	if r.Selected {
		answered = `scope_json = ''`
	}
	const which = ` WHERE connection_id = ? AND grant_id = ?`
	if _, err := t.exec(`UPDATE run_requests SET `+answered+which, r.ConnectionID, r.GrantID); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM run_requests`+which+` AND whole = 0 AND scope_json = ''`, r.ConnectionID, r.GrantID)
	return err
}

func (db *DB) RunRequest(ctx context.Context, connectionID string) (store.RunRequest, error) {
	return get(db, db.row(ctx, `SELECT `+requestColumns+` FROM run_requests WHERE connection_id = ? AND grant_id = ''`, connectionID), scanRequest)
}

func (db *DB) ListRunRequests(ctx context.Context, connectionID string) ([]store.RunRequest, error) {
	var f filter
	f.is("connection_id", connectionID)
	return list(ctx, db, db.reader, scanRequest, `SELECT `+requestColumns+` FROM run_requests`+f.where()+
		` ORDER BY requested_at, connection_id, grant_id`, f.args...)
}

func (db *DB) WithdrawRun(ctx context.Context, connectionID string) error {
	return db.write(ctx, func(tx *tx) error {
		if err := one(tx.exec(`DELETE FROM run_requests WHERE connection_id = ?`, connectionID)); err != nil {
			return err
		}
		return tx.touch(connectionID)
	})
}

// WithdrawUngranted writes only where it finds something.
func (db *DB) WithdrawUngranted(ctx context.Context, now time.Time) error {
	over, err := list(ctx, db, db.reader, func(s scanner) (r store.RunRequest, err error) {
		return r, s.Scan(&r.ConnectionID, &r.GrantID)
	}, `SELECT r.connection_id, r.grant_id FROM run_requests r JOIN grants g ON g.grant_id = r.grant_id WHERE `+grantOver, stamp(now))
	if err != nil || len(over) == 0 {
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		touched := make([]string, len(over))
		for i, r := range over {
			touched[i] = r.ConnectionID
			if _, err := tx.exec(`DELETE FROM run_requests WHERE connection_id = ? AND grant_id = ?`, r.ConnectionID, r.GrantID); err != nil {
				return err
			}
		}
		return tx.touchAll(touched)
	})
}

const requestColumns = `connection_id, trigger_kind, recovery_only, requested_at, ask_anyway, scope_json, grant_id`

func scanRequest(s scanner) (r store.RunRequest, err error) {
	var scope string
	if err := s.Scan(&r.ConnectionID, &r.Trigger, &r.RecoveryOnly, intoTime(&r.RequestedAt), &r.AskAnyway, &scope, &r.GrantID); err != nil {
		return r, err
	}
	r.Scope, err = readScope(scope)
	return r, err
}

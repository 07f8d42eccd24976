package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func (db *DB) RequestRun(ctx context.Context, r store.RunRequest) (added bool, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if added, err = tx.requestRun(r); err != nil || !added {
			return err
		}
		return tx.markChanged(r.ConnectionID)
	})
	return added && err == nil, err
}

// requestRun adds the request unless a pending one covers it. A request with AskAnyway replaces the pending one.
func (t *tx) requestRun(r store.RunRequest) (added bool, err error) {
	scope, err := scopeText(r.Scope)
	if err != nil {
		return false, err
	}
	n, err := t.exec(`INSERT INTO run_requests (`+requestColumns+`, whole) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (connection_id, grant_id) DO UPDATE SET trigger_kind = excluded.trigger_kind,
			recovery_only = excluded.recovery_only,
				requested_at = excluded.requested_at, ask_anyway = 1
				WHERE excluded.ask_anyway = 1 AND run_requests.ask_anyway = 0`,
		r.ConnectionID, r.Trigger, boolToInt(r.RecoveryOnly), formatTime(r.RequestedAt), boolToInt(r.AskAnyway), scope,
		r.GrantID, boolToInt(len(r.Scope) == 0))
	if err == nil {
		var joined int64
		joined, err = t.mergeRequest(r)
		n += joined
	}
	if err != nil {
		return false, fmt.Errorf("request a run of connection %s: %w", r.ConnectionID, err)
	}
	return n > 0, nil
}

// mergeRequest adds the scope of a request to the pending one of the same grant, or to the one without a grant.
func (t *tx) mergeRequest(r store.RunRequest) (changed int64, err error) {
	if len(r.Scope) == 0 {
		return t.exec(`UPDATE run_requests SET whole = 1, recovery_only = ? WHERE connection_id = ? AND grant_id = ?
			AND whole = 0`,
			boolToInt(r.RecoveryOnly), r.ConnectionID, r.GrantID)
	}
	var known string
	if err := t.row(`SELECT scope_json FROM run_requests WHERE connection_id = ? AND grant_id = ?`, r.ConnectionID,
		r.GrantID).Scan(&known); err != nil {
		return 0, err
	}
	waiting, err := readScope(known)
	if err != nil {
		return 0, err
	}
	scope, err := scopeText(mergeScopes(waiting, r.Scope))
	if err != nil || scope == known {
		return 0, err
	}
	return t.exec(`UPDATE run_requests SET scope_json = ? WHERE connection_id = ? AND grant_id = ?`, scope, r.ConnectionID,
		r.GrantID)
}

// mergeScopes returns the resources of both, by stream.
func mergeScopes(a, b []protocol.StreamScope) []protocol.StreamScope {
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

// fulfilRequest removes the part of the request that the starting run fulfils: the single records that it fetches, or
// everything else.
func (t *tx) fulfilRequest(r store.RunStart) error {
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
	return getRow(db, db.row(ctx, `SELECT `+requestColumns+` FROM run_requests WHERE connection_id = ? AND grant_id = ''`,
		connectionID), scanRequest)
}

func (db *DB) ListRunRequests(ctx context.Context, connectionID string) ([]store.RunRequest, error) {
	var f sqlFilter
	f.addEqual("connection_id", connectionID)
	return listRows(ctx, db, db.reader, scanRequest, `SELECT `+requestColumns+` FROM run_requests`+f.whereClause()+
		` ORDER BY requested_at, connection_id, grant_id`, f.args...)
}

func (db *DB) WithdrawRun(ctx context.Context, connectionID string) error {
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`DELETE FROM run_requests WHERE connection_id = ?`, connectionID)); err != nil {
			return err
		}
		return tx.markChanged(connectionID)
	})
}

const requestColumns = `connection_id, trigger_kind, recovery_only, requested_at, ask_anyway, scope_json, grant_id`

func scanRequest(s scanner) (r store.RunRequest, err error) {
	var scope string
	if err := s.Scan(&r.ConnectionID, &r.Trigger, &r.RecoveryOnly, intoTime(&r.RequestedAt), &r.AskAnyway, &scope,
		&r.GrantID); err != nil {
		return r, err
	}
	r.Scope, err = readScope(scope)
	return r, err
}

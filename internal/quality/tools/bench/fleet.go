package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

// dueInPass is how many connections one measured pass finds due.
const dueInPass = storetest.LooksDue

// growFleet adds connections that are not due until there are total of them, beside those of
// FillEvidence. Their ids are spread among the existing ids. Each has its own schedule and run.
func growFleet(ctx context.Context, st storetest.Writable, have, total int) error {
	fill := strings.NewReplacer("{have}", fmt.Sprint(have), "{total}", fmt.Sprint(total), "{due}", fmt.Sprint(dueInPass),
		"{id}", "'cin_example_' || substr(CAST(100000 + i % {due} AS text), 2) || '_' || i",
		"{now}", storetest.Now.Format(sqlstore.TimeLayout), "{far}",
		storetest.Now.AddDate(50, 0, 0).Format(sqlstore.TimeLayout))
	const each = ` WITH RECURSIVE n (i) AS (SELECT {have} UNION ALL SELECT i + 1 FROM n WHERE i < {total} - 1) SELECT `
	for _, query := range []string{
		`INSERT INTO connections (connection_id, connector_id, display_name, status, source_kind, manifest_generation, ` +
			`created_at, updated_at, look_at)` +
			each + `{id}, 'example', 'Example', 'active', 'account', 1, '{now}', '{now}', '{far}' FROM n`,
		`INSERT INTO connector_schedules (connection_id, interval_seconds, jitter_seconds, enabled, created_at, updated_at)` +
			each + `{id}, 3600, 0, 1, '{now}', '{now}' FROM n`,
		`INSERT INTO run_leases (connection_id, holder, generation, cancel_requested, event_seq)` + each +
			`{id}, '', 1, 0, 2 FROM n`,
		`INSERT INTO run_history (run_id, connection_id, connector_id, trigger_kind, recovery_only, status, started_at, ` +
			`completed_at)` +
			each + `'run_' || i, {id}, 'example', 'scheduled', 0, 'succeeded', '{now}', '{now}' FROM n`,
		`ANALYZE`, // a server does this automatically, a little later
	} {
		if _, err := st.Writer().ExecContext(ctx, fill.Replace(fill.Replace(query))); err != nil {
			return fmt.Errorf("add %d connections: %w", total-have, err)
		}
	}
	return nil
}

// installWaiter writes the folder of a foreign connector that only waits.
func installWaiter(program, home, name string) (folder string, err error) {
	folder = filepath.Join(home, "connectors", name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	body, err := waiterManifest(name)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "manifest.json"), body, 0o644); err != nil {
		return "", err
	}
	return folder, os.Symlink(program, filepath.Join(folder, "connector"))
}

func waiterManifest(name string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"protocol_version": "0.1.0", "connector_id": name, "connector_key": name, "version": "1.0.0",
		"display_name":         "Waiter",
		"runtime_requirements": map[string]any{"bindings": map[string]any{"network": map[string]any{"required": true}}},
		"capabilities": map[string]any{"refresh_policy": map[string]any{
			"recommended_mode": "automatic", "rationale": "It costs nothing.", "maximum_staleness_seconds": 604800}},
		"streams": []any{map[string]any{
			"name": "entries", "semantics": "mutable_state", "primary_key": "id",
			"schema": map[string]any{"type": "object", "properties": map[string]any{"id": map[string]any{"type": "string"}}},
		}},
	})
}

// plantWaiters adds n connections that are due at once, spread over the
// connectors, each to be run once in the time of a benchmark.
func plantWaiters(ctx context.Context, st storetest.Writable, home string, n int, connectors ...string) error {
	now := time.Now().UTC()
	for i, name := range connectors {
		found, err := catalog.Catalog{Dir: filepath.Join(home, "connectors")}.Find(ctx, name)
		if err == nil {
			err = launch.Confirm(ctx, st, found, now)
		}
		if err != nil {
			return err
		}
		body, err := waiterManifest(name)
		if err != nil {
			return err
		}
		generation, err := st.PutManifest(ctx, name, body, now)
		if err != nil {
			return err
		}
		fill := strings.NewReplacer("{name}", name, "{generation}", fmt.Sprint(generation), "{now}",
			now.Format(sqlstore.TimeLayout),
			"{far}", now.AddDate(1, 0, 0).Format(sqlstore.TimeLayout),
			"{each}", fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT %d UNION ALL SELECT i + %d FROM n WHERE i + %[2]d < %d)`, i,
				len(connectors), n))
		for _, query := range []string{
			`INSERT INTO connections (connection_id, connector_id, display_name, status, source_kind, manifest_generation,
		created_at, updated_at, look_at)
				{each} SELECT 'cin_wait_' || i, '{name}', 'Waiter ' || i, 'active', 'account', {generation}, '{now}', '{now}',
				'{far}' FROM n`,
			`INSERT INTO connector_schedules (connection_id, interval_seconds, jitter_seconds, enabled, created_at, updated_at)
				{each} SELECT 'cin_wait_' || i, 86400, 0, 1, '{now}', '{now}' FROM n`,
		} {
			if _, err := st.Writer().ExecContext(ctx, fill.Replace(query)); err != nil {
				return fmt.Errorf("add connections of %s: %w", name, err)
			}
		}
	}
	_, err := st.Writer().ExecContext(ctx, `UPDATE connections SET look_at = ''`)
	return err
}

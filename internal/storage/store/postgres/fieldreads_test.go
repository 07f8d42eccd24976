package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

// TestFieldReads checks that a query by an indexed field uses its index, in one process and without reading other
// records, also with a generic plan. A page is not found by sorting nearly all records.
func TestFieldReads(t *testing.T) {
	t.Parallel()
	d := openDamaged(t)
	reads := storetest.ReadFields(t, d)
	for name, want := range map[string]struct {
		statements, transactions int
		index                    string
	}{
		storetest.RarePage:    {3, 1, "records_field_"}, // its share, a setting and the page
		storetest.RareSpan:    {4, 1, "records_field_"},
		storetest.CommonPage:  {2, 0, "records_by_seq"},
		storetest.OneValue:    {1, 0, "records_field_"},
		storetest.RareCount:   {2, 1, "records_field_"},
		storetest.CommonCount: {2, 1, "records_field_"},
	} {
		read := reads[name]
		if len(read.Sent) != want.statements || read.Begun != want.transactions {
			t.Errorf("%s takes %d statements and %d transactions:\n%v", name, len(read.Sent), read.Begun, read.Sent)
			continue
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			plan, err := planned(t.Context(), d, read.Sent, mode)
			if err != nil {
				t.Fatal(err)
			}
			// A query without settings is never worth a parallel worker at its real cost.
			several := want.transactions > 0 && strings.Contains(plan, "Gather")
			if strings.Contains(plan, "records_field_") != (want.index == "records_field_") ||
				!strings.Contains(plan, want.index) || strings.Contains(plan, "Seq Scan on records") || several {
				t.Errorf("%s is found with %s by\n%s", name, mode, plan)
			}
		}
	}
}

// TestDeletionReads checks that a step of a deletion reads only the hidden records that it takes, before the server
// has analysed the table. Otherwise the total cost would be quadratic.
func TestDeletionReads(t *testing.T) {
	t.Parallel()
	d := openDamaged(t)
	for _, plant := range []string{
		`INSERT INTO deletions (deletion_id, scope, connection_id, stream, since, until, state, asked_at, purge_after) VALUES
			('d', 'everything', '', '', '', '', '', '2026-01-02T03:04:05.000000Z', '2026-01-02T03:04:05.000000Z')`,
		`INSERT INTO deleted_records (record_id, deletion_no, version, live) SELECT n, 1, 1, 1
			FROM generate_series(1, 20000) AS n`,
	} {
		if _, err := d.Raw.ExecContext(t.Context(), plant); err != nil {
			t.Fatal(err)
		}
	}
	for _, state := range []store.DeletionState{store.DeletionUndoing, store.DeletionPurging} {
		if _, err := d.Raw.ExecContext(t.Context(), `UPDATE deletions SET state = $1`, state); err != nil {
			t.Fatal(err)
		}
		sent := storetest.StepOfDeletion(t, d)
		at := slices.IndexFunc(sent,
			func(s storetest.Sent) bool { return strings.Contains(s.Query, "FROM deleted_records x JOIN records r") })
		if at < 0 {
			t.Fatalf("%s: no hidden records are read by\n%v", state, sent)
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			plan, err := planned(t.Context(), d, sent[:at+1], mode)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(plan, "Sort") || strings.Contains(plan, "Bitmap") ||
				!strings.Contains(plan, "deleted_records_by_deletion") {
				t.Errorf("%s, %s: they are found by\n%s", state, mode, plan)
			}
		}
	}
}

// planned returns the plan of the last statement, after the settings before it, on a server that prefers parallel
// workers.
func planned(ctx context.Context, d storetest.Damaged, sent []storetest.Sent, mode string) (plan string, err error) {
	conn, err := d.Raw.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer conn.ExecContext(ctx, "DEALLOCATE asked")
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	last := sent[len(sent)-1]
	var arguments []string
	for _, a := range last.Args {
		arguments = append(arguments, `'`+strings.ReplaceAll(fmt.Sprint(a), `'`, `''`)+`'`)
	}
	statements := []string{"SET LOCAL plan_cache_mode = " + mode}
	for _, setting := range []string{"parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size",
		"min_parallel_index_scan_size"} {
		statements = append(statements, "SET LOCAL "+setting+" = 0")
	}
	for _, s := range sent {
		if strings.Contains(s.Query, "set_config") {
			statements = append(statements, s.Query)
		}
	}
	for _, s := range append(statements, "PREPARE asked AS "+last.Query) {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return "", err
		}
	}
	rows, err := tx.QueryContext(ctx, "EXPLAIN EXECUTE asked ("+strings.Join(arguments, ", ")+")")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var step string
		if err := rows.Scan(&step); err != nil {
			return "", err
		}
		plan += step + "\n"
	}
	return plan, rows.Err()
}

// TestNothingIsCompiled checks that JIT is off, unless the owner wants it.
func TestNothingIsCompiled(t *testing.T) {
	t.Parallel()
	url := copied(t)
	for address, want := range map[string]string{url: "off", url + "&jit=on": "on"} {
		db := open(t, address, Options{}).(*sqlstore.DB)
		for _, pool := range []*sql.DB{db.Writer(), db.ClientReaders()} {
			var jit string
			if err := pool.QueryRowContext(t.Context(), "SHOW jit").Scan(&jit); err != nil || jit != want {
				t.Errorf("jit is %q, want %q: %v", jit, want, err)
			}
		}
	}
}

package postgres

import (
	"database/sql"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

// TestFrozenTransactionEnds checks that the server ends the transaction of a frozen process, so that the next process
// takes its run over.
func TestFrozenTransactionEnds(t *testing.T) {
	t.Parallel()
	base := copied(t)
	frozen := open(t, with(t, base, "idle_in_transaction_session_timeout", "300ms"), Options{})
	l := storetest.BeginNumbered(t, frozen)
	tx, err := frozen.(interface{ Writer() *sql.DB }).Writer().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() // the server has ended it
	if _, err := tx.ExecContext(t.Context(), `UPDATE run_leases SET event_seq = event_seq + 1`); err != nil {
		t.Fatal(err)
	}
	runs, err := open(t, base, Options{}).AbandonExpiredRuns(t.Context(), l.ExpiresAt.Add(time.Second), 10)
	if err != nil || len(runs) != 1 || runs[0].ID != l.RunID || runs[0].Status != store.RunAbandoned {
		t.Errorf("reclaimed %+v, %v", runs, err)
	}
}

// TestLimitIdle checks that every connection sets the limit, and that the owner's URL takes precedence.
func TestLimitIdle(t *testing.T) {
	t.Parallel()
	base := copied(t)
	for url, want := range map[string]string{base: maxIdleTime,
		with(t, base, "idle_in_transaction_session_timeout", "7s"): "7s"} {
		var got string
		s := open(t, url, Options{})
		err := s.(interface{ Writer() *sql.DB }).Writer().QueryRowContext(t.Context(),
			`SHOW idle_in_transaction_session_timeout`).Scan(&got)
		if err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}

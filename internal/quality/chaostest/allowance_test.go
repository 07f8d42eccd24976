package chaostest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/providersim"
)

// TestSharedAllowance: four connections of one account share its allowance, on one worker and on
// three. A killed worker returns its share with its leases, and everything is collected. At the
// end no share is in use. No stored data or output names the account.
func TestSharedAllowance(t *testing.T) {
	p := build(t)
	t.Run("postgres", func(t *testing.T) {
		c := startCluster(t)
		st, err := postgres.Open(t.Context(), c.url, postgres.Options{Connections: 4})
		must(t, err)
		t.Cleanup(func() { _ = st.Close() })
		w := &world{shipped: p, seed: 5, home: p.home(t), database: c.url, store: st}
		w.share(t, 3, 2, 2)
	})
	t.Run("sqlite", func(t *testing.T) {
		home := p.home(t)
		st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
		must(t, err)
		t.Cleanup(func() { _ = st.Close() })
		w := &world{shipped: p, seed: 5, home: home, store: st}
		w.share(t, 1, 8, 1)
	})
}

// share has workers collect an account that several connections have, until runs of so many of them draw on its
// allowance at once, and kills one of them.
func (w *world) share(t *testing.T, workers, slots, holders int) {
	w.leaseTTL.Store(int64(3 * time.Second))
	w.plant(t, 4, 1)
	account := w.accounts[0].Sim
	_, err := account.Gate().Add(providersim.Fault{Kind: providersim.Bucket, Rate: 25, Burst: 5})
	must(t, err)
	w.employ(t, workers, slots)
	var drawing []string // holders, once for each run
	must(t, until(t.Context(), "runs draw on the allowance together", 2*time.Minute, func() (bool, error) {
		drawing, err = w.texts(t, `SELECT holder FROM allowance_members ORDER BY holder`)
		return len(drawing) > 1 && len(slices.Compact(slices.Clone(drawing))) >= holders, err
	}))
	victim := slices.IndexFunc(w.workers, func(one *worker) bool { return slices.Contains(drawing, one.ready()) })
	if victim < 0 {
		t.Fatalf("none of the workers is any of %v", drawing)
	}
	dead, id := w.workers[victim], w.workers[victim].ready()
	dead.signal(syscall.SIGKILL, workers > 1)
	if workers > 1 {
		<-dead.gone
		w.workers = slices.Delete(w.workers, victim, victim+1)
	}
	must(t, until(t.Context(), "the killed worker has no part of the allowance", time.Minute, func() (bool, error) {
		left, err := w.texts(t, `SELECT holder FROM allowance_members`)
		return !slices.Contains(left, id), err
	}))
	w.settle(t)
	w.leave(t)
	w.judge(t)
	rows, err := w.texts(t, `SELECT allowance_key || ' ' || COALESCE(learned_json, '') FROM allowances`)
	must(t, err)
	if len(rows) != 1 || !regexp.MustCompile(`^[0-9a-f]{64} \{("[a-z_]+":[0-9.e+-]+,?)+\}$`).MatchString(rows[0]) {
		t.Errorf("what is kept of one allowance is %q", rows)
	}
	if message := strings.Join(w.journal.tail, "\n"); strings.Contains(message, account.Token()) ||
		strings.Contains(message, rows[0][:64]) {
		t.Error("the log names the account or its allowance")
	}
}

// texts reads a column.
func (w *world) texts(t *testing.T, query string) (all []string, err error) {
	rows, err := w.sql.QueryContext(t.Context(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

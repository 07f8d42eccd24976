package audit

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

func TestRetention(t *testing.T) {
	ctx := t.Context()
	st, err := sqlite.Open(ctx, sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	days := func() int {
		t.Helper()
		n, err := RetentionDays(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, age := range []int{0, 29, 31, 364, 366} {
		if err := st.AppendAudit(ctx, store.AuditEntry{Kind: "read", At: noon.AddDate(0, 0, -age)}); err != nil {
			t.Fatal(err)
		}
	}
	prune := func(at time.Time) int64 {
		t.Helper()
		gone, err := Prune(ctx, st, at)
		if err != nil {
			t.Fatal(err)
		}
		return gone
	}
	if days() != 365 || prune(noon) != 1 || prune(noon) != 0 {
		t.Error("a year is not kept")
	}
	for _, bad := range []int{-1, 0, 29, 3651} {
		if err := SetRetentionDays(ctx, st, bad, noon); !errors.Is(err, ErrRetentionDays) {
			t.Errorf("%d days: %v", bad, err)
		}
	}
	if err := SetRetentionDays(ctx, st, 30, noon); err != nil || days() != 30 {
		t.Fatalf("%d days, %v", days(), err)
	}
	if gone := prune(noon); gone != 2 {
		t.Errorf("%d gone", gone)
	}
	if err := st.PutSetting(ctx, retentionSetting, []byte("nonsense"), noon); err != nil || days() != 365 {
		t.Errorf("nonsense means %d days, %v", days(), err)
	}
}

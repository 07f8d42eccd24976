package serve

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/view"
)

// A silent device is the runtime's fault only when there is nothing but devices.
func TestSilentDevices(t *testing.T) {
	noon := time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { at := noon.Add(-d); return &at }
	for name, c := range map[string]struct {
		heard  *time.Time
		others bool
		fault  bool
	}{
		"heard of":               {ago(time.Hour), false, false},
		"silent":                 {ago(40 * time.Hour), false, true},
		"never heard of":         {nil, false, true},
		"silent, and others run": {ago(40 * time.Hour), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")),
				sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			s := &process{Config: Config{Store: st}}
			if err := s.reportDevices(t.Context(), noon); err != nil {
				t.Fatal(err)
			}
			err = st.PutDevice(t.Context(), store.Device{ID: "dexp_fern", DisplayName: "Fern", Status: evidence.StatusActive,
				LastHeartbeatAt: c.heard, CreatedAt: noon, UpdatedAt: noon})
			if err != nil {
				t.Fatal(err)
			}
			kind := evidence.SourceLocalDevice
			if c.others {
				kind = "account"
			}
			page := []evidence.Evidence{{Connection: evidence.Connection{ID: "cin_fern", Status: evidence.StatusActive,
				SourceKind: kind}}}
			if _, err := s.deviceless.Check(t.Context(), page, noon); err != nil {
				t.Fatal(err)
			}
			if err := s.reportDevices(t.Context(), noon); err != nil {
				t.Fatal(err)
			}
			connections := view.View{Reader: st, Now: func() time.Time { return noon }}
			indicator, err := connections.Indicator(t.Context())
			if err != nil || (indicator != nil) != c.fault {
				t.Errorf("indicator %+v, %v", indicator, err)
			}
		})
	}
}

package pace

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// A bookmark is a connector's own; whatever is in it, what is read is positive.
func FuzzLearnedRate(f *testing.F) {
	for _, cursor := range []string{
		``, `null`, `7`, `[]`, `{"pacing_interval_ms":720,"pacing_recorded_at_ms":1772352000000,"pacing_limit_per_min":60}`,
		`{"pacing_interval_ms":1e400,"pacing_recorded_at_ms":-1}`,
		`{"pacing_interval_ms":1,"pacing_recorded_at_ms":1e18,"pacing_sweep":1e-320}`,
		`{"pacing_interval_ms":1e-9,"pacing_recorded_at_ms":1,"pacing_limit_per_min":1}`,
	} {
		f.Add([]byte(cursor))
	}
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, cursor []byte) {
		l := newestLearned([]store.Cursor{{Cursor: cursor,
			CursorID: store.CursorID{Stream: "trees", Mode: protocol.SteadyState}}}, now)
		if l == nil {
			return
		}
		for _, v := range []*float64{&l.IntervalMS, l.LimitPerMin, l.RefusedPerMin, l.Sweep, l.PauseMS, l.CostMS} {
			if v != nil && !(*v > 0) {
				t.Errorf("%s gives %v", cursor, *v)
			}
		}
		if out, err := json.Marshal(l); err != nil || !strings.HasPrefix(string(out), `{"stream":"trees"`) {
			t.Errorf("%s gives %s, %v", cursor, out, err)
		}
	})
}

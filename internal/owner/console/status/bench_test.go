package status

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/view"
)

// BenchmarkDashboard makes the page of so many connections from verdicts that are
// there already: what the page adds to them.
func BenchmarkDashboard(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			all := make([]view.Connection, n)
			for i := range all {
				e := evidence.Evidence{Connection: evidence.Connection{ID: fmt.Sprintf("con_%04d", i), DisplayName: "Orchard",
					ConnectorID: "orchard", Status: evidence.StatusActive}}
				all[i] = view.Judge(&e, noon, true)
			}
			h := serve(&keeper{ready: &view.Overview{Connections: all, Summary: view.Summarize(all, nil), ObservedAt: noon}})
			size := 0
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), "GET", "/sources", nil))
				size = w.Body.Len()
			}
			b.ReportMetric(float64(size), "bytes/page")
		})
	}
}

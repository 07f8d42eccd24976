package verdict

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

var sink Verdict

func BenchmarkSynthesizeHealthy(b *testing.B) {
	in := healthy()
	b.ReportAllocs()
	for b.Loop() {
		sink = Synthesize(in)
	}
}

func BenchmarkSynthesizeDegraded(b *testing.B) {
	in := healthy(staleManual, credentialRejected, gap(health.Partial, health.DispositionResumable), func(in *Input) {
		in.Snapshot.Backlog = &health.Backlog{Pending: 40}
		in.Snapshot.NextAttemptAt = daysAgo(-1)
	})
	b.ReportAllocs()
	for b.Loop() {
		sink = Synthesize(in)
	}
}

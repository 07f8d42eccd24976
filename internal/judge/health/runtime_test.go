package health

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

func TestRuntime(t *testing.T) {
	every := num(60)
	cases := []struct {
		name string
		part evidence.Component
		want string // the fault
	}{
		{"well", evidence.Component{Status: evidence.ProbeOK, At: noon, EverySeconds: every}, ""},
		{"three reports left out", evidence.Component{Status: evidence.ProbeOK, At: noon.Add(-3 * time.Minute),
			EverySeconds: every}, ""},
		{"silent", evidence.Component{Status: evidence.ProbeOK, At: noon.Add(-3*time.Minute - 1), EverySeconds: every},
			"silent"},
		{"reports changes only", evidence.Component{Status: evidence.ProbeOK, At: noon.AddDate(0, -1, 0)}, ""},
		{"failed", evidence.Component{Status: evidence.ProbeFailed, Reason: "no_display", At: noon}, "no_display"},
		{"failed with a secret", evidence.Component{Status: evidence.ProbeFailed, Reason: "token=abc", At: noon}, "failed"},
		{"not known", evidence.Component{Status: evidence.ProbeUnknown, At: noon}, ""},
	}
	for _, c := range cases {
		got := ReadRuntime(&evidence.Runtime{Components: []evidence.Component{c.part}}, noon)
		switch {
		case got.OK != (c.want == ""), got.Faults == nil, len(got.Faults) != map[bool]int{true: 0, false: 1}[got.OK]:
			t.Errorf("%s: %+v", c.name, got)
		case !got.OK && got.Faults[0].Reason != c.want:
			t.Errorf("%s: reason %s, want %s", c.name, got.Faults[0].Reason, c.want)
		}
	}
	if got := ReadRuntime(nil, noon); !got.OK || got.Faults == nil {
		t.Errorf("no reports: %+v", got)
	}
}

func TestLocalProgressSumsTrustedSources(t *testing.T) {
	first := trusted(evidence.HeartbeatRetrying, time.Minute, num(2),
		&evidence.OutboxCounts{Pending: 2, DeadLetter: 1, Total: 9, OldestPendingAt: at(-time.Hour)})
	second := trusted(evidence.HeartbeatHealthy, time.Second, num(0),
		&evidence.OutboxCounts{Pending: 3, Total: 4, OldestPendingAt: at(-2 * time.Hour)})
	odd := trusted(evidence.HeartbeatHealthy, time.Hour, num(-4), &evidence.OutboxCounts{Pending: -3})
	revoked := trusted(evidence.HeartbeatHealthy, 0, num(50), &evidence.OutboxCounts{Pending: 50})
	revoked.RevokedAt = at(0)
	e := &evidence.Evidence{Device: &evidence.Device{Sources: []evidence.DeviceSource{first, second, odd, revoked}}}
	p := ReadLocalProgress(e)
	want := evidence.OutboxCounts{Pending: 5, DeadLetter: 1, Total: 13, OldestPendingAt: p.OutboxCounts.OldestPendingAt}
	if *p.OutboxCounts != want || !p.OutboxCounts.OldestPendingAt.Equal(noon.Add(-2*time.Hour)) {
		t.Errorf("counts = %+v", p.OutboxCounts)
	}
	if p.SourceCount != 3 || *p.RecordsPending != 2 || p.LastHeartbeatStatus != "healthy" ||
		!p.LastHeartbeatAt.Equal(noon.Add(-time.Second)) {
		t.Errorf("progress = %+v", p)
	}
	e.Device.Sources = []evidence.DeviceSource{revoked}
	if p := ReadLocalProgress(e); p.OutboxCounts != nil || p.RecordsPending != nil || p.SourceCount != 0 {
		t.Errorf("of a revoked source: %+v", p)
	}
	if p := ReadLocalProgress(&evidence.Evidence{}); p != nil {
		t.Errorf("without a device: %+v", p)
	}
}

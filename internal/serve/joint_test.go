package serve

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/view"
)

// A scheduler that stops reporting is a fault for every reader of the database: each heartbeat states when the next
// one is due.
func TestSilentSchedulerIsAFault(t *testing.T) {
	inPlot(t, func(t *testing.T, p *plot) {
		time.Sleep(time.Minute)
		for later, want := range map[time.Duration]string{0: "", 10 * time.Minute: "silent"} {
			connections := view.View{Reader: p.st, Now: func() time.Time { return time.Now().Add(later) }}
			found, err := connections.Indicator(t.Context())
			p.must(err)
			reason := ""
			if found != nil {
				reason = found.Faults[0].Reason
			}
			if reason != want {
				t.Errorf("%v after its last beat the scheduler is %q, want %q", later, reason, want)
			}
		}
	})
}

// While the runtime itself is the fault no push is sent about a connection: fixing it
// comes first. The push follows once it works.
func TestRuntimeFaultHoldsPushesBack(t *testing.T) {
	inPlot(t, func(t *testing.T, p *plot) {
		tool := func(status evidence.ProbeStatus) {
			p.must(p.st.PutComponent(t.Context(), evidence.Component{Name: "tools", Status: status, Reason: "tool_missing",
				At: time.Now()}))
		}
		tool(evidence.ProbeFailed)
		p.credential("spade")
		p.schedule(5*time.Minute, true)
		time.Sleep(time.Minute)
		if got := p.runs(); got != "scheduled failed" {
			t.Fatalf("it ran: %s", got)
		}
		if pushes := p.pushed(); len(pushes) != 0 {
			t.Errorf("pushed although the runtime is the fault: %q", pushes)
		}
		tool(evidence.ProbeOK)
		p.must(p.st.MarkChanged(t.Context(), garden))
		time.Sleep(soon)
		if pushes := p.pushed(); len(pushes) != 1 {
			t.Errorf("once the runtime works the pushes are %q", pushes)
		}
	})
}

// The owner accepts the offer to turn a paused schedule on: it is on in the database, and the connection collects
// again.
func TestAcceptedScheduleIsKept(t *testing.T) {
	inPlot(t, func(t *testing.T, p *plot) {
		p.credential("trowel")
		p.schedule(5*time.Minute, true)
		time.Sleep(soon)
		p.schedule(5*time.Minute, false)
		time.Sleep(time.Hour)
		before := p.runs()
		if all := p.records(); len(all) != 1 || all[0].Kind != "reattach_schedule" {
			t.Fatalf("asked for %+v", all)
		}
		owner := service.New(service.Config{Store: p.st, Connectors: catalog.Catalog{Dir: p.home}, Now: time.Now})
		p.must(owner.Acknowledge(t.Context(), garden, "reattach_schedule"))
		time.Sleep(soon)
		if s, err := p.st.Schedule(t.Context(), garden); err != nil || !s.Enabled || s.IntervalSeconds != 300 {
			t.Errorf("schedule %+v, %v", s, err)
		}
		time.Sleep(10 * time.Minute)
		if all := p.records(); all[0].Lifecycle != evidence.AttentionResolved {
			t.Errorf("the offer is %s", all[0].Lifecycle)
		}
		if after := p.runs(); len(after) <= len(before)+len(", retry succeeded") {
			t.Errorf("it ran %s and after the yes %s", before, after)
		}
	})
}

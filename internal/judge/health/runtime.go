package health

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// RuntimeIndicator is the state of the parts that serve every connection.
type RuntimeIndicator struct {
	OK     bool           `json:"runtime_ok"`
	Faults []RuntimeFault `json:"faults"`
}

// RuntimeFault is one part of the runtime that is down.
type RuntimeFault struct {
	Component string    `json:"component"`
	Reason    string    `json:"reason"`
	Since     time.Time `json:"since"` // its newest report
}

// missedReports is how many reports in a row a part may miss.
const missedReports = 3

// ReadRuntime judges the runtime. A part that reports at intervals is down if its reports stop, whatever the last one
// was.
func ReadRuntime(rt *evidence.Runtime, now time.Time) RuntimeIndicator {
	out := RuntimeIndicator{OK: true, Faults: []RuntimeFault{}}
	if rt == nil {
		return out
	}
	for i := range rt.Components {
		c := &rt.Components[i]
		reason := ""
		switch {
		case c.Status == evidence.ProbeFailed:
			reason, _ = safeReason(c.Reason, "failed")
		case c.EverySeconds != nil && now.Sub(c.At) > missedReports*time.Duration(*c.EverySeconds)*time.Second:
			reason = "silent"
		default:
			continue
		}
		out.OK = false
		out.Faults = append(out.Faults, RuntimeFault{Component: c.Name, Reason: reason, Since: c.At})
	}
	return out
}

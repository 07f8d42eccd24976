package health

import (
	"reflect"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestBacklog(t *testing.T) {
	group := func(reason protocol.Reason, count, attempts int64, next *time.Time) evidence.GapGroup {
		return evidence.GapGroup{Stream: "photos", Reason: reason, Count: count, MaxAttempts: attempts, NotBefore: next}
	}
	cases := []struct {
		name string
		gaps *evidence.Gaps
		want *Backlog
	}{
		{"unreadable is null", nil, nil},
		{"empty is zero", &evidence.Gaps{}, &Backlog{}},
		{"pressure", &evidence.Gaps{Groups: []evidence.GapGroup{
			group(protocol.ReasonRateLimited, 3, 2, at(time.Hour)),
			group(protocol.ReasonUpstreamPressure, 4, 1, at(2*time.Hour)),
		}}, &Backlog{Pending: 7, MaxAttemptCount: 2, NextAttemptAt: at(2 * time.Hour)}},
		{"every other reason is apart", &evidence.Gaps{Groups: []evidence.GapGroup{
			group(protocol.ReasonRetryExhausted, 5, 9, at(time.Hour)), group(protocol.ReasonMaxRequests, 1, 9, nil),
			group("new_reason", 1, 9, nil),
		}}, &Backlog{PendingOther: 7}},
		{"floors", &evidence.Gaps{Floor: true}, &Backlog{PendingIsFloor: true, PendingOtherIsFloor: true}},
		{"counts that are none", &evidence.Gaps{Groups: []evidence.GapGroup{group(protocol.ReasonRateLimited, -2, 7, at(0))},
			Recovered: num(-1), Terminal: num(0)},
			&Backlog{Terminal: num(0)}},
		{"recovered", &evidence.Gaps{Recovered: num(6)}, &Backlog{Recovered: num(6)}},
	}
	for _, c := range cases {
		if got := RollUpBacklog(c.gaps); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

const start = `{"op":"init","now":0,"owner_min_interval_ns":100000000,"initial_interval_ns":2000000000,` +
	`"max_in_flight":%d,"seed":1,"epoch_unix":1767603600%s}`

// talk sends lines and returns the answers.
func talk(t *testing.T, lines ...string) []string {
	t.Helper()
	var out strings.Builder
	if err := serve(strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func compare(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("answers %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("answer %d is %s, want %s", i, got[i], want[i])
		}
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	got := talk(t,
		fmt.Sprintf(start, 1, ""),
		`{"op":"snapshot","now":0}`,
		`{"op":"next","now":0}`,
		`{"op":"next","now":2000000000}`,
		`{"op":"next","now":2010000000}`,
		`{"op":"observe","now":2050000000,"id":1,"sent_at":2000000000,"status":429,"latency":50000000,`+
			`"retry_after":3000000000,"headers":{"Date":"Mon, 05 Jan 2026 09:00:02 GMT","Retry-After":"3"}}`,
		`{"op":"next","now":2050000000}`,
		`{"op":"next","now":5050000000}`,
		`{"op":"observe","now":5100000000,"id":2,"sent_at":5050000000,"status":200,"latency":50000000,`+
			`"headers":{"x-ratelimit-remaining":"0","x-ratelimit-reset":"1767603625"}}`,
		`{"op":"next","now":5100000000}`,
		`{"op":"snapshot","now":5100000000}`,
		`{"op":"quit"}`,
		`not read any more`,
	)

	// Run the same sequence on a governor without a pipe.
	epoch := time.Unix(1767603600, 0)
	at := func(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }
	g := governor.New("twin", func(c *governor.Config) {
		c.Ceiling, c.Discovery, c.Seed, c.MaxWait = 100*time.Millisecond, 2*time.Second, 1, 0
	})
	call := g.Call()
	for _, ms := range []int{0, 2000} {
		_, _ = call.Next(at(ms))
	}
	call.Observe(at(2050), governor.Outcome{Kind: governor.Throttled, Sent: at(2000), RetryAfter: 3 * time.Second,
		HasRetryAfter: true})
	_, _ = call.Next(at(5050))
	call.Observe(at(5100), governor.Outcome{Kind: governor.Success, Sent: at(5050),
		Quota: governor.Quota{Known: true, Reset: 19900 * time.Millisecond}})
	l, _ := g.Snapshot(at(5100))
	learned, err := json.Marshal(snapshot{Interval: int64(l.Interval), Extra: l.Fields()})
	if err != nil {
		t.Fatal(err)
	}

	compare(t, got,
		`{"interval_ns":0}`,                 // nothing is learned yet
		`{"wait":2000000000,"send":false}`,  // a cold start waits one interval
		`{"wait":0,"send":true}`,            //
		`{"wait":0,"send":false}`,           // the one worker is busy
		`{"wait":3000000000,"send":false}`,  // exactly the requested wait
		`{"wait":0,"send":true}`,            // the same call again
		`{"wait":19900000000,"send":false}`, // the quota is spent until second 25
		string(learned),
	)
}

func TestOpenCircuitTellsItsRest(t *testing.T) {
	t.Parallel()
	got := talk(t, fmt.Sprintf(start, 8, ""), `{"op":"next","now":0}`,
		`{"op":"next","now":2000000000}`, `{"op":"next","now":4000000000}`, `{"op":"next","now":6000000000}`,
		`{"op":"next","now":8000000000}`, `{"op":"next","now":10000000000}`,
		`{"op":"observe","now":11000000000,"id":2,"sent_at":4000000000,"error":"timeout"}`,
		`{"op":"observe","now":11000000000,"id":1,"sent_at":2000000000,"error":"timeout"}`,
		`{"op":"observe","now":11000000000,"id":3,"sent_at":6000000000,"status":500}`,
		`{"op":"observe","now":11000000000,"id":4,"sent_at":8000000000,"status":502}`,
		`{"op":"observe","now":11000000000,"id":5,"sent_at":10000000000,"status":500}`,
		`{"op":"next","now":12000000000}`,
		`{"op":"next","now":71000000000}`,
		`{"op":"next","now":71000000000}`,
	)
	compare(t, got,
		`{"wait":2000000000,"send":false}`,
		`{"wait":0,"send":true}`, `{"wait":0,"send":true}`, `{"wait":0,"send":true}`, `{"wait":0,"send":true}`,
		`{"wait":0,"send":true}`,
		`{"wait":59000000000,"send":false}`,
		`{"wait":0,"send":true}`,  // one request probes
		`{"wait":0,"send":false}`, // and the others wait for its answer
	)
}

func TestWarmStart(t *testing.T) {
	t.Parallel()
	for _, restored := range []string{
		`{"interval_ns":512000000}`,
		`{"interval_ns":512000000,"extra":{"interval_ms":512,"recorded_at_ms":1}}`,
	} {
		got := talk(t, fmt.Sprintf(start, 1, `,"restored":`+restored), `{"op":"next","now":0}`)
		compare(t, got, `{"wait":512000000,"send":false}`)
	}
	got := talk(t, fmt.Sprintf(start, 1, `,"restored":{"interval_ns":0}`), `{"op":"next","now":0}`)
	compare(t, got, `{"wait":2000000000,"send":false}`)
}

func TestNonsenseIsAnError(t *testing.T) {
	t.Parallel()
	first := fmt.Sprintf(start, 1, "")
	for _, lines := range []string{
		`{`, `{"op":"next"}`, first + "\n" + `{"op":"dance"}`, first + "\n" + `{"op":"observe","id":1}`,
	} {
		if err := serve(strings.NewReader(lines), &strings.Builder{}); err == nil {
			t.Errorf("%q is accepted", lines)
		}
	}
}

package foreign

import "testing"

// What a run may claim of a stream, row by row. Exit code 0 is given in all of them, and alone
// it claims nothing.
func TestClaims(t *testing.T) {
	refused := func(status int) Traffic { return Traffic{Refused: map[int]int{status: 1}} }
	for _, c := range []struct {
		name string
		evidence
		want claim
	}{
		{"schema seen, nothing refused", evidence{kind: Singer, begun: true}, claimComplete},
		{"no schema", evidence{kind: Singer}, claimFailed},
		{"no schema, and nothing could be seen", evidence{kind: Singer, traffic: Traffic{Unseen: true}}, claimFailed},
		{"a swallowed 403", evidence{kind: Singer, begun: true, traffic: refused(403)}, claimGapped},
		{"a swallowed 404", evidence{kind: Singer, begun: true, traffic: refused(404)}, claimGapped},
		{"a swallowed 429", evidence{kind: Singer, begun: true, traffic: refused(429)}, claimGapped},
		{"a swallowed 502", evidence{kind: Singer, begun: true, traffic: refused(502)}, claimGapped},
		{"no answer at all", evidence{kind: Singer, begun: true, traffic: refused(0)}, claimGapped},
		{"a host that is not allowed", evidence{kind: Singer, begun: true, traffic: Traffic{Elsewhere: []string{"x"}}}, claimGapped},
		{"traffic past the proxy", evidence{kind: Singer, begun: true, traffic: Traffic{Unseen: true}}, claimUnknown},
		{"COMPLETE", evidence{kind: Airbyte, status: "COMPLETE"}, claimComplete},
		{"COMPLETE, but unseen", evidence{kind: Airbyte, status: "COMPLETE", traffic: Traffic{Unseen: true}}, claimUnknown},
		{"COMPLETE after a swallowed 404", evidence{kind: Airbyte, status: "COMPLETE", traffic: refused(404)}, claimGapped},
		{"INCOMPLETE", evidence{kind: Airbyte, status: "INCOMPLETE"}, claimFailed},
		{"RUNNING to the end", evidence{kind: Airbyte, status: "RUNNING"}, claimFailed},
		{"no status", evidence{kind: Airbyte}, claimUnknown},
	} {
		if got := c.claim(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

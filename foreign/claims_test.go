package foreign

import "testing"

// What a run may claim about a stream, row by row. Exit code 0 applies to all rows, and proves nothing.
func TestClaims(t *testing.T) {
	refused := func(status int) Traffic { return Traffic{Refused: map[int]int{status: 1}} }
	for _, c := range []struct {
		name string
		streamEvidence
		want streamClaim
	}{
		{"schema seen, nothing refused", streamEvidence{kind: Singer, begun: true}, claimComplete},
		{"no schema", streamEvidence{kind: Singer}, claimFailed},
		{"no schema, and nothing could be seen", streamEvidence{kind: Singer, traffic: Traffic{Unseen: true}}, claimFailed},
		{"a swallowed 403", streamEvidence{kind: Singer, begun: true, traffic: refused(403)}, claimGapped},
		{"a swallowed 404", streamEvidence{kind: Singer, begun: true, traffic: refused(404)}, claimGapped},
		{"a swallowed 429", streamEvidence{kind: Singer, begun: true, traffic: refused(429)}, claimGapped},
		{"a swallowed 502", streamEvidence{kind: Singer, begun: true, traffic: refused(502)}, claimGapped},
		{"no answer at all", streamEvidence{kind: Singer, begun: true, traffic: refused(0)}, claimGapped},
		{"a host that is not allowed", streamEvidence{kind: Singer, begun: true,
			traffic: Traffic{Elsewhere: []string{"x"}}}, claimGapped},
		{"traffic past the proxy", streamEvidence{kind: Singer, begun: true, traffic: Traffic{Unseen: true}}, claimUnknown},
		{"COMPLETE", streamEvidence{kind: Airbyte, status: "COMPLETE"}, claimComplete},
		{"COMPLETE, but unseen", streamEvidence{kind: Airbyte, status: "COMPLETE", traffic: Traffic{Unseen: true}},
			claimUnknown},
		{"COMPLETE after a swallowed 404", streamEvidence{kind: Airbyte, status: "COMPLETE", traffic: refused(404)},
			claimGapped},
		{"INCOMPLETE", streamEvidence{kind: Airbyte, status: "INCOMPLETE"}, claimFailed},
		{"RUNNING to the end", streamEvidence{kind: Airbyte, status: "RUNNING"}, claimFailed},
		{"no status", streamEvidence{kind: Airbyte}, claimUnknown},
	} {
		if got := c.claim(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSmallForms(t *testing.T) {
	tests := []struct {
		line, path string
		want       any
	}{
		{`{"disposition":{"coverage":"partial"}}`, "forward_disposition", "resumable"},
		{`{"disposition":{}}`, "forward_disposition", "checking"},
		{`{"disposition":{"coverage":"complete","gapRetryable":true,"freshness":"fresh"}}`, "forward_disposition",
			"resumable"},
		{`{"disposition":{"coverage":"terminal_gap","gap_retryable":true}}`, "forward_disposition", "terminal"},
		{`{"disposition":{"coverage":"terminal_gap","attentionOpen":true}}`, "forward_disposition", "awaiting_owner"},
		{`{"disposition":{"coverage":"complete","gap_retryable":true,"attention":{"open":true}}}`, "forward_disposition",
			"awaiting_owner"},
		{`{"disposition":{"coverage":"complete","freshness":"stale","refresh":{"backgroundSafe":false}}}`,
			"forward_disposition", "owner_refresh_due"},
		{`{"disposition":{"coverage":"complete","freshness":"stale","manualOnly":true}}`, "forward_disposition",
			"owner_refresh_due"},
		{`{"disposition":{"coverage":"complete","freshness":"stale"}}`, "forward_disposition", "complete"},
		{`{"heartbeat":{"status":"blocked","at":"2026-03-10T11:59:00Z","outbox":{"deadLetter":1}},` +
			`"now":"2026-03-10T12:00:00Z"}`, "cause", "dead_letter_backlog"},
		{`{"heartbeat":{"evidenceTrusted":true,"lastHeartbeatAt":"2026-03-10T11:59:00Z","lastHeartbeatStatus":"blocked",` +
			`"deadLetter":2},"now":"2026-03-10T12:00:00Z"}`, "cause", "dead_letter_backlog"},
		{`{"heartbeat":{"status":"healthy","at":"2026-03-10T11:00:00Z","records_pending":2},"now":"2026-03-10T12:00:00Z"}`,
			"cause", "stale_pending"},
		{`{"heartbeat":{"status":"healthy","at":"2026-03-10T11:00:00Z","records_pending":0},"now":"2026-03-10T12:00:00Z"}`,
			"axis", "idle"},
		{`{"heartbeat":{"status":"healthy","at":"2026-03-10T11:00:00Z","records_pending":0},"now":"2026-03-10T12:00:00Z"}`,
			"cause", nil},
		{`{"heartbeat":{"trusted":false,"status":"blocked","at":"2026-03-10T11:00:00Z"},"now":"2026-03-10T12:00:00Z"}`,
			"unreliable", true},
		{`{"heartbeat":{"status":"blocked"},"now":"2026-03-10T12:00:00Z"}`, "axis", "unknown"},
		{`{"heartbeat":{"sources":[]},"now":"2026-03-10T12:00:00Z"}`, "axis", "unknown"},
		{`{"heartbeat":{"sources":[{"status":"healthy","at":"2026-03-10T11:59:00Z"},{"status":"blocked",` +
			`"at":"2026-03-10T11:59:00Z"}]},"now":"2026-03-10T12:00:00Z"}`, "cause", "state_read_failed"},
		{`{"backlog":null}`, "detail_gap_backlog", nil},
		{`{"backlog":{}}`, "detail_gap_backlog", nil},
		{`{"backlog":{"pendingGaps":[]}}`, "detail_gap_backlog.pending", 0.0},
		{`{"backlog":{"pending_gaps":[{"reason":"rate_limited","attempt_count":3},{"reason":"wasps","attempt_count":9}],` +
			`"read_limit":2}}`, "detail_gap_backlog.pending", 1.0},
		{`{"backlog":{"pending_gaps":[{"reason":"rate_limited","attempt_count":3},{"reason":"wasps","attempt_count":9}],` +
			`"read_limit":2}}`, "detail_gap_backlog.max_attempt_count", 3.0},
		{`{"backlog":{"pending_gaps":[{"reason":"rate_limited"},{"reason":"wasps"}],"read_limit":2}}`,
			"detail_gap_backlog.pending_is_floor", true},
		{`{"backlog":{"pending_gaps":[{"reason":"rate_limited"},{"reason":"wasps"}],"readLimit":3}}`,
			"detail_gap_backlog.pending_other_is_floor", false},
		{`{"backlog":{"pending_gaps":[{"reason":"rate_limited","status":"recovered"}]}}`, "detail_gap_backlog.pending", 0.0},
		{`{"backlog":{"pending_gaps":[],"recovered":4}}`, "detail_gap_backlog.recovered", 4.0},
	}
	for _, tt := range tests {
		answer, ok := ask(t, tt.line)
		if got := at(answer, tt.path); !ok || got != tt.want {
			t.Errorf("%s\n%s is %v, want %v in %v", tt.line, tt.path, got, tt.want, answer)
		}
	}
}

// What a snapshot leaves out is filled in with what claims the least.
func TestSnapshotDefaults(t *testing.T) {
	const healthy = `"state":"healthy","axes":{"coverage":"complete","freshness":"fresh"},"forward_disposition":"complete"`
	tests := []struct {
		line, path string
		want       any
	}{
		{`{"snapshot":{}}`, "verdict.pill.label", "Checking"},
		{`{"snapshot":{` + healthy + `}}`, "verdict.pill.label", "Healthy"},
		{`{"snapshot":{` + healthy + `}}`, "verdict.channel", "calm"},
		{`{"snapshot":{` + healthy + `},"attention":{"open":true}}`, "verdict.channel", "attention"},
		{`{"snapshot":{` + healthy + `},"attention":{"axis":"in_progress"}}`, "verdict.channel", "attention"},
		{`{"snapshot":{` + healthy + `},"attention":true,"runtimeOk":false}`, "verdict.channel", "calm"},
		{`{"snapshot":{"state":"healthy","axes":{"coverage":"complete","freshness":"fresh","attention":"none"}},` +
			`"attention":{"open":true}}`, "verdict.channel", "calm"},
		{`{"snapshot":{` + healthy + `},"streams":[{"streamId":"trees","coverage":"partial"}]}`, "verdict.pill.label",
			"Degraded"},
		{`{"snapshot":{` + healthy + `},"streams":[{"stream":"trees","coverage_condition":"partial","required":false}]}`,
			"verdict.pill.label", "Healthy"},
		{`{"snapshot":{"state":"blocked","conditions":[{"type":"CredentialsValid","status":"false","severity":"blocked"}]}}`,
			"verdict.channel", "attention"},
		{`{"snapshot":{"state":"blocked","conditions":[{"type":"CredentialsValid","status":false,"severity":"blocked"}]}}`,
			"verdict.channel", "attention"},
		{`{"snapshot":{"state":"idle","conditions":[{"type":"CredentialsValid","status":"false","current":false}]}}`,
			"verdict.channel", "calm"},
		{`{"snapshot":{"state":"idle","axes":{"coverage":"complete","freshness":"stale"}},` +
			`"refresh":{"recommendedMode":"manual"}}`, "verdict.detail.forward_disposition", "owner_refresh_due"},
		{`{"snapshot":{` + healthy + `,"lastSuccessAt":"2026-03-10T12:00:00Z"},"schedule":{"enabled":false}}`,
			"verdict.trace.primary_action_kind", "reattach_schedule"},
		{`{"snapshot":{` + healthy + `},"schedule":{"mode":"scheduled-disabled","hasPriorSuccess":true}}`,
			"verdict.trace.primary_action_kind", "reattach_schedule"},
		{`{"snapshot":{` + healthy + `},"schedule":{"enabled":true}}`, "verdict.trace.primary_action_kind", nil},
	}
	for _, tt := range tests {
		answer, ok := ask(t, tt.line)
		if got := at(answer, tt.path); !ok || got != tt.want {
			t.Errorf("%s\n%s is %v, want %v in %v", tt.line, tt.path, got, tt.want, answer)
		}
	}
}

// The answer to evidence can be asked again as a snapshot.
func TestEvidenceAnswerIsASnapshot(t *testing.T) {
	lines, err := os.ReadFile(filepath.Join("testdata", "evidence.in.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		first, ok := judgeLine([]byte(line), false, 1, true)
		if !ok {
			t.Fatalf("%s", first)
		}
		var again map[string]any
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatal(err)
		}
		want := again["verdict"]
		delete(again, "verdict")
		if strings.Contains(line, `"runtime_ok":false`) {
			again["runtime_ok"] = false
		}
		body, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		second, _ := ask(t, string(body))
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(second["verdict"])
		if !bytes.Equal(a, b) {
			t.Errorf("verdicts differ\n%s\n%s", a, b)
		}
	}
}

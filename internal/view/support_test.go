package view

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// planted writes a text into every member that other parts may fill with words.
func planted(e evidence.Evidence, text string) evidence.Evidence {
	e.LastRun = &evidence.Run{ID: "run_3", Status: evidence.RunFailed, Trigger: text, StartedAt: noon, EndedAt: noon,
		Failure: &evidence.Failure{Reason: text, Origin: text, Message: text, Code: text,
			Action: protocol.RecoveryAction(text)}}
	e.Backoff = &evidence.Backoff{Class: text, Failures: 2, ObservedAt: noon, NextAttemptAt: ago(-1)}
	e.Credential = &evidence.Credential{Status: evidence.CredentialRejected, Reason: text, CapturedAt: noon}
	e.Probes = []evidence.Probe{{Dimension: evidence.ProbeTool, Name: text, Status: evidence.ProbeFailed, Reason: text,
		At: noon}}
	e.Attention = []evidence.Attention{{ID: "att_1", Reason: text, Target: text, Lifecycle: evidence.AttentionOpen,
		OpenedAt: noon}}
	e.Gaps = &evidence.Gaps{Groups: []evidence.GapGroup{{Stream: "trees", Reason: protocol.Reason(text), Count: 1}}}
	e.Rate = &evidence.Rate{At: noon,
		Pace: evidence.Pace{LastBackoff: &protocol.RateBackoff{Reason: protocol.RateBackoffReason(text)}}}
	if len(e.Streams) > 0 {
		e.Streams = slices.Clone(e.Streams)
		e.Streams[0].Fact = &evidence.Fact{RunStatus: evidence.RunSucceeded, At: noon,
			Skip: &evidence.Skip{Reason: text, Action: protocol.RecoveryAction(text)}}
	}
	return e
}

// A redacted case holds neither names nor text, and what it was made from stays.
func TestRedactedEvidenceTellsNothingPersonal(t *testing.T) {
	const secret = "Password hunter2 for ada@example.org"
	for name, kind := range kinds {
		e := planted(kind("cin_1"), secret)
		e.Connection.DisplayName = "hunter2's orchard"
		if e.Device != nil {
			e.Device.Sources[0].Host, e.Device.Sources[0].ID = "hunter2-laptop", "/home/hunter2"
			e.Device.Stores[0].Store = "/home/hunter2/journal"
		}
		before, _ := json.Marshal(e)
		body, err := json.Marshal(Redact(&e))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), "hunter2") || strings.Contains(string(body), "ada@") {
			t.Errorf("%s: %s", name, body)
		}
		if after, _ := json.Marshal(e); string(before) != string(after) {
			t.Errorf("%s: the evidence itself was changed", name)
		}
	}
}

// familyWords are words by which the reason of a skip is read.
var familyWords = []string{
	"rate", "rate limit", "429", "retry", "pressure", "temporary", "timeout", "timed_out", "collection_failed",
	"out_of_scope", "disabled",
	"deferred", "paused", "not_available_in_mode", "unavailable", "blocked", "locked", "upstream", "unsupported",
	"capability", "separate",
}

// Redaction never changes the verdict.
func TestRedactionKeepsTheJudgement(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	texts := append([]string{"", "wasps", "Sign in at https://example.org?code=1", "GITHUB_session_required",
		"session_required later", "no browser"}, familyWords...)
	for _, part := range familyWords {
		texts = append(texts, "It says: "+strings.ToUpper(part)+"!")
	}
	const rounds = 20_000
	for range rounds {
		e := random(r, "cin_1")
		if r.IntN(2) == 0 {
			e = planted(e, texts[r.IntN(len(texts))])
			if r.IntN(2) == 0 {
				e.Credential, e.Attention, e.Probes, e.Backoff = nil, nil, nil, nil
			}
			if r.IntN(2) == 0 {
				e.LastRun.Failure.Reason = "runtime_binding_missing"
			}
		}
		runtimeOK := r.IntN(5) > 0
		clean := Redact(&e)
		before, after := Judge(&e, noon, runtimeOK), Judge(&clean, noon, runtimeOK)
		if before.Health.State != after.Health.State || before.Verdict.Pill != after.Verdict.Pill ||
			before.Verdict.Channel != after.Verdict.Channel ||
			!reflect.DeepEqual(before.Health.Axes, after.Health.Axes) || (before.Recovery == nil) != (after.Recovery == nil) {
			body, _ := json.Marshal(e)
			t.Fatalf("%s %v %s became %s %v %s for %s", before.Health.State, before.Verdict.Pill, before.Verdict.Channel,
				after.Health.State, after.Verdict.Pill, after.Verdict.Channel, body)
		}
	}
	t.Attr("result", fmt.Sprintf("judgement unchanged by redaction on %d random evidences", rounds))
}

func TestPlainCode(t *testing.T) {
	for text, want := range map[string]bool{
		"auth_failure": true, "failure:network": true, "http_429": true, "": false, "two words": false, "Upper": false,
		"ghp_abc": false, "a1b2c3d4e5f6": false, "abcdefghijklmnopqrstuvwxyz": false, "x@example.org": false, "zażółć": false,
	} {
		if got := plainCode(text); got != want {
			t.Errorf("plainCode(%q) = %v", text, got)
		}
	}
}

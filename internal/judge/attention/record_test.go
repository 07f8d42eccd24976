package attention_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

var lives = []evidence.Lifecycle{
	evidence.AttentionOpen, evidence.AttentionAcknowledged, evidence.AttentionInProgress, evidence.AttentionResolved,
	evidence.AttentionExpired, evidence.AttentionCancelled, evidence.AttentionSuperseded,
}

// Every step that a record can take, and no other.
func TestMoves(t *testing.T) {
	const closing = "resolved expired cancelled superseded"
	want := map[evidence.Lifecycle]string{
		evidence.AttentionOpen:         "acknowledged in_progress " + closing,
		evidence.AttentionAcknowledged: "in_progress " + closing,
		evidence.AttentionInProgress:   "open " + closing,
	}
	for _, from := range lives {
		var can []string
		for _, to := range lives {
			r := attention.AttentionRecord{Lifecycle: from}
			before := r
			if !r.Move(to, noon) {
				if r.Lifecycle != before.Lifecycle || !r.UpdatedAt.IsZero() || r.ClosedAt != nil {
					t.Errorf("a step from %s to %s that is none changed %+v", from, to, r)
				}
				continue
			}
			can = append(can, string(to))
			if r.Lifecycle != to || !r.UpdatedAt.Equal(noon) || (r.ClosedAt == nil) != r.Open() {
				t.Errorf("from %s to %s: %+v", from, to, r)
			}
		}
		if got := strings.Join(can, " "); got != sorted(want[from]) {
			t.Errorf("from %s a record can go to %q, want %q", from, got, sorted(want[from]))
		}
	}
}

// sorted puts the names into the order of lives.
func sorted(names string) string {
	fields := strings.Fields(names)
	slices.SortFunc(fields, func(a, b string) int {
		return slices.Index(lives, evidence.Lifecycle(a)) - slices.Index(lives, evidence.Lifecycle(b))
	})
	return strings.Join(fields, " ")
}

// What is closed stays closed, at the moment of its closing.
func TestClosedStaysClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := attention.AttentionRecord{Lifecycle: evidence.AttentionOpen, OpenedAt: noon}
		var closed *attention.AttentionRecord
		for i, to := range rapid.SliceOf(rapid.SampledFrom(lives)).Draw(t, "steps") {
			r.Move(to, noon.Add(time.Duration(i)*time.Minute))
			if closed != nil && (r.Lifecycle != closed.Lifecycle || !r.ClosedAt.Equal(*closed.ClosedAt)) {
				t.Fatalf("closed as %+v, then %+v", closed, r)
			}
			if !r.Open() && closed == nil {
				own := r
				closed = &own
			}
		}
	})
}

// Two records have one key exactly when they ask for the same thing.
func TestKey(t *testing.T) {
	base := attention.AttentionRecord{ConnectionID: "cin_1", Kind: "reauth", Contract: "credential_present_and_unrejected",
		Occasion: "run_1/q1"}
	same := base
	same.ID, same.Urgency, same.Words, same.Reason, same.Confirmations = "att_2", "now", "Reconnect", "expired", 3
	if base.Key() != same.Key() {
		t.Error("what does not belong to the request changes the key")
	}
	for name, change := range map[string]func(*attention.AttentionRecord){
		"connection": func(r *attention.AttentionRecord) { r.ConnectionID = "cin_2" },
		"kind":       func(r *attention.AttentionRecord) { r.Kind = "add_info" },
		"contract":   func(r *attention.AttentionRecord) { r.Contract = "attention_resolved" },
		"occasion":   func(r *attention.AttentionRecord) { r.Occasion = "run_1/q2" },
	} {
		other := base
		change(&other)
		if other.Key() == base.Key() {
			t.Errorf("another %s has the same key", name)
		}
	}
}

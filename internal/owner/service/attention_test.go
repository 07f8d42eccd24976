package service

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A question goes to the open record that is about it, and to no other.
func TestWithQuestions(t *testing.T) {
	t.Parallel()
	records := []attention.AttentionRecord{
		{ID: "old", ConnectionID: "cin_1", Occasion: "run_1/q1", Lifecycle: evidence.AttentionResolved},
		{ID: "both", ConnectionID: "cin_1", Occasion: "run_1/q1,run_1/q2", Lifecycle: evidence.AttentionOpen},
		{ID: "other", ConnectionID: "cin_2", Occasion: "", Lifecycle: evidence.AttentionOpen},
	}
	question := func(connection, run, id string, key ...byte) store.Interaction {
		return store.Interaction{ConnectionID: connection, RunID: run, RequestID: id, Key: key}
	}
	asked := withQuestions(records,
		[]store.Interaction{question("cin_1", "run_1", "q1", 1), question("cin_1", "run_1", "q2"),
			question("cin_2", "run_2", "q1")})
	if rows := asked.Items; len(rows[0].Questions) != 0 || len(rows[1].Questions) != 2 || len(rows[2].Questions) != 0 ||
		!rows[1].Questions[0].Answerable || rows[1].Questions[1].Answerable {
		t.Errorf("%+v", rows)
	}
	if len(asked.Other) != 1 || asked.Other[0].RunID != "run_2" {
		t.Errorf("%+v", asked.Other)
	}
}

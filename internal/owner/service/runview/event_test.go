package runview

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

func TestEventTexts(t *testing.T) {
	t.Parallel()
	m, err := manifest.Parse([]byte(ownertest.GardenManifest))
	if err != nil {
		t.Fatal(err)
	}
	m.ReasonDisplayMessages = map[string]string{"winter": "The garden sleeps.",
		"hail": "See\x1b[31m https://x.example/?token=abcdef123456 " + strings.Repeat("now ", 200)}
	for _, c := range []struct{ kind, stream, data, want string }{
		{"run.started", "", `{}`, "The run began."},
		{"run.started", "", `{"recovery_only":true}`, "The run began, to try again what is missing."},
		{eventProgress, "beds", `{"message":"beds: 3","count":3}`, "Flower beds: 3 so far."},
		{eventProgress, "beds", `{"count":1200,"total":1000}`, "Flower beds: 1,200 of 1,200."},
		{eventProgress, "", `{"message":"waiting for the gate"}`, "Waiting for the gate."},
		{eventProgress, "old_beds", `{}`, "Old beds: At work."},
		{eventProgress, "", `{"provider_budget":{"circuit":{"state":"open"}}}`,
			"The source kept failing, so PDPP pauses for a while."},
		{eventProgress, "", `{"provider_budget":{"circuit":{"state":"half_open"}}}`, "The source is being tried again."},
		{eventStored, "", `{"records":1}`, "Stored 1 record."},
		{"run.detail_gap_recorded", "", `{"gaps":2}`, "2 items could not be fetched yet, and will be tried again."},
		{"run.detail_gap_recovered", "", `{"gaps":1}`, "Fetched 1 item that had been missing."},
		{"run.state_advanced", "beds", `{}`, "Flower beds: Progress saved."},
		{"run.stream_skipped", "beds", `{"reason":"user_disabled"}`, "Flower beds: You turned this off."},
		{"run.stream_skipped", "beds", `{"reason":"winter"}`, "Flower beds: The garden sleeps."},
		{"run.stream_skipped", "beds", `{"reason":"hail"}`, "Flower beds: See [31m https://x.example/?token=[redacted]" +
			strings.Repeat(" now", 39)},
		{"run.stream_skipped", "beds", `{"reason":"new_reason_code"}`, "Flower beds: Left out of this run."},
		{"run.failed", "", `{"failure_message":"the gate is shut"}`, "The run failed: The gate is shut."},
		{"run.failed", "", ``, "The run failed."},
		{"run.cancelled", "", `{}`, "The run was stopped. What it had finished is kept."},
		{"run.cancelled", "", `{"failure_reason":"grant_expired"}`,
			"The run was stopped, because the grant that it was made for has expired. What it had finished is kept."},
		{"run.cancelled", "", `{"failure_reason":"grant_revoked"}`,
			"The run was stopped, because the grant that it was made for was revoked. What it had finished is kept."},
		{"run.interaction_completed", "", `{"status":"timeout"}`, "The question was not answered in time."},
		{"run.interaction_completed", "", `{"status":"success"}`, "The question was answered."},
		{"run.interaction_completed", "", `{"status":"cancelled"}`, "The question was refused."},
		{"run.interaction_required", "", `{}`, "The run asks you something, and waits."},
		{"run.assistance_requested", "", `{}`, "The run needs help from you."},
		{"run.assistance_resolved", "", `{}`, "The run got the help that it needed."},
		{"run.assistance_timed_out", "", `{}`, "The run continues without the help that it asked for."},
		{"run.assistance_cancelled", "", `{}`, "The run continues without the help that it asked for."},
		{"run.assistance_escalated", "", `{}`, "The run continues without the help that it asked for."},
		{"run.detail_coverage_declared", "beds", `{}`, "Flower beds: Counted what the source holds."},
		{"run.completed", "", `{"records_emitted":1}`, "The run is complete: it collected 1 record."},
		{"run.abandoned", "", `{}`, "The process that made the run is gone. What it had finished is kept."},
		{"run.started", "", `{`, "The run began."},
		{"run.something_new", "", `{"message":"x"}`, "The run reported something."},
	} {
		if got := eventText(store.Event{Event: slice.Event{Type: c.kind, Stream: c.stream, Data: jsontext.Value(c.data)}},
			m); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.data, got, c.want)
		}
	}
}

// Whatever is in an event, its text is a sentence and shows no code.
func FuzzEventText(f *testing.F) {
	f.Add("run.failed", "beds", `{"failure_message":"  "}`)
	f.Add(eventProgress, "", `{"count":1e308,"total":-1}`)
	f.Add("run.stream_skipped", "a_b", `{"reason":"rate_limited"}`)
	f.Fuzz(func(t *testing.T, kind, stream, data string) {
		got := eventText(store.Event{Event: slice.Event{Type: kind, Stream: stream, Data: jsontext.Value(data)}}, nil)
		if got == "" || !strings.ContainsRune(".!?", rune(got[len(got)-1])) {
			t.Errorf("%q is no sentence", got)
		}
		if !strings.Contains(data, "_") && strings.Contains(got, "_") {
			t.Errorf("%q shows a code", got)
		}
	})
}

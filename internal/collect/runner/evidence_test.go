package runner

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

func kinds(events []slice.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

func TestTimeline(t *testing.T) {
	d := newDialogue(t, "threads", "messages")
	d.owe("m1")
	o := d.play(t.Context(), func(c *connector) int {
		gap := c.start().DetailGaps[0]
		c.line(rec("messages", "m1") + "\n" + recovered(gap) + "\n" + gapOf("messages", "threads", "m2"))
		c.line(state("threads", 1, accounted("m1", "m2", "")))
		c.line(skip("threads", "user_disabled"))
		c.line(coverage("messages", "threads", "", "m1", "m2", ""))
		return c.done(protocol.DoneSucceeded)
	})
	mustSucceed(t, o)
	want := []string{
		"run.batch_ingested", "run.detail_gap_recovered", "run.detail_gap_recorded", "run.state_advanced",
		"run.stream_skipped", "run.detail_coverage_declared", "run.completed",
	}
	if diff := cmp.Diff(want, kinds(d.events(o))); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
	var last struct {
		Records    int64           `json:"records_emitted"`
		Reported   int64           `json:"reported_records_emitted"`
		Checkpoint Checkpoint      `json:"checkpoint"`
		KnownGaps  []KnownGap      `json:"known_gaps"`
		Facts      CollectionFacts `json:"collection_facts"`
	}
	if err := json.Unmarshal(o.Events[len(o.Events)-1].Data, &last); err != nil {
		t.Fatal(err)
	}
	if last.Records != 1 || last.Reported != 1 || last.Checkpoint.CommitStatus != CommitFull || len(last.KnownGaps) != 2 ||
		len(last.Facts.Streams) != 2 {
		t.Errorf("terminal event = %+v", last)
	}
}

// The timeline is for people: progress is thinned out, a circuit's moves are not.
func TestProgressIsThinnedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		var seen []string
		d.opts.Observe = func(u Update) {
			if u.Message != "" {
				seen = append(seen, u.Message)
			}
		}
		budget := `"provider_budget":{"object":"provider_budget_circuit_transition","circuit":{"previous_state":"closed",` +
			`"state":"open","reason":"provider_failure","trigger":"provider_failure"},"elapsed_ms":1,"request_count":5}`
		rate := `"collection_rate":{"object":"collection_rate","current_interval_ms":100,"ceiling_interval_ms":50,` +
			`"effective_rate_per_min":600,"ceiling_rate_per_min":1200,"last_backoff":null}`
		o := d.play(t.Context(), func(c *connector) int {
			c.start()
			for i := range 10 {
				c.line(fmt.Sprintf(`{"type":"PROGRESS","message":"step %d"}`, i))
				c.pause(time.Second)
			}
			c.line(`{"type":"PROGRESS","message":"circuit",` + budget + `}`)
			c.line(`{"type":"PROGRESS","message":"rate",` + rate + `}`)
			return c.done(protocol.DoneSucceeded)
		})
		mustSucceed(t, o)
		var noted []string
		for _, e := range d.events(o) {
			if _, rest, ok := strings.Cut(string(e.Data), `"message":"`); ok && e.Type == "run.progress_reported" {
				noted = append(noted, rest[:strings.IndexByte(rest, '"')])
			}
		}
		if diff := cmp.Diff([]string{"step 0", "step 2", "step 4", "step 6", "step 8", "circuit"}, noted); diff != "" {
			t.Errorf("timeline (-want +got):\n%s", diff)
		}
		if len(seen) != 12 || o.Rate == nil || o.Rate.EffectiveRatePerMin != 600 {
			t.Errorf("observed %v, rate %+v", seen, o.Rate)
		}
	})
}

func TestObserverSeesRecordsGapsAndCommits(t *testing.T) {
	d := newDialogue(t, "notes")
	var last Update
	d.opts.Observe = func(u Update) {
		if u.Message != "" {
			last = u
		}
	}
	mustSucceed(t, d.say(t, rec("notes", "1"), gapOf("notes", "", "g"), state("notes", 1), rec("notes", "2"),
		`{"type":"DETAIL_GAPS_PAGE_REQUEST","request_id":"p"}`,
		`{"type":"PROGRESS","message":"x","stream":"notes","count":2,"total":9}`))
	if last.Records != 2 || last.Gaps != 1 || last.Committed != 1 || last.Stream != "notes" || *last.Count != 2 ||
		*last.Total != 9 {
		t.Errorf("update = %+v", last)
	}
}

// A connector cannot fill the timeline, nor the list of what is missing; why the
// run failed is on that list whatever else is.
func TestFloodOfEvidenceIsBounded(t *testing.T) {
	d := newDialogue(t, "notes")
	o := d.play(t.Context(), func(c *connector) int {
		c.start()
		for i := range maxKnownGaps {
			gap := strings.Replace(gapOf("notes", "", fmt.Sprint(i)), "rate_limited", fmt.Sprintf("reason_%d", i), 1)
			c.line(skip("notes", fmt.Sprintf("reason_%d", i)) + "\n" + gap)
		}
		return 1
	})
	mustFail(t, o, ReasonExitWithoutDone)
	if n := len(o.KnownGaps); n != maxKnownGaps || o.KnownGaps[n-1].Kind != protocol.KnownRunFailed {
		t.Errorf("%d known gaps, the last is %+v", n, o.KnownGaps[n-1])
	}

	s := newSession(d.spec, d, d, nil, d.opts.withDefaults())
	for range maxEvents + 10 {
		s.timeline.note("run.stream_skipped", "notes", nil)
	}
	if len(s.timeline.events) != maxEvents {
		t.Errorf("%d timeline entries", len(s.timeline.events))
	}

	o = newDialogue(t, "notes").play(t.Context(), func(c *connector) int {
		c.start()
		for i := range maxAssistance + 1 {
			c.line(fmt.Sprintf(`{"type":"ASSISTANCE","assistance_request_id":"h%d","progress_posture":"running",`+
				`"owner_action":"none","response_contract":"none","message":"look"}`, i))
		}
		return c.done(protocol.DoneSucceeded)
	})
	mustViolate(t, o, protocol.InvalidField)
}

// A wait that the connector announces is durable before the next message is read,
// bounded, and part of the timeline; a storage that cannot keep it ends the run.
func TestWaitIsNotedAtOnce(t *testing.T) {
	const wait = `{"type":"PROGRESS","message":"waiting","provider_wait":{"sender":"api %s","wait_ms":%s,` +
		`"reason":"searched"}}`
	d := newDialogue(t, "notes")
	d.spec.Command.Secrets = []string{"hunter2hunter2"}
	o := d.play(t.Context(), func(c *connector) int {
		c.start()
		c.line(fmt.Sprintf(wait, "hunter2hunter2", "1500"))
		c.line(fmt.Sprintf(wait, "", "1e300"))
		return c.done(protocol.DoneSucceeded)
	})
	mustSucceed(t, o)
	if len(d.waits) != 2 || d.waits[0].For != 1500*time.Millisecond || d.waits[0].Reason != protocol.WaitSearched ||
		d.waits[1].For != maxProviderWait {
		t.Errorf("noted %+v", d.waits)
	}
	if strings.Contains(d.waits[0].Sender, "hunter2") {
		t.Errorf("the sender is called %q", d.waits[0].Sender)
	}
	for _, e := range d.events(o) {
		if strings.Contains(string(e.Data), "hunter2") || e.Type == "run.progress_reported" &&
			!strings.Contains(string(e.Data), "provider_wait") {
			t.Errorf("timeline: %s %s", e.Type, e.Data)
		}
	}

	d = newDialogue(t, "notes")
	d.waitErr = errDiskFull
	o = d.play(t.Context(), func(c *connector) int {
		c.start()
		c.line(fmt.Sprintf(wait, "", "1500"))
		return c.done(protocol.DoneSucceeded)
	})
	if o.Failure == nil || o.Failure.Reason != ReasonStorage {
		t.Errorf("a wait that could not be kept ended the run as %s: %v", o.Status, o.Failure)
	}
}

// Messages about the run as a whole become readable while the connector is quiet: a run that waits for its provider
// commits nothing else.
func TestQuietConnectorIsHeard(t *testing.T) {
	d := newDialogue(t, "notes")
	heard := make(chan struct{}, 8)
	d.onCommit = func() { heard <- struct{}{} }
	o := d.play(t.Context(), func(c *connector) int {
		c.start()
		c.line(`{"type":"PROGRESS","message":"trying to reach api.example.com, attempt 2 of 3"}`)
		<-heard
		return c.done(protocol.DoneSucceeded)
	})
	mustSucceed(t, o)
	if events := d.slices[0].Events; len(events) != 1 || !strings.Contains(string(events[0].Data), "attempt 2 of 3") {
		t.Errorf("the first commit tells %v", kinds(events))
	}
}

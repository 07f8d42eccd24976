package runner

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// committed compares the commits of a run with what they should be.
func committed(t testing.TB, d *dialogue, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), d.log()); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
}

func TestSliceIsOneCommit(t *testing.T) {
	d := newDialogue(t, "threads", "messages")
	mustSucceed(t, d.say(t,
		rec("threads", "t1"), rec("messages", "m1"), gapOf("messages", "threads", "m2"),
		state("threads", 1, accounted("m1", "m2", "")),
		rec("threads", "t2"), state("threads", 2, accounted("", "", ""))))
	committed(t, d, `threads/t1 messages/m1 gap:messages/m2 threads={"n":1}`, `threads/t2 threads={"n":2}`)
	got := d.slices[0].Records[0]
	want := slice.Record{Stream: "threads", Key: "t1", Data: []byte(`{"id":"t1"}`), EmittedAt: "2026-01-02T03:04:05Z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// While one commit is under way, finished slices gather and share the next one,
// under the newest cursor; what is open stays out.
func TestSlicesGatherWhileTheSinkIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		busy := make(chan struct{})
		d.onCommit = func() { <-busy }
		mustSucceed(t, d.play(t.Context(), func(c *connector) int {
			c.start()
			c.line(strings.Join([]string{rec("notes", "1"), state("notes", 1), rec("notes", "2"), state("notes", 2),
				state("notes", 3, catchUp), rec("notes", "3"), state("notes", 4), rec("notes", "4")}, "\n"))
			synctest.Wait()
			close(busy)
			return c.done(protocol.DoneSucceeded)
		}))
		committed(t, d, `notes/1 notes={"n":1}`, `notes/2 notes/3 notes={"n":4} notes@catch_up={"n":3}`, "notes/4")
	})
}

func TestFailedRunKeepsFinishedSlices(t *testing.T) {
	begin := []string{rec("notes", "1"), state("notes", 1), rec("notes", "2"), gapOf("notes", "", "g"), rec("notes", "3")}
	for name, c := range map[string]struct {
		last   string
		code   int
		reason Reason
	}{
		"connector reports failure": {doneLine("failed", 3, `"error":{"code":"provider_down","message":"no answer"}`), 1,
			ReasonConnectorFailed},
		"connector cancels":       {doneLine("cancelled", 3), 1, ReasonConnectorCancelled},
		"connector breaks a rule": {rec("nodes", "4"), 0, ReasonViolation},
		"connector dies":          {"", 7, ReasonExitWithoutDone},
		"count is wrong":          {doneLine("succeeded", 2), 0, ReasonViolation},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t, "notes")
			o := d.play(t.Context(), func(s *connector) int {
				s.start()
				for _, l := range begin {
					s.line(l)
				}
				if c.last != "" {
					s.line(c.last)
					s.done("")
				}
				return c.code
			})
			mustFail(t, o, c.reason)
			committed(t, d, `notes/1 notes={"n":1}`)
			want := Checkpoint{Mode: checkpointMode, CommitStatus: CommitFull, StreamsStaged: []string{},
				StreamsCommitted: []string{"notes"},
				BufferedDropped:  2, RecordsAttempted: 3, RecordsAccepted: 3, RecordsFlushed: 1, Slices: 1}
			if diff := cmp.Diff(want, o.Checkpoint); diff != "" {
				t.Errorf("checkpoint (-want +got):\n%s", diff)
			}
			if f := o.Facts.Streams[0]; f.Collected != 1 || f.PendingGaps != 0 || f.Checkpoint != "committed" {
				t.Errorf("facts = %+v: what was dropped must not count", f)
			}
		})
	}
}

func TestRunCheckpointWaitsForTheEnd(t *testing.T) {
	lines := []string{rec("legacy", "1"), state("legacy", 1), rec("legacy", "2"), state("legacy", 2), rec("legacy", "3")}
	t.Run("success", func(t *testing.T) {
		d := newDialogue(t, "legacy")
		o := d.say(t, lines...)
		mustSucceed(t, o)
		committed(t, d, "legacy/1 legacy/2 legacy/3", `legacy={"n":2}`)
		if o.Checkpoint.CommitStatus != CommitFull {
			t.Errorf("checkpoint = %+v", o.Checkpoint)
		}
	})
	for name, status := range map[string]protocol.DoneStatus{"failed": protocol.DoneFailed,
		"cancelled": protocol.DoneCancelled} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t, "legacy")
			o := d.play(t.Context(), func(c *connector) int {
				c.start()
				for _, l := range lines {
					c.line(l)
				}
				return c.done(status)
			})
			committed(t, d, "legacy/1 legacy/2 legacy/3") // without a cursor that claims them
			if cp := o.Checkpoint; cp.CommitStatus != CommitNone || cp.BufferedDropped != 0 ||
				cmp.Diff([]string{"legacy"}, cp.StreamsStaged) != "" {
				t.Errorf("checkpoint = %+v", cp)
			}
		})
	}
	t.Run("exit code mismatch", func(t *testing.T) {
		d := newDialogue(t, "legacy")
		mustViolate(t, d.play(t.Context(), func(c *connector) int {
			c.start()
			for _, l := range lines {
				c.line(l)
			}
			c.done(protocol.DoneSucceeded)
			return 3
		}), protocol.ExitCodeMismatch)
		committed(t, d, "legacy/1 legacy/2 legacy/3") // acknowledged, but no cursor claims them
	})
}

// A failure that the connector confines to named streams holds back only those streams and their parents, and the
// outcome claims only what is durable.
func TestCertifiedStreamFailure(t *testing.T) {
	lines := []string{
		rec("legacy", "1"), state("legacy", 1), rec("archive", "2"), state("archive", 2),
		rec("albums", "3"), state("albums", 3), rec("photos", "4"), state("photos", 4),
		coverage("photos", "albums", "", "3", "", ""), skip("photos", "stream_collection_failed"),
	}
	run := func(t *testing.T, ctx context.Context, last string, then func()) (*dialogue, Outcome) {
		d := newDialogue(t, "legacy", "archive", "albums", "photos")
		return d, d.play(ctx, func(c *connector) int {
			c.start()
			for _, l := range lines {
				c.line(l)
			}
			c.line(last)
			c.done("")
			then()
			return 1
		})
	}
	t.Run("certified", func(t *testing.T) {
		d, o := run(t, t.Context(), doneLine("failed", 4, certified), func() {})
		mustFail(t, o, ReasonConnectorFailed)
		committed(t, d, "legacy/1 archive/2 albums/3 photos/4", `legacy={"n":1} archive={"n":2}`)
		cp := o.Checkpoint
		if diff := cmp.Diff([]string{"albums", "photos"}, cp.StreamsStaged); diff != "" ||
			cp.CommitStatus != CommitPartially || cp.BufferedDropped != 0 {
			t.Errorf("checkpoint = %+v", o.Checkpoint)
		}
	})
	t.Run("another error code", func(t *testing.T) {
		d, o := run(t, t.Context(), doneLine("failed", 4, `"error":{"code":"provider_down"}`), func() {})
		mustFail(t, o, ReasonConnectorFailed)
		committed(t, d, "legacy/1 archive/2 albums/3 photos/4")
	})
	t.Run("no stream is named", func(t *testing.T) {
		d := newDialogue(t, "legacy")
		mustFail(t, d.play(t.Context(), func(c *connector) int {
			c.start()
			c.line(rec("legacy", "1"))
			c.line(state("legacy", 1))
			c.line(doneLine("failed", 1, certified))
			return c.done(protocol.DoneFailed)
		}), ReasonConnectorFailed)
		committed(t, d, "legacy/1")
	})
	t.Run("the owner cancels at the last moment", func(t *testing.T) {
		for range 60 { // in either order
			ctx, cancel := context.WithCancelCause(t.Context())
			d, o := run(t, ctx, doneLine("failed", 4, certified), func() { cancel(ErrOwnerCancelled) })
			mustFail(t, o, ReasonOwnerCancelled)
			if o.Status != Cancelled || o.Checkpoint.CommitStatus != CommitNone {
				t.Fatalf("outcome = %s, %+v, commits %v", o.Status, o.Checkpoint, d.log())
			}
		}
	})
}

func TestCatchUpAndSteadyAreSeparateBookmarks(t *testing.T) {
	t.Attr("spec", "PB-A08")
	for _, stream := range []string{"notes", "legacy"} { // slice and run checkpoint
		d := newDialogue(t, stream)
		mustSucceed(t, d.say(t, rec(stream, "1"), state(stream, 1, catchUp), rec(stream, "2"), state(stream, 2, catchUp)))
		for _, s := range d.slices {
			for _, c := range s.Cursors {
				if c.Mode != protocol.CatchUp {
					t.Errorf("%s: a catch-up run moved the steady cursor: %v", stream, d.log())
				}
			}
		}
		d = newDialogue(t, stream)
		mustSucceed(t, d.say(t, state(stream, 1, catchUp), state(stream, 7), state(stream, 2, catchUp)))
		latest := map[protocol.CursorMode]string{}
		for _, s := range d.slices {
			for _, c := range s.Cursors {
				latest[c.Mode] = string(c.Cursor)
			}
		}
		if diff := cmp.Diff(map[protocol.CursorMode]string{protocol.SteadyState: `{"n":7}`, protocol.CatchUp: `{"n":2}`},
			latest); diff != "" {
			t.Errorf("%s: cursors (-want +got):\n%s", stream, diff)
		}
	}
}

package runner

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol"
)

// A lost slice ends the run, and nothing that follows it lands.
func TestCommitFailure(t *testing.T) {
	lines := []string{rec("notes", "1"), state("notes", 1), rec("notes", "2"), state("notes", 2), rec("notes", "3"),
		state("notes", 3)}
	for failAt := 1; failAt <= 3; failAt++ {
		d := newDialogue(t, "notes", "legacy")
		d.failAt = failAt
		o := d.say(t, append([]string{state("legacy", 9)}, lines...)...)
		mustFail(t, o, ReasonStorage)
		committed(t, d, []string{`notes/1 notes={"n":1}`, `notes/2 notes={"n":2}`}[:failAt-1]...)
		if o.Status != Failed || o.Failure.Origin != OriginStorage || !errors.Is(o.Failure.Err, errDiskFull) {
			t.Errorf("outcome = %s, %+v", o.Status, o.Failure)
		}
		wantStatus, wantStaged := CommitPartially, []string{"legacy"}
		if failAt == 1 {
			wantStatus, wantStaged = CommitNone, []string{"notes", "legacy"}
		}
		if o.Checkpoint.CommitStatus != wantStatus || cmp.Diff(wantStaged, o.Checkpoint.StreamsStaged) != "" {
			t.Errorf("commit %d fails: checkpoint = %+v, want %s", failAt, o.Checkpoint, wantStatus)
		}
	}
	t.Run("of the staged cursors", func(t *testing.T) {
		d := newDialogue(t, "legacy")
		d.failAt = 2
		o := d.say(t, rec("legacy", "1"), state("legacy", 1))
		mustFail(t, o, ReasonStorage)
		committed(t, d, "legacy/1")
		if o.Checkpoint.CommitStatus != CommitNone || len(o.Checkpoint.StreamsCommitted) > 0 ||
			o.Facts.Streams[0].Checkpoint != "staged" {
			t.Errorf("the run claims a cursor that was lost: %+v, %+v", o.Checkpoint, o.Facts.Streams[0])
		}
		kinds := map[protocol.KnownGapKind]bool{}
		for _, g := range o.KnownGaps {
			kinds[g.Kind] = true
		}
		if !kinds[protocol.KnownCheckpointCommit] || !kinds[protocol.KnownRunFailed] {
			t.Errorf("known gaps = %+v", o.KnownGaps)
		}
	})
}

// Slices that wait while a commit is under way do not land when it fails.
func TestNothingLandsAfterALostSlice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.failAt = 1
		busy := make(chan struct{})
		d.onCommit = func() { <-busy }
		o := d.play(t.Context(), func(c *connector) int {
			c.start()
			c.line(strings.Join([]string{rec("notes", "1"), state("notes", 1), rec("notes", "2"), state("notes", 2)}, "\n"))
			synctest.Wait()
			close(busy)
			return c.done(protocol.DoneSucceeded)
		})
		mustFail(t, o, ReasonStorage)
		committed(t, d)
	})
}

package runner

import (
	"testing"
	"testing/synctest"

	"github.com/pdpp-go/pdpp/protocol"
)

// A run that is drained ends with the slice it is at, and keeps it.
func TestDrainFinishesTheSlice(t *testing.T) {
	d := newDialogue(t, "notes")
	drain := make(chan struct{})
	d.opts.Drain = drain
	o := d.play(t.Context(), func(c *connector) int {
		c.start()
		c.line(rec("notes", "1"))
		c.line(state("notes", 1))
		c.line(rec("notes", "2"))
		close(drain)
		c.line(rec("notes", "3"))
		c.line(state("notes", 2))
		c.line(rec("notes", "4"))
		c.line(state("notes", 3))
		return c.done(protocol.DoneSucceeded)
	})
	if o.Status != Cancelled || o.Failure == nil || o.Failure.Reason != ReasonShutdown {
		t.Errorf("ended as %s: %+v", o.Status, o.Failure)
	}
	last := d.log()[len(d.log())-1]
	if last != `notes/2 notes/3 notes={"n":2}` {
		t.Errorf("commits %q", d.log())
	}
}

// A run that waits for the owner finishes no slice: it ends at once.
func TestDrainDoesNotWaitForTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		drain := make(chan struct{})
		d.opts.Drain, d.asker = drain, askerFunc(nil)
		o := d.play(t.Context(), func(c *connector) int {
			c.start()
			c.line(`{"type":"INTERACTION","request_id":"q","kind":"otp","message":"Code?"}`)
			synctest.Wait()
			close(drain)
			<-c.p.gone
			return 0
		})
		if o.Status != Cancelled || o.Failure == nil || o.Failure.Reason != ReasonShutdown {
			t.Errorf("ended as %s: %+v", o.Status, o.Failure)
		}
	})
}

package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// timed plays a script in virtual time and returns the duration of the run.
func timed(t *testing.T, d *dialogue, ctx context.Context, script func(*connector) int) (Outcome, time.Duration) {
	t.Helper()
	began := time.Now()
	o := d.play(ctx, script)
	return o, time.Since(began)
}

func TestWatchdog(t *testing.T) {
	t.Run("silence ends the run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDialogue(t, "notes")
			d.opts.NoProgress = time.Hour
			o, took := timed(t, d, t.Context(), func(c *connector) int {
				c.start()
				c.line(rec("notes", "1"))
				c.line(state("notes", 1))
				c.pause(59 * time.Minute)
				c.line(rec("notes", "2"))
				c.hear()
				return 1
			})
			mustFail(t, o, ReasonTimedOut)
			if took != 59*time.Minute+time.Hour || o.Status != Failed || !strings.Contains(o.Failure.Message, "1h0m0s") {
				t.Errorf("after %s: %s, %s", took, o.Status, o.Failure.Message)
			}
			committed(t, d, `notes/1 notes={"n":1}`)
		})
	})
	t.Run("the default is four hours", func(t *testing.T) { // zero is not "disabled"
		synctest.Test(t, func(t *testing.T) {
			o, took := timed(t, newDialogue(t, "notes"), t.Context(), func(c *connector) int {
				c.start()
				c.hear()
				return 1
			})
			mustFail(t, o, ReasonTimedOut)
			if took != 4*time.Hour {
				t.Errorf("the run ended after %s", took)
			}
		})
	})
	t.Run("a slow connector that speaks is left alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDialogue(t, "notes")
			d.opts.NoProgress = time.Minute
			o, took := timed(t, d, t.Context(), func(c *connector) int {
				c.start()
				for range 100 {
					c.pause(59 * time.Second)
					c.line(`{"type":"PROGRESS","message":"still here"}`)
				}
				return c.done(protocol.DoneSucceeded)
			})
			mustSucceed(t, o)
			if took != 5900*time.Second {
				t.Errorf("the run took %s", took)
			}
		})
	})
	t.Run("it can be switched off", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDialogue(t, "notes")
			d.opts.NoProgress = -1
			o, _ := timed(t, d, t.Context(), func(c *connector) int {
				c.start()
				c.pause(1000 * time.Hour)
				return c.done(protocol.DoneSucceeded)
			})
			mustSucceed(t, o)
		})
	})
	t.Run("it starts anew after an answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDialogue(t, "notes")
			d.opts.NoProgress = time.Minute
			d.asker = after(150*time.Second, success(`{}`), nil)
			o, took := timed(t, d, t.Context(), func(c *connector) int {
				c.start()
				c.line(question("otp"))
				c.hear()
				c.pause(59 * time.Second)
				c.line(`{"type":"PROGRESS","message":"signed in"}`)
				c.hear()
				return 1
			})
			mustFail(t, o, ReasonTimedOut)
			if took != (150+59+60)*time.Second {
				t.Errorf("the run ended after %s", took)
			}
		})
	})
}

// A connector that stays after DONE, or after closing stdout, is ended.
func TestExitGrace(t *testing.T) {
	for name, c := range map[string]struct {
		script func(*connector) int
		check  func(*testing.T, Outcome)
	}{
		"after DONE": {func(c *connector) int {
			c.line(doneLine("succeeded", 0))
			c.pause(time.Hour)
			return 0
		}, func(t *testing.T, o Outcome) { mustViolate(t, o, protocol.ExitCodeMismatch) }},
		"after DONE and closing stdout": {func(c *connector) int {
			c.line(doneLine("succeeded", 0))
			_ = c.p.fromStdout.Close()
			c.pause(time.Hour)
			return 0
		}, func(t *testing.T, o Outcome) { mustViolate(t, o, protocol.ExitCodeMismatch) }},
		"after closing stdout": {func(c *connector) int {
			_ = c.p.fromStdout.Close()
			c.pause(time.Hour)
			return 0
		}, func(t *testing.T, o Outcome) { mustFail(t, o, ReasonExitWithoutDone) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDialogue(t, "notes")
				d.opts.ExitGrace = 5 * time.Second
				o, took := timed(t, d, t.Context(), func(s *connector) int {
					s.start()
					return c.script(s)
				})
				c.check(t, o)
				if took != 5*time.Second {
					t.Errorf("the run ended after %s", took)
				}
			})
		})
	}
	t.Run("within the grace", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o, _ := timed(t, newDialogue(t, "notes"), t.Context(), func(c *connector) int {
				c.start()
				code := c.done(protocol.DoneSucceeded)
				c.pause(9 * time.Second)
				return code
			})
			mustSucceed(t, o)
		})
	})
}

func TestCancellation(t *testing.T) {
	errLost := errors.New("the lease was lost")
	for name, c := range map[string]struct {
		cause   error
		reason  Reason
		message string
	}{
		"owner":    {ErrOwnerCancelled, ReasonOwnerCancelled, "the owner stopped this run"},
		"shutdown": {nil, ReasonShutdown, "the runtime is shutting down"},
		"lease":    {errLost, ReasonShutdown, "the runtime stopped this run: the lease was lost"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				d := newDialogue(t, "notes", "legacy")
				o, took := timed(t, d, ctx, func(s *connector) int {
					s.start()
					s.line(state("legacy", 1))
					s.line(rec("notes", "1"))
					s.line(state("notes", 1))
					s.line(rec("notes", "2"))
					s.pause(time.Minute)
					cancel(c.cause)
					s.hear()
					return 1
				})
				mustFail(t, o, c.reason)
				if took != time.Minute || o.Status != Cancelled || o.Failure.Message != c.message {
					t.Errorf("after %s: %s, %q", took, o.Status, o.Failure.Message)
				}
				if c.cause == errLost && !errors.Is(o.Failure.Err, errLost) {
					t.Errorf("the cause is lost: %v", o.Failure.Err)
				}
				committed(t, d, `notes/1 notes={"n":1}`)
			})
		})
	}
}

func TestAssistance(t *testing.T) {
	const help = `{"type":"ASSISTANCE","assistance_request_id":"h1","progress_posture":"blocked",` +
		`"owner_action":"act_elsewhere","response_contract":"none","message":"approve","timeout_seconds":60}`
	synctest.Test(t, func(t *testing.T) {
		o, took := timed(t, newDialogue(t, "notes"), t.Context(), func(c *connector) int {
			c.start()
			c.line(help)
			c.line(rec("notes", "1")) // help does not silence the connector
			c.hear()
			return 1
		})
		mustFail(t, o, ReasonAssistanceTimedOut)
		if took != time.Minute {
			t.Errorf("the run ended after %s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		o, _ := timed(t, newDialogue(t, "notes"), t.Context(), func(c *connector) int {
			c.start()
			c.line(help)
			c.line(`{"type":"ASSISTANCE_STATUS","assistance_request_id":"h1","status":"resolved"}`)
			c.pause(time.Hour)
			return c.done(protocol.DoneSucceeded)
		})
		mustSucceed(t, o)
	})
}

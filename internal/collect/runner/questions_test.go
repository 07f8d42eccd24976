package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol"
)

// askerFunc answers questions; nil waits until the run withdraws them.
type askerFunc func(ctx context.Context, q protocol.Interaction) (protocol.InteractionResponse, error)

func (f askerFunc) Ask(ctx context.Context, q protocol.Interaction) (protocol.InteractionResponse, error) {
	if f == nil {
		<-ctx.Done()
		return protocol.InteractionResponse{}, ctx.Err()
	}
	return f(ctx, q)
}

// after answers after the time has passed, or fails with the run.
func after(wait time.Duration, r protocol.InteractionResponse, err error) askerFunc {
	return func(ctx context.Context, _ protocol.Interaction) (protocol.InteractionResponse, error) {
		select {
		case <-time.After(wait):
			return r, err
		case <-ctx.Done():
			return protocol.InteractionResponse{}, ctx.Err()
		}
	}
}

func success(data string) protocol.InteractionResponse {
	return protocol.InteractionResponse{Status: protocol.ResponseSuccess, Data: jsontext.Value(data)}
}

func question(kind string, more ...string) string {
	members := append([]string{`"type":"INTERACTION","request_id":"q1","kind":"` + kind + `","message":"please"`}, more...)
	return "{" + strings.Join(members, ",") + "}"
}

// ask plays a connector that asks once. It returns the answer and its time.
func ask(t *testing.T, d *dialogue, line string) (answer *protocol.InteractionResponse, waited time.Duration,
	o Outcome) {
	o = d.play(t.Context(), func(c *connector) int {
		c.start()
		c.line(rec("notes", "1"))
		c.line(state("notes", 1))
		asked := time.Now()
		c.line(line)
		answer, _ = c.hear().(*protocol.InteractionResponse)
		waited = time.Since(asked)
		if answer == nil {
			return 1
		}
		return c.done(protocol.DoneSucceeded)
	})
	return answer, waited, o
}

func TestInteractionIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.asker = after(90*time.Second, success(`{"code":"493021"}`), nil)
		answer, waited, o := ask(t, d, question("otp", `"stream":"notes"`, `"timeout_seconds":120`))
		mustSucceed(t, o)
		want := &protocol.InteractionResponse{RequestID: "q1", Status: protocol.ResponseSuccess,
			Data: jsontext.Value(`{"code":"493021"}`)}
		if diff := cmp.Diff(want, answer); diff != "" || waited != 90*time.Second {
			t.Errorf("after %s the answer is (-want +got):\n%s", waited, diff)
		}
	})
}

// A missing status means success; anything but success carries no data.
func TestInteractionStatus(t *testing.T) {
	for name, c := range map[string]struct {
		given protocol.InteractionResponse
		want  protocol.InteractionResponse
		gap   string
	}{
		"no status": {protocol.InteractionResponse{Data: object()},
			protocol.InteractionResponse{RequestID: "q1", Status: protocol.ResponseSuccess, Data: object()}, ""},
		"cancelled": {protocol.InteractionResponse{Status: protocol.ResponseCancelled, Data: object()},
			protocol.InteractionResponse{RequestID: "q1", Status: protocol.ResponseCancelled}, "interaction_cancelled"},
		"timeout": {protocol.InteractionResponse{Status: protocol.ResponseTimeout},
			protocol.InteractionResponse{RequestID: "q1", Status: protocol.ResponseTimeout}, "interaction_timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDialogue(t, "notes")
				d.asker = after(time.Second, c.given, nil)
				answer, _, o := ask(t, d, question("manual_action"))
				mustSucceed(t, o)
				if diff := cmp.Diff(&c.want, answer); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				var gap string
				for _, g := range o.KnownGaps {
					if g.Kind == protocol.KnownInteraction {
						gap = g.Reason
					}
				}
				if gap != c.gap {
					t.Errorf("known gap = %q, want %q", gap, c.gap)
				}
			})
		})
	}
}

func TestInteractionExpires(t *testing.T) {
	for limit, want := range map[string]time.Duration{"1800": 30 * time.Minute, "0.5": 500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			d := newDialogue(t, "notes")
			d.asker = askerFunc(nil)
			answer, waited, o := ask(t, d, question("otp", `"timeout_seconds":`+limit))
			mustSucceed(t, o)
			if answer == nil || answer.Status != protocol.ResponseTimeout || waited != want {
				t.Errorf("after %s the connector hears %+v, want a timeout after %s", waited, answer, want)
			}
		})
	}
}

// A limit beyond what a duration holds is no limit, and not a past one.
func TestInteractionWithAnAbsurdLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.asker = after(time.Hour, success(`{}`), nil)
		answer, _, o := ask(t, d, question("otp", `"timeout_seconds":1e300`))
		mustSucceed(t, o)
		if answer.Status != protocol.ResponseSuccess {
			t.Errorf("answer = %+v", answer)
		}
	})
}

// Nothing limits the wait for a missing credential: not the watchdog, not a default.
func TestMissingCredentialsParkTheRun(t *testing.T) {
	t.Attr("spec", "RT-08.1")
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.asker = after(48*time.Hour, success(`{"SAMPLE_TOKEN":"t0ken-of-ann"}`), nil)
		answer, waited, o := ask(t, d, question("missing_credentials"))
		mustSucceed(t, o)
		if answer.Status != protocol.ResponseSuccess || waited != 48*time.Hour {
			t.Errorf("after %s the connector hears %+v", waited, answer)
		}
	})
}

func TestAskerThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.asker = after(time.Second, protocol.InteractionResponse{}, errors.New("desk is closed"))
		_, _, o := ask(t, d, question("otp"))
		mustFail(t, o, ReasonRuntimeError)
	})
}

// While a question is open, any output of the connector is a violation.
func TestOutputWhileAsking(t *testing.T) {
	for name, line := range map[string]string{
		"progress": `{"type":"PROGRESS","message":"x"}`, "record": rec("notes", "2"), "garbage": "hello",
		"broken JSON": "{", "second question": question("otp"), "DONE": doneLine("succeeded", 1),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDialogue(t, "notes")
				d.asker = askerFunc(nil)
				o := d.play(t.Context(), func(c *connector) int {
					c.start()
					c.line(rec("notes", "1"))
					c.line(state("notes", 1))
					c.line(question("otp"))
					synctest.Wait()
					c.line(line)
					return c.done(protocol.DoneSucceeded)
				})
				mustViolate(t, o, protocol.OutputWhileAsking)
				committed(t, d, `notes/1 notes={"n":1}`)
			})
		})
	}
}

func TestCancelWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		d := newDialogue(t, "notes")
		d.asker = askerFunc(nil)
		time.AfterFunc(time.Hour, func() { cancel(ErrOwnerCancelled) })
		began := time.Now()
		o := d.play(ctx, func(c *connector) int {
			c.start()
			c.line(question("otp"))
			c.hear()
			return 1
		})
		mustFail(t, o, ReasonOwnerCancelled)
		if took := time.Since(began); took != time.Hour {
			t.Errorf("the run ended after %s", took)
		}
	})
}

// The timeline shows an open question while it waits, not only afterwards.
func TestOpenQuestionIsOnTheTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		var open []string
		d.asker = askerFunc(func(context.Context, protocol.Interaction) (protocol.InteractionResponse, error) {
			for _, e := range d.events(Outcome{}) {
				open = append(open, e.Type)
			}
			return success(`{}`), nil
		})
		_, _, o := ask(t, d, question("otp"))
		mustSucceed(t, o)
		if got := strings.Join(open, " "); !strings.HasSuffix(got, "run.interaction_required") {
			t.Errorf("durable while the owner is asked: %s", got)
		}
	})
}

package runner

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/protocol"
)

// What a run leaves behind: commits with their events, and the outcome.
func leakFree(t *testing.T, d *dialogue, o Outcome, marker string) {
	t.Helper()
	parts := []string{fmt.Sprintf("%+v", o), o.StderrTail}
	if o.Failure != nil {
		parts = append(parts, o.Failure.Error(), fmt.Sprint(o.Failure.Err, o.Failure.Violation))
	}
	for _, e := range d.events(o) {
		parts = append(parts, string(e.Data))
	}
	raw, err := json.Marshal([]any{o.KnownGaps, o.Checkpoint, o.Facts, o.DoneError})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(parts, string(raw)) {
		if strings.Contains(p, marker) {
			t.Errorf("the answer is in what the run leaves behind: %s", p)
		}
	}
}

// A connector that repeats the answer wherever it can does not get it stored.
func TestAnswerIsNeverKept(t *testing.T) {
	const marker = "correct horse battery"
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.asker = after(time.Second, success(`{"deep":[{"password":"`+marker+`"}],"pin":73917391}`), nil)
		var child *scripted
		o := d.play(t.Context(), func(c *connector) int {
			child = c.p
			c.start()
			c.line(question("credentials"))
			c.hear()
			for _, message := range []string{marker, "73917391"} {
				c.line(`{"type":"PROGRESS","message":"signing in as ` + message + `"}`)
				c.line(`{"type":"SKIP_RESULT","stream":"notes","reason":"` + message + `","message":"` + message +
					`","diagnostics":{"x":["` + message + `"]}}`)
				c.line(gapOf("notes", "", "k", `"last_error":{"message":"`+message+`"}`, `"detail_locator":{"u":"`+message+`"}`))
				child.stderr += "login failed: " + message + "\n"
			}
			c.line(doneLine("failed", 0, `"error":{"message":"refused: `+marker+` 73917391"}`))
			return c.done(protocol.DoneFailed)
		})
		mustFail(t, o, ReasonConnectorFailed)
		leakFree(t, d, o, marker)
		leakFree(t, d, o, "73917391")
		if !strings.Contains(o.StderrTail, "login failed: [redacted]") {
			t.Errorf("stderr tail = %q", o.StderrTail)
		}
	})
}

func TestAnswerThatBreaksTheAgreement(t *testing.T) {
	const marker = "s3cr3t-answer"
	for name, r := range map[string]protocol.InteractionResponse{
		"status":       {Status: "maybe", Data: jsontext.Value(`{"x":"` + marker + `"}`)},
		"data":         {Status: protocol.ResponseSuccess, Data: jsontext.Value(`"` + marker + `"`)},
		"data of junk": {Status: protocol.ResponseSuccess, Data: jsontext.Value(marker)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDialogue(t, "notes")
				d.asker = after(time.Second, r, nil)
				_, _, o := ask(t, d, question("otp"))
				mustFail(t, o, ReasonInvalidAnswer)
				leakFree(t, d, o, marker)
			})
		})
	}
}

// The tail of stderr may begin within a secret. What could be the rest of one goes.
func TestTailThatBeginsWithinASecret(t *testing.T) {
	const secret = "hunter2-very-secret-indeed"
	for cut := 1; cut < len(secret); cut++ {
		var s secrets
		s.learn(secret, "shorter")
		tail := &childprocess.TailBuffer{Limit: len(secret) - cut + 40}
		_, _ = tail.Write([]byte("before " + secret + " " + strings.Repeat("x", 39)))
		got := s.redactTail(tail.Tail())
		if rest := secret[cut:]; strings.Contains(got, rest) && len(rest) > 1 {
			t.Errorf("cut after %d bytes: %q survives in %q", cut, rest, got)
		}
		if !strings.HasSuffix(got, "xxxx") {
			t.Errorf("tail = %q", got)
		}
	}
}

func TestTailIsBoundedAndReadable(t *testing.T) {
	var s secrets
	s.learn()
	tail := &childprocess.TailBuffer{Limit: childprocess.MaxStderrTail}
	for range 1000 {
		_, _ = tail.Write([]byte("the code is 493021 \xff é\n"))
	}
	got := s.redactTail(tail.Tail())
	if len(got) > childprocess.MaxStderrTail || len(got) < childprocess.MaxStderrTail/2 ||
		strings.Contains(got, "493021") || strings.ToValidUTF8(got, "") != got {
		t.Errorf("tail of %d bytes: %q", len(got), got[:80])
	}
}

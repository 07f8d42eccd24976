package prompt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
)

// testTerminal is a terminal with a person at it.
type testTerminal struct {
	t      *testing.T
	person *os.File
	seen   bytes.Buffer
	p      *Prompter
	stop   chan error
}

// stillDisplay is a display that shows nothing.
type stillDisplay struct{}

func (stillDisplay) Pause()  {}
func (stillDisplay) Resume() {}

func newTestTerminal(t *testing.T) *testTerminal {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close(); _ = person.Close() })
	d := &testTerminal{t: t, person: person, stop: make(chan error, 1)}
	d.p = &Prompter{Terminal: tty, Display: stillDisplay{}, Stop: func(err error) { d.stop <- err }}
	return d
}

type promptReply struct {
	protocol.InteractionResponse
	err error
}

func (d *testTerminal) ask(ctx context.Context, q protocol.Interaction) <-chan promptReply {
	out := make(chan promptReply, 1)
	go func() {
		r, err := d.p.Ask(ctx, "run_1", q)
		out <- promptReply{r, err}
	}()
	return out
}

// waitFor reads the screen until the text is there.
func (d *testTerminal) waitFor(text string) {
	d.t.Helper()
	chunk := make([]byte, 256)
	for !strings.Contains(d.seen.String(), text) {
		n, err := d.person.Read(chunk)
		if err != nil {
			d.t.Fatalf("read the screen: %v; so far %q", err, d.seen.String())
		}
		d.seen.Write(chunk[:n])
	}
}

func (d *testTerminal) press(keys string) {
	d.t.Helper()
	if _, err := io.WriteString(d.person, keys); err != nil {
		d.t.Fatal(err)
	}
}

var gateQuestion = protocol.Interaction{
	RequestID: "q1", Kind: protocol.AskMissingCredentials, Message: "Who is there?\x1b[2J",
	Schema: jsontext.Value(`{"properties":{"name":{"title":"Your name"},"token":{"title":"Gate token",` +
		`"writeOnly":true},"age":{"type":"integer"}},"required":["name","token"]}`),
}

func TestPromptFillsTheForm(t *testing.T) {
	d := newTestTerminal(t)
	answer := d.ask(t.Context(), gateQuestion)
	d.waitFor("Your name: ")
	d.press("\r")
	d.waitFor("an answer is needed")
	d.press("Adda\x7f\x7fa\r")
	d.waitFor("Gate token: ")
	d.press("sesame-4711\r")
	d.waitFor("Age (optional): ")
	d.press("old\r")
	d.waitFor("a whole number is needed")
	d.press("\r")
	r := <-answer
	if r.err != nil || r.Status != protocol.ResponseSuccess || string(r.Data) != `{"name":"Ada","token":"sesame-4711"}` {
		t.Errorf("%s %s, %v", r.Status, r.Data, r.err)
	}
	if strings.Contains(d.seen.String(), "sesame") {
		t.Errorf("the screen shows the secret: %q", d.seen.String())
	}
	if strings.Contains(d.seen.String(), "\x1b[2J") {
		t.Error("the connector's message commands the terminal")
	}
}

func TestPromptRefused(t *testing.T) {
	d := newTestTerminal(t)
	answer := d.ask(t.Context(), gateQuestion)
	d.waitFor("Your name: ")
	d.press("\x04")
	if r := <-answer; r.err != nil || r.Status != protocol.ResponseCancelled || r.Data != nil {
		t.Errorf("%s %s, %v", r.Status, r.Data, r.err)
	}
}

func TestPromptInterrupted(t *testing.T) {
	d := newTestTerminal(t)
	answer := d.ask(t.Context(), gateQuestion)
	d.waitFor("Your name: ")
	d.press("\x03")
	if err := <-d.stop; !errors.Is(err, runner.ErrOwnerCancelled) {
		t.Errorf("stopped with %v", err)
	}
	<-answer
}

func TestPromptGivenUp(t *testing.T) {
	d := newTestTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	answer := d.ask(ctx, gateQuestion)
	d.waitFor("Your name: ")
	cancel()
	if r := <-answer; !errors.Is(r.err, context.Canceled) {
		t.Errorf("%s, %v", r.Status, r.err)
	}
	// The terminal serves the next question.
	again := d.ask(t.Context(), protocol.Interaction{RequestID: "q2", Kind: protocol.AskManualAction,
		Message: "Open the gate."})
	d.waitFor("Press Enter when it is done: ")
	d.press("\r")
	if r := <-again; r.err != nil || r.Status != protocol.ResponseSuccess || string(r.Data) != `{}` {
		t.Errorf("%s %s, %v", r.Status, r.Data, r.err)
	}
}

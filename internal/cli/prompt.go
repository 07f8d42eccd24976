package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/runview"
	"github.com/pdpp-go/pdpp/protocol"
)

// prompter puts a connector's questions to the owner on their terminal. It
// opens the terminal itself, so that redirected output does not hide a
// question. Answers go to the run and nowhere else.
type prompter struct {
	tty     *os.File
	display *runDisplay
	stop    context.CancelCauseFunc
}

// newPrompter gives nil when there is nobody to ask.
func (a *app) newPrompter(v *runDisplay) *prompter {
	if _, ok := terminal(a.env.Stdin); !ok || a.json {
		return nil
	}
	tty, err := openTerminal()
	if err != nil {
		return nil
	}
	return &prompter{tty: tty, display: v, stop: a.cancel}
}

func (p *prompter) close() { _ = p.tty.Close() }

// ask asks for every field of the question. Ctrl-D refuses the question,
// Ctrl-C stops the run.
func (p *prompter) ask(ctx context.Context, _ string, q protocol.Interaction) (protocol.InteractionResponse, error) {
	p.display.pause()
	defer p.display.resume()
	refused := protocol.InteractionResponse{RequestID: q.RequestID, Status: protocol.ResponseCancelled}
	asked := store.Interaction{RequestID: q.RequestID, Kind: q.Kind, Schema: q.Schema}
	question, err := runview.Question(asked)
	if err != nil {
		return refused, err
	}
	answers, err := p.fill(ctx, q.Message, "(Ctrl-D to refuse, Ctrl-C to stop the run)", question.Fields)
	switch {
	case ctx.Err() != nil:
		return refused, ctx.Err()
	case errors.Is(err, io.EOF):
		return refused, nil
	case err != nil:
		return refused, fmt.Errorf("read from the terminal: %w", err)
	}
	data, err := runview.AnswerData(asked, answers)
	if err != nil {
		return refused, err
	}
	return protocol.InteractionResponse{RequestID: q.RequestID, Status: protocol.ResponseSuccess, Data: data}, nil
}

// fill shows the message and how to leave, and reads what is typed into each field
// until it fits, with the terminal in raw mode meanwhile: only then can a read be
// given up when the question ends. An optional field that was left empty is not there.
func (p *prompter) fill(ctx context.Context, message, leave string, fields []api.QuestionField) (map[string]string, error) {
	restore, err := p.raw()
	if err != nil {
		return nil, err
	}
	defer restore()
	_ = p.tty.SetReadDeadline(time.Time{})
	release := context.AfterFunc(ctx, func() { _ = p.tty.SetReadDeadline(time.Unix(1, 0)) })
	defer release()

	screen := term.NewTerminal(keyboard{p.tty, p.stop}, "")
	printf(screen, "\n%s\n%s\n", oneLine(message), leave)
	answers := map[string]string{}
	if len(fields) == 0 {
		screen.SetPrompt("Press Enter when it is done: ")
		_, err := screen.ReadLine()
		return answers, err
	}
	for _, f := range fields {
		text, err := readField(screen, f)
		if err != nil {
			return nil, err
		}
		if text != "" {
			answers[f.Name] = text
		}
	}
	return answers, nil
}

// readField asks until the answer fits.
func readField(screen *term.Terminal, f api.QuestionField) (string, error) {
	label := oneLine(f.Label)
	if len(f.Options) > 0 {
		label += " (" + oneLine(strings.Join(f.Options, ", ")) + ")"
	}
	if !f.Required {
		label += " (optional)"
	}
	for {
		var text string
		var err error
		if f.Secret {
			text, err = screen.ReadPassword(label + ": ")
		} else {
			screen.SetPrompt(label + ": ")
			text, err = screen.ReadLine()
		}
		if err != nil {
			return "", err
		}
		if err = runview.Fits(f, text); err == nil {
			return text, nil
		}
		printf(screen, "%s\n", err.Error())
	}
}

// raw switches the terminal to raw mode without taking it out of the poller,
// and gives the way back.
func (p *prompter) raw() (restore func(), err error) {
	control, err := p.tty.SyscallConn()
	if err != nil {
		return nil, err
	}
	var before *term.State
	if e := control.Control(func(fd uintptr) { before, err = term.MakeRaw(int(fd)) }); e != nil || err != nil {
		return nil, errors.Join(e, err)
	}
	return func() {
		_ = control.Control(func(fd uintptr) { _ = term.Restore(int(fd), before) })
	}, nil
}

// keyboard notices Ctrl-C, which a raw terminal delivers as a byte.
type keyboard struct {
	*os.File
	stop context.CancelCauseFunc
}

const ctrlC = 3

func (k keyboard) Read(b []byte) (int, error) {
	n, err := k.File.Read(b)
	for _, c := range b[:n] {
		if c == ctrlC {
			k.stop(runner.ErrOwnerCancelled)
		}
	}
	return n, err
}

func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

// Package prompt asks the owner questions on a terminal, field by field.
package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/runview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Prompter asks the owner a connector's questions. It uses the terminal itself, so that redirected output does not hide
// a question. It passes the answers to the run only.
type Prompter struct {
	Terminal *os.File
	Display  PausableDisplay
	Stop     context.CancelCauseFunc
}

// PausableDisplay is a display that can leave the terminal to a question.
type PausableDisplay interface {
	Pause()
	Resume()
}

func (p *Prompter) Close() { _ = p.Terminal.Close() }

// Ask asks for every field of the question. Ctrl-D refuses the question, Ctrl-C stops the run.
func (p *Prompter) Ask(ctx context.Context, _ string, q protocol.Interaction) (protocol.InteractionResponse, error) {
	p.Display.Pause()
	defer p.Display.Resume()
	refused := protocol.InteractionResponse{RequestID: q.RequestID, Status: protocol.ResponseCancelled}
	asked := store.Interaction{RequestID: q.RequestID, Kind: q.Kind, Schema: q.Schema}
	question, err := runview.DescribeQuestion(asked)
	if err != nil {
		return refused, err
	}
	answers, err := p.Fill(ctx, q.Message, "(Ctrl-D to refuse, Ctrl-C to stop the run)", question.Fields)
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

// Fill prints the message and how to leave, and asks for each field until its value is valid. It omits optional fields
// that were left empty. The terminal is in raw mode, because only then a read can be cancelled.
func (p *Prompter) Fill(ctx context.Context, message, leave string,
	fields []api.QuestionField) (map[string]string, error) {
	restore, err := p.rawMode()
	if err != nil {
		return nil, err
	}
	defer restore()
	_ = p.Terminal.SetReadDeadline(time.Time{})
	release := context.AfterFunc(ctx, func() { _ = p.Terminal.SetReadDeadline(time.Unix(1, 0)) })
	defer release()

	screen := term.NewTerminal(interruptReader{p.Terminal, p.Stop}, "")
	output.Printf(screen, "\n%s\n%s\n", output.SingleLine(message), leave)
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

// readField asks until the answer is valid.
func readField(screen *term.Terminal, f api.QuestionField) (string, error) {
	label := output.SingleLine(f.Label)
	if len(f.Options) > 0 {
		label += " (" + output.SingleLine(strings.Join(f.Options, ", ")) + ")"
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
		if err = runview.AnswerFits(f, text); err == nil {
			return text, nil
		}
		output.Printf(screen, "%s\n", err.Error())
	}
}

// rawMode switches the terminal to raw mode, keeps it in the poller, and returns a function that restores it.
func (p *Prompter) rawMode() (restore func(), err error) {
	control, err := p.Terminal.SyscallConn()
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

// interruptReader detects Ctrl-C, which a raw terminal delivers as a byte.
type interruptReader struct {
	*os.File
	stop context.CancelCauseFunc
}

const interruptByte = 3

func (k interruptReader) Read(b []byte) (int, error) {
	n, err := k.File.Read(b)
	for _, c := range b[:n] {
		if c == interruptByte {
			k.stop(runner.ErrOwnerCancelled)
		}
	}
	return n, err
}

// OpenTerminal opens the terminal of the process.
func OpenTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

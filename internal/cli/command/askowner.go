package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/cli/prompt"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// AskOwner reads the fields on the owner's terminal. It returns io.EOF for Ctrl-D and the context's error for Ctrl-C.
// Without a terminal, or with --json, it returns an error with other as the next step.
func (inv *Invocation) AskOwner(ctx context.Context, message, leave string, fields []api.QuestionField,
	other string) (map[string]string, error) {
	p := inv.NewPrompter(nil)
	if p == nil {
		return nil, &failure.Error{Code: "terminal_required", Exit: failure.ExitUsage,
			Message: "there is no terminal to ask you on", Next: other}
	}
	defer p.Close()
	answers, err := p.Fill(ctx, message, leave, fields)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("read from the terminal: %w", err)
	}
	return answers, err
}

// NewPrompter returns nil when no question can be asked: without a terminal, or with --json.
func (inv *Invocation) NewPrompter(v prompt.PausableDisplay) *prompt.Prompter {
	if _, ok := output.TerminalFile(inv.Env.Stdin); !ok || inv.JSON {
		return nil
	}
	tty, err := prompt.OpenTerminal()
	if err != nil {
		return nil
	}
	return &prompt.Prompter{Terminal: tty, Display: v, Stop: inv.Cancel}
}

// Confirm asks for a yes on a terminal. Without a terminal it returns an error that requires --yes.
func (inv *Invocation) Confirm(ctx context.Context, what, question string) error {
	if _, ok := output.TerminalFile(inv.Env.Stdin); !ok || inv.JSON {
		return &failure.Error{Code: "confirmation_required", Exit: failure.ExitUsage, Message: what +
			" needs your confirmation", Next: "Look at the preview, then repeat the command with --yes."}
	}
	output.Printf(inv.ErrOut, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() { // a blocked read of the terminal ends with the program
		line, _ := bufio.NewReader(inv.Env.Stdin).ReadString('\n') // no answer is a no
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		output.Printf(inv.ErrOut, "\n")
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
	}
	return &failure.Error{Code: "cancelled", Exit: failure.ExitCancelled, Message: "nothing was changed",
		Next: "Repeat the command and answer y to go on."}
}

// SecretQuestion describes a secret that comes from standard input, a variable or the terminal.
type SecretQuestion struct{ Variable, Message, Label, OtherWay string }

// ReadSecret reads a secret from standard input, from its variable, or from the terminal.
func (inv *Invocation) ReadSecret(ctx context.Context, stdin bool, q SecretQuestion) (string, error) {
	if stdin {
		b, err := io.ReadAll(io.LimitReader(inv.Env.Stdin, LargestValue))
		if err != nil {
			return "", err
		}
		return strings.TrimRight(string(b), "\r\n"), nil
	}
	if text, _, err := inv.Variable(q.Variable); err != nil || text != "" {
		return text, err
	}
	answers, err := inv.AskOwner(ctx, q.Message, "(Ctrl-D to leave)",
		[]api.QuestionField{{Name: "secret", Label: q.Label, Required: true, Secret: true}}, q.OtherWay)
	if errors.Is(err, io.EOF) {
		return "", failure.ErrUnchanged
	}
	if err != nil {
		return "", err
	}
	return answers["secret"], nil
}

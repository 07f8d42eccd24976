package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// askOwner reads the fields on the owner's terminal. It gives io.EOF for Ctrl-D,
// and the context's error for Ctrl-C. Without a terminal, or for a script, other
// says how to give the values instead.
func (a *app) askOwner(ctx context.Context, message, leave string, fields []api.QuestionField, other string) (map[string]string, error) {
	p := a.newPrompter(nil)
	if p == nil {
		return nil, &Error{Code: "terminal_required", Exit: ExitUsage, Message: "there is no terminal to ask you on", Next: other}
	}
	defer p.close()
	answers, err := p.fill(ctx, message, leave, fields)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("read from the terminal: %w", err)
	}
	return answers, err
}

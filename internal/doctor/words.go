package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

// errorLine returns an error as one line that is safe to show.
func errorLine(err error) string { return redact.New().Line(err.Error(), 500) }

// fixOf is the next step that an error names itself.
func fixOf(err error) string {
	var fix interface{ NextStep() string }
	switch {
	case errors.As(err, &fix) && fix.NextStep() != "":
		return fix.NextStep()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "Try again."
	default:
		return "Check that PDPP_HOME names the right folder, and that PDPP_DATABASE_URL, if set, is right."
	}
}

func formatCount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// quoteArgument makes a path one word of a shell.
func quoteArgument(path string) string {
	if !strings.ContainsAny(path, " \t'\"\\$&;|<>()*?[]#~`!{}") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

const beginText = `Nothing is collected here yet. To begin:
  pdpp connectors                see what can be connected
  pdpp connect CONNECTOR         connect one, and collect for the first time
  pdpp serve                     or do it at a page, and let it collect by itself
`

// orBegin is for a command that a new owner tries first: where nothing was ever collected
// it says how to begin, and with --json that there is nothing. Whoever names a connection
// is told that it is not there.
func (a *app) orBegin(do func(*cobra.Command, []string) error, nothing func() any) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := do(cmd, args)
		var missing *Error
		if len(args) > 0 || a.connection != "" || !errors.As(err, &missing) || missing.Code != codeStorageMissing {
			return err
		}
		if a.json {
			writeJSON(a.out, nothing())
			return nil
		}
		printf(a.out, "%s", beginText)
		return nil
	}
}

// noneOf is the answer of a list without rows, as --json prints it.
func noneOf(rows string) func() any {
	return func() any { return map[string]any{rows: []any{}} }
}

package command

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
)

// FirstSteps explains how to start when nothing was collected.
const FirstSteps = `Nothing is collected here yet. To begin:
  pdpp connectors                see what can be connected
  pdpp connect CONNECTOR         connect one, and collect for the first time
  pdpp serve                     or do it at a page, and let it collect by itself
`

// OrFirstSteps wraps a command that a new owner tries first. When there is no database it prints how to start, or with
// --json an empty result. An explicitly named connection still returns the error.
func (inv *Invocation) OrFirstSteps(do func(*cobra.Command, []string) error, nothing func() any) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := do(cmd, args)
		var missing *failure.Error
		if len(args) > 0 || inv.Connection != "" || !errors.As(err, &missing) || missing.Code != CodeStorageMissing {
			return err
		}
		return inv.Show(nil, nothing(), func() { output.Printf(inv.Out, "%s", FirstSteps) })
	}
}

// EmptyList returns the JSON result of a list without rows.
func EmptyList(rows string) func() any {
	return func() any { return map[string]any{rows: []any{}} }
}

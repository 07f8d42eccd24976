// Package command holds what every command needs: the flags and streams of one invocation, the configuration of the
// environment, the database or remote server that it speaks to, and how connections are found by name.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// Env is the process in which a command runs.
type Env struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Lookup returns an environment variable.
	Lookup func(name string) (string, bool)
	// LookPath finds a program on the search path.
	LookPath func(name string) (string, error)
	// Executable is the path of the running program. The host of the built-in connectors is searched beside it.
	Executable string
	// Holder names this process in leases.
	Holder string
	// Interrupts receives signals: os.Interrupt comes from the owner, any other signal from the system. The first signal
	// cancels the command, the second calls Exit.
	Interrupts <-chan os.Signal
	Exit       func(code int)
	Now        func() time.Time
	// BusyTimeout is how long to wait for a locked SQLite database. Zero means the store's default.
	BusyTimeout time.Duration
	// HashCost is the cost of hashing new passwords. Zero means the server's default.
	HashCost auth.HashCost
	// SealWork is the work factor of the passphrase of a new archive. Zero means the default.
	SealWork int
}

// Invocation is one execution of a command.
type Invocation struct {
	Env    Env
	Out    io.Writer
	ErrOut io.Writer

	HomeFlag    string
	DatabaseURL string
	ServerURL   string
	JSON        bool
	Connection  string

	Cancel context.CancelCauseFunc
	// Started is set when the arguments are accepted. An error before that is a usage error.
	Started bool
}

// NewTable starts a table on standard output.
func (inv *Invocation) NewTable(heading ...string) *output.Table {
	return output.NewTable(inv.Out, heading...)
}

// Columns returns the width of standard output.
func (inv *Invocation) Columns() int { return output.TerminalWidth(inv.Out) }

// PrintResult prints the result of a command: value with --json, otherwise the sentence. It always returns nil.
func (inv *Invocation) PrintResult(value any, format string, args ...any) error {
	if inv.JSON {
		output.WriteJSON(inv.Out, value)
	} else {
		output.Printf(inv.Out, format, args...)
	}
	return nil
}

// Show returns err if it is not nil. Otherwise it prints an answer: value with --json, and without it what print
// writes.
func (inv *Invocation) Show(err error, value any, print func()) error {
	switch {
	case err != nil:
		return err
	case inv.JSON:
		output.WriteJSON(inv.Out, value)
	default:
		print()
	}
	return nil
}

// PrintList prints rows: with --json as the member name of an object, otherwise as a table, or none if there are no
// rows. It always returns nil.
func PrintList[T any](inv *Invocation, name string, rows []T, none string, heading []string,
	cells func(T) []string) error {
	if inv.JSON || len(rows) == 0 {
		return inv.PrintResult(map[string]any{name: rows}, "%s", none)
	}
	t := inv.NewTable(heading...)
	for _, row := range rows {
		t.Row(cells(row)...)
	}
	t.Flush()
	return nil
}

// ReportError prints an error for the owner, or as JSON for a script.
func (inv *Invocation) ReportError(e *failure.Error) {
	if inv.JSON {
		output.WriteJSON(inv.ErrOut, map[string]any{"error": e})
		return
	}
	output.Printf(inv.ErrOut, "pdpp: %s\n", e.Message)
	if e.Next != "" {
		output.Printf(inv.ErrOut, "next: %s\n", e.Next)
	}
}

// ConnectionFlag adds --connection to a command.
func (inv *Invocation) ConnectionFlag(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&inv.Connection, "connection", "", what)
}

// WithStore returns the RunE function of a command that uses the database of this machine, which must exist.
func (inv *Invocation) WithStore(do func(ctx context.Context, st store.Store, args []string) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		if err := inv.RefuseServer(); err != nil {
			return err
		}
		st, err := inv.OpenStore(cmd.Context(), MustExist)
		if err != nil {
			return err
		}
		defer func() {
			if closeErr := st.Close(); err == nil && closeErr != nil {
				err = fmt.Errorf("close the database: %w", closeErr)
			}
		}()
		return do(cmd.Context(), st, args)
	}
}

// WithOwner returns the RunE function of a command that works the same on this machine and on a remote server. The
// local database must exist.
func (inv *Invocation) WithOwner(do func(ctx context.Context, o api.Owner, args []string) error) func(*cobra.Command,
	[]string) error {
	return inv.OwnerCommand(MustExist, do)
}

func (inv *Invocation) OwnerCommand(n DatabaseNeed,
	do func(ctx context.Context, o api.Owner, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		o, closeOwner, err := inv.OpenOwner(cmd.Context(), n)
		if err != nil {
			return err
		}
		defer func() {
			if closeErr := closeOwner(); err == nil && closeErr != nil {
				err = fmt.Errorf("close the database: %w", closeErr)
			}
		}()
		return do(cmd.Context(), o, args)
	}
}

// OpenOwner returns the owner's operations: of the configured server, or of the database of this machine.
func (inv *Invocation) OpenOwner(ctx context.Context, n DatabaseNeed) (api.Owner, func() error, error) {
	r, err := inv.RemoteServer()
	if err != nil {
		return nil, nil, err
	}
	if r != nil {
		return r.Owner(), func() error { return nil }, nil
	}
	st, err := inv.OpenStore(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	o, err := inv.LocalOwner(st)
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return o, st.Close, nil
}

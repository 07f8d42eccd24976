package status

import (
	"bytes"
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
)

const supportHelp = `Writes the facts behind a connection's state, to show to somebody who helps you.

It is one line of JSON, from which the same state, pill and channel can be computed
again elsewhere. It contains times, counts, ids and reason codes. Names of connections
and hosts, messages, and every text that is not a code are removed. It never contains
records, credentials or addresses. Read it before you send it.

Only you can read the file, and an existing file is not replaced.`

// NewSupportCommand returns the command pdpp support.
func NewSupportCommand(inv *command.Invocation) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "support CONNECTION", Short: "Write the redacted facts of a connection, to get help",
		Long: supportHelp, Example: "  pdpp support example --output example.jsonl",
		Args: arguments.Required("the name of a connection"),
		RunE: inv.WithStore(func(ctx context.Context, st store.Store, args []string) error {
			conn, err := command.FindStoredConnection(ctx, st, args[0], "Choose one, as in pdpp support CONNECTION: ")
			if err != nil {
				return err
			}
			judged, err := (&view.View{Reader: st, Now: inv.Env.Now}).One(ctx, conn.ID)
			if err != nil {
				return err
			}
			if path == "" {
				output.WriteJSON(inv.Out, judged.Case())
				return nil
			}
			return writeSupportFile(inv, path, &judged)
		}),
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "file to write (default: standard output)")
	return cmd
}

func writeSupportFile(inv *command.Invocation, path string, c *view.Judgement) error {
	var body bytes.Buffer
	output.WriteJSON(&body, c.Case())
	if err := createPrivateFile(path, body.Bytes()); err != nil {
		return err
	}
	return inv.PrintResult(map[string]any{
		"file": path, "connection_id": c.ID, "state": c.Health.State, "pill": c.Verdict.Pill, "channel": c.Verdict.Channel,
	}, "Wrote %s: the facts behind %s of %s.\nRead it before you send it.\n", path,
		pillLabel(&c.Connection), c.ID)
}

// createPrivateFile creates a file that only its owner can read. It keeps an existing file, and removes a file that it
// could not write completely.
func createPrivateFile(path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return &failure.Error{Code: "file_exists", Exit: failure.ExitFailed, Err: err, Message: path + " exists already",
			Next: "Choose another name."}
	}
	if err == nil {
		_, err = f.Write(body)
		err = errors.Join(err, f.Sync(), f.Close())
		if err != nil {
			_ = os.Remove(path)
		}
	}
	if err != nil {
		return &failure.Error{Code: "write_failed", Exit: failure.ExitFailed, Err: err,
			Message: failure.SafeText("the file could not be written: " + failure.RootCause(err).Error()),
			Next:    "Check the place and the free space, then try again."}
	}
	return nil
}

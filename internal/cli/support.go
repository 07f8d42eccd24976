package cli

import (
	"bytes"
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/view"
)

const supportText = `Write the facts behind a connection's state, to show to somebody who helps you.

It is one line of JSON, from which the same state, pill and channel can be
derived again elsewhere. It holds times, counts, ids and reason codes. Names of
connections and hosts, messages, and every text that is not a code are taken
out; records, credentials and addresses are never in it. Read it before you
send it.

A file is made for you alone, and one that exists is not replaced.`

func (a *app) supportCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "support CONNECTION", Short: "Write the redacted facts of a connection, to get help with it",
		Long: supportText, Example: "  pdpp support example --output example.jsonl", Args: needArgs("the name of a connection"),
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			conn, err := pickConnection(ctx, st, args[0], "Choose one, as in pdpp support CONNECTION: ")
			if err != nil {
				return err
			}
			judged, err := (&view.View{Reader: st, Now: a.env.Now}).One(ctx, conn.ID)
			if err != nil {
				return err
			}
			if output == "" {
				writeJSON(a.out, judged.Case())
				return nil
			}
			return a.writeSupport(output, &judged)
		}),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write (default: standard output)")
	return cmd
}

func (a *app) writeSupport(path string, c *view.Judgement) error {
	var body bytes.Buffer
	writeJSON(&body, c.Case())
	if err := createPrivate(path, body.Bytes()); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{
			"file": path, "connection_id": c.ID, "state": c.Health.State, "pill": c.Verdict.Pill, "channel": c.Verdict.Channel,
		})
		return nil
	}
	printf(a.out, "Wrote %s: the facts behind %s of %s.\nRead it before you send it.\n", path, pill(&c.Connection), c.ID)
	return nil
}

// createPrivate makes a file that only its owner reads. What is there already
// stays, and so does nothing that could not be written whole.
func createPrivate(path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return &Error{Code: "file_exists", Exit: ExitFailed, Err: err, Message: path + " exists already", Next: "Choose another name."}
	}
	if err == nil {
		_, err = f.Write(body)
		err = errors.Join(err, f.Sync(), f.Close())
		if err != nil {
			_ = os.Remove(path)
		}
	}
	if err != nil {
		return &Error{Code: "write_failed", Exit: ExitFailed, Err: err, Message: safe("the file could not be written: " + cause(err).Error()),
			Next: "Check the place and the free space, then try again."}
	}
	return nil
}

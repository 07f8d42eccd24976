// Package imports has the commands that upload files to a connection and list or undo what came from them.
package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const importHelp = `Sends files to a connection that reads files, such as exports that you downloaded. Each
file is stored in the connection's import folder on the server's machine, a run reads it,
and a receipt shows what was new. Importing the same file again changes nothing. If the
upload of a large file is interrupted, it continues automatically, or when you repeat the
command.`

const importExamples = `  pdpp import pocket pocket.zip
  pdpp import cin_whatsapp_1 ~/Downloads/chat-*.zip
  pdpp import pocket pocket.zip --server https://pdpp.example`

// NewImportCommand returns the command pdpp import.
func NewImportCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "import CONNECTION FILE...", Short: "Import files into a connection", Long: importHelp, Example: importExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return arguments.Required("the name of a connection", "a file")(cmd, args)
			}
			return nil
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := command.FindConnection(ctx, o, args[0], command.ChooseByID)
			if err != nil {
				return err
			}
			given := []api.Import{}
			for _, path := range args[1:] {
				got, err := importFile(ctx, inv, o, conn.ID, path)
				if err != nil {
					if inv.JSON && len(given) > 0 {
						output.WriteJSON(inv.Out, map[string]any{"imports": given})
					}
					return err
				}
				given = append(given, got)
				if !inv.JSON {
					printReceived(inv, got)
				}
			}
			return inv.PrintResult(map[string]any{"imports": given}, "See what was new: pdpp imports %s\n", conn.ID)
		}),
	}
}

func importFile(ctx context.Context, inv *command.Invocation, o api.Owner, id, path string) (api.Import, error) {
	f, err := os.Open(path)
	if err != nil {
		return api.Import{}, unreadableFile(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err != nil {
		return api.Import{}, unreadableFile(path, err)
	}
	progress := &uploadProgress{ReadSeeker: f, invocation: inv, name: filepath.Base(path), all: info.Size(),
		now: inv.Env.Now}
	defer progress.clear()
	return o.Import(ctx, id, api.ImportFile{Name: filepath.Base(path), Bytes: info.Size(), Content: progress})
}

func unreadableFile(path string, err error) *failure.Error {
	if errors.Is(err, fs.ErrNotExist) {
		return failure.UsageError("there is no file "+path, "Check its path.")
	}
	return failure.UsageError(path+" cannot be read: "+err.Error(), "Check what it is, and its rights.")
}

func printReceived(inv *command.Invocation, i api.Import) {
	if i.Already {
		output.Printf(inv.Out, "%s was already imported on %s; nothing was done.\n", output.SingleLine(i.Name),
			output.FormatOptionalTime(&i.ReceivedAt))
		return
	}
	output.Printf(inv.Out, "%s is received (%s); a run reads it.\n", output.SingleLine(i.Name), text.Bytes(*i.Bytes))
}

// uploadProgress prints on a terminal how much of a file is sent, once a second.
type uploadProgress struct {
	io.ReadSeeker
	invocation *command.Invocation
	name       string
	sent, all  int64
	last       time.Time
	now        func() time.Time
	shown      bool
}

func (s *uploadProgress) Read(b []byte) (int, error) {
	n, err := s.ReadSeeker.Read(b)
	s.sent += int64(n)
	if _, watched := output.TerminalFile(s.invocation.ErrOut); watched && !s.invocation.JSON &&
		s.now().Sub(s.last) >= time.Second {
		s.last, s.shown = s.now(), true
		output.Printf(s.invocation.ErrOut, "\r%s: %s of %s \x1b[K", output.SingleLine(s.name), text.Bytes(s.sent),
			text.Bytes(s.all))
	}
	return n, err
}

// Seek sets the position from which an interrupted upload continues.
func (s *uploadProgress) Seek(offset int64, whence int) (int64, error) {
	at, err := s.ReadSeeker.Seek(offset, whence)
	if err == nil {
		s.sent = at
	}
	return at, err
}

func (s *uploadProgress) clear() {
	if s.shown {
		output.Printf(s.invocation.ErrOut, "\r\x1b[K")
	}
}

const importsHelp = `Lists the receipts of a connection's files: what was new, changed or already here, what
could not be read, and what the source does not collect. --undo deletes the records that
came only from one file; records that another file or the source also brought stay.
Interrupted uploads of large files are listed too: send the same file again to continue,
or remove the received part with --drop.`

// NewReceiptsCommand returns the command pdpp imports.
func NewReceiptsCommand(inv *command.Invocation) *cobra.Command {
	var undo, drop string
	var yes bool
	cmd := &cobra.Command{
		Use: "imports CONNECTION", Short: "List the receipts of files, or undo one", Long: importsHelp,
		Example: "  pdpp imports pocket\n  pdpp imports pocket --undo imp_1a2b\n  pdpp imports pocket --drop upl_1a2b",
		Args:    arguments.Required("the name of a connection"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := command.FindConnection(ctx, o, args[0], command.ChooseByID)
			if err != nil {
				return err
			}
			if undo != "" {
				return undoImport(ctx, inv, o, conn.ID, undo, yes)
			}
			if drop != "" {
				return dropUpload(ctx, inv, o, conn.ID, drop)
			}
			all, err := o.Imports(ctx, conn.ID)
			if err != nil {
				return err
			}
			cut, err := o.Uploads(ctx, conn.ID)
			return inv.Show(err, map[string]any{"imports": all, "uploads": cut}, func() {
				for _, u := range cut {
					output.Printf(inv.Out, "%s has not come to its end: %s of %s are here until %s. Give it again to go on, or drop "+
						"it: pdpp imports %s --drop %s\n",
						output.SingleLine(u.Name), text.Bytes(u.Received), text.Bytes(u.Bytes), output.FormatOptionalTime(u.KeptUntil),
						conn.ID, u.ID)
				}
				if len(all) == 0 {
					output.Printf(inv.Out, "No file was imported yet. Give one: pdpp import %s FILE\n", conn.ID)
					return
				}
				t := inv.NewTable("IMPORT", "FILE", "RECEIVED", "SIZE", "STATUS", "NEW", "CHANGED", "SAME", "NOT READ")
				for _, i := range all {
					size := "-"
					if i.Bytes != nil {
						size = text.Bytes(*i.Bytes)
					}
					t.Row(i.ID, output.SingleLine(i.Name), output.FormatOptionalTime(&i.ReceivedAt), size, i.Status,
						text.Number(i.New), text.Number(i.Changed), text.Number(i.Same), skippedSummary(i))
				}
				t.Flush()
				for _, i := range all {
					for _, sentence := range words.LeftOutWords(i.LeftOut) {
						output.Printf(inv.Out, "%s: %s\n", output.SingleLine(i.Name), output.SingleLine(text.Lower(sentence)))
					}
				}
			})
		}),
	}
	cmd.Flags().StringVar(&undo, "undo", "", "delete the records that came only from the file of this receipt")
	cmd.Flags().BoolVar(&yes, "yes", false, "undo without asking")
	cmd.Flags().StringVar(&drop, "drop", "", "take away what has come of this upload")
	cmd.MarkFlagsMutuallyExclusive("undo", "drop")
	return cmd
}

func dropUpload(ctx context.Context, inv *command.Invocation, o api.Owner, connectionID, id string) error {
	if err := o.DropUpload(ctx, connectionID, id); err != nil {
		return err
	}
	return inv.PrintResult(map[string]any{"dropped": id}, "Dropped. What had come of the file is gone.\n")
}

// skippedSummary returns which parts of a file could not be read.
func skippedSummary(i api.Import) string {
	var words []string
	for _, k := range i.Skipped {
		words = append(words, fmt.Sprintf("%d %s", k.Count, k.Reason))
	}
	return output.DashIfEmpty(strings.Join(words, ", "))
}

func undoImport(ctx context.Context, inv *command.Invocation, o api.Owner, connectionID, id string, yes bool) error {
	i, err := o.ImportByID(ctx, id)
	if err != nil {
		return err
	}
	if i.ConnectionID != connectionID {
		return api.NotFound("There is no such import.", "See them: pdpp imports "+connectionID)
	}
	if i.UndoDeletes != nil && !yes && !inv.JSON {
		output.Printf(inv.Out, "%s: %s\n", output.SingleLine(i.Name), words.ImportUndo(i))
	}
	if i.FileMissing && !inv.JSON {
		output.Printf(inv.Out, "The file is not in its folder any more: what is deleted cannot be read again.\n")
	}
	if !yes {
		if err := inv.Confirm(ctx, "undoing an import", "Undo it?"); err != nil {
			return err
		}
	}
	for {
		done, err := o.UndoImport(ctx, id)
		if err != nil {
			return err
		}
		if done.Status == api.ImportUndoing {
			continue // a large one takes several turns
		}
		return inv.PrintResult(done, "Undone: %s deleted. The next run reads the rest again.\n",
			text.Count(done.Deleted, "record was", "records were"))
	}
}

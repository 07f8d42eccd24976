package cli

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

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const importText = `Gives files to a connection whose source is files: exports that you downloaded. Each is
kept in the connection's import folder on the server's machine, a run reads it, and a
receipt says what was new. The same file again does nothing. A large file that is cut on
its way to a server goes on where it stopped, by itself or with the same command.`

const importExamples = `  pdpp import pocket pocket.zip
  pdpp import cin_whatsapp_1 ~/Downloads/chat-*.zip
  pdpp import pocket pocket.zip --server https://pdpp.example`

func (a *app) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import CONNECTION FILE...", Short: "Give a connection files to read", Long: importText, Example: importExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return needArgs("the name of a connection", "a file")(cmd, args)
			}
			return nil
		},
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := pickOwned(ctx, o, args[0], byName)
			if err != nil {
				return err
			}
			given := []api.Import{}
			for _, path := range args[1:] {
				got, err := a.importFile(ctx, o, conn.ID, path)
				if err != nil {
					if a.json && len(given) > 0 {
						writeJSON(a.out, map[string]any{"imports": given})
					}
					return err
				}
				given = append(given, got)
				if !a.json {
					a.tellGiven(got)
				}
			}
			if a.json {
				writeJSON(a.out, map[string]any{"imports": given})
				return nil
			}
			printf(a.out, "See what was new: pdpp imports %s\n", conn.ID)
			return nil
		}),
	}
}

func (a *app) importFile(ctx context.Context, o api.Owner, id, path string) (api.Import, error) {
	f, err := os.Open(path)
	if err != nil {
		return api.Import{}, notReadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err != nil {
		return api.Import{}, notReadable(path, err)
	}
	told := &sending{ReadSeeker: f, a: a, name: filepath.Base(path), all: info.Size(), now: a.env.Now}
	defer told.clear()
	return o.Import(ctx, id, api.ImportFile{Name: filepath.Base(path), Bytes: info.Size(), Content: told})
}

func notReadable(path string, err error) *Error {
	if errors.Is(err, fs.ErrNotExist) {
		return usage("there is no file "+path, "Check its path.")
	}
	return usage(path+" cannot be read: "+err.Error(), "Check what it is, and its rights.")
}

func (a *app) tellGiven(i api.Import) {
	if i.Already {
		printf(a.out, "%s was already imported on %s; nothing was done.\n", oneLine(i.Name), whenever(&i.ReceivedAt))
		return
	}
	printf(a.out, "%s is received (%s); a run reads it.\n", oneLine(i.Name), text.Bytes(*i.Bytes))
}

// sending shows on a terminal how much of a file is sent, once a second.
type sending struct {
	io.ReadSeeker
	a         *app
	name      string
	sent, all int64
	last      time.Time
	now       func() time.Time
	shown     bool
}

func (s *sending) Read(b []byte) (int, error) {
	n, err := s.ReadSeeker.Read(b)
	s.sent += int64(n)
	if _, watched := terminal(s.a.errOut); watched && !s.a.json && s.now().Sub(s.last) >= time.Second {
		s.last, s.shown = s.now(), true
		printf(s.a.errOut, "\r%s: %s of %s \x1b[K", oneLine(s.name), text.Bytes(s.sent), text.Bytes(s.all))
	}
	return n, err
}

// Seek is where a file goes on that is sent in pieces.
func (s *sending) Seek(offset int64, whence int) (int64, error) {
	at, err := s.ReadSeeker.Seek(offset, whence)
	if err == nil {
		s.sent = at
	}
	return at, err
}

func (s *sending) clear() {
	if s.shown {
		printf(s.a.errOut, "\r\x1b[K")
	}
}

const importsText = `Lists the receipts of a connection's files: what of each was new, changed or here already,
what could not be read, and what the source does not collect. With --undo the records that came from one file alone are
deleted; what another file or the source brought too stays. Large files that were cut on
their way are listed too: the same file again goes on, --drop takes away what has come.`

func (a *app) importsCommand() *cobra.Command {
	var undo, drop string
	var yes bool
	cmd := &cobra.Command{
		Use: "imports CONNECTION", Short: "List the receipts of files, or undo one", Long: importsText,
		Example: "  pdpp imports pocket\n  pdpp imports pocket --undo imp_1a2b\n  pdpp imports pocket --drop upl_1a2b",
		Args:    needArgs("the name of a connection"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := pickOwned(ctx, o, args[0], byName)
			if err != nil {
				return err
			}
			if undo != "" {
				return a.undoImport(ctx, o, conn.ID, undo, yes)
			}
			if drop != "" {
				return a.dropUpload(ctx, o, conn.ID, drop)
			}
			all, err := o.Imports(ctx, conn.ID)
			if err != nil {
				return err
			}
			cut, err := o.Uploads(ctx, conn.ID)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"imports": all, "uploads": cut})
				return nil
			}
			for _, u := range cut {
				printf(a.out, "%s has not come to its end: %s of %s are here until %s. Give it again to go on, or drop it: pdpp imports %s --drop %s\n",
					oneLine(u.Name), text.Bytes(u.Received), text.Bytes(u.Bytes), whenever(u.KeptUntil), conn.ID, u.ID)
			}
			if len(all) == 0 {
				printf(a.out, "No file was imported yet. Give one: pdpp import %s FILE\n", conn.ID)
				return nil
			}
			t := a.table("IMPORT", "FILE", "RECEIVED", "SIZE", "STATUS", "NEW", "CHANGED", "SAME", "NOT READ")
			for _, i := range all {
				size := "-"
				if i.Bytes != nil {
					size = text.Bytes(*i.Bytes)
				}
				t.row(i.ID, oneLine(i.Name), whenever(&i.ReceivedAt), size, i.Status, text.Number(i.New), text.Number(i.Changed), text.Number(i.Same), skippedWords(i))
			}
			t.flush()
			for _, i := range all {
				for _, words := range api.LeftOutWords(i.LeftOut) {
					printf(a.out, "%s: %s\n", oneLine(i.Name), oneLine(text.Lower(words)))
				}
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&undo, "undo", "", "delete the records that came from the file of this receipt alone")
	cmd.Flags().BoolVar(&yes, "yes", false, "undo without asking")
	cmd.Flags().StringVar(&drop, "drop", "", "take away what has come of this upload")
	cmd.MarkFlagsMutuallyExclusive("undo", "drop")
	return cmd
}

func (a *app) dropUpload(ctx context.Context, o api.Owner, connectionID, id string) error {
	if err := o.DropUpload(ctx, connectionID, id); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"dropped": id})
		return nil
	}
	printf(a.out, "Dropped. What had come of the file is gone.\n")
	return nil
}

// skippedWords tell what of a file could not be read.
func skippedWords(i api.Import) string {
	var words []string
	for _, k := range i.Skipped {
		words = append(words, fmt.Sprintf("%d %s", k.Count, k.Reason))
	}
	return orDash(strings.Join(words, ", "))
}

func (a *app) undoImport(ctx context.Context, o api.Owner, connectionID, id string, yes bool) error {
	i, err := o.ImportByID(ctx, id)
	if err != nil {
		return err
	}
	if i.ConnectionID != connectionID {
		return api.NotFound("There is no such import.", "See them: pdpp imports "+connectionID)
	}
	if i.UndoDeletes != nil && !yes && !a.json {
		printf(a.out, "%s: %s came from it alone and would be deleted; %s.\n", oneLine(i.Name), text.Count(*i.UndoDeletes, "record", "records"),
			text.Count(*i.UndoKeeps, "record came from elsewhere too and stays", "records came from elsewhere too and stay"))
	}
	if i.FileMissing && !a.json {
		printf(a.out, "The file is not in its folder any more: what is deleted cannot be read again.\n")
	}
	if !yes {
		if err := a.confirm(ctx, "undoing an import", "Undo it?"); err != nil {
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
		if a.json {
			writeJSON(a.out, done)
			return nil
		}
		printf(a.out, "Undone: %s deleted. The next run reads the rest again.\n", text.Count(done.Deleted, "record was", "records were"))
		return nil
	}
}

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pdpp/internal/store"
)

const exportText = `Writes the records of some or all streams, page by page, to standard output or a
file. A file appears whole or not at all, readable by you alone.

  jsonl  one object per line: stream, key, data, and when and by which run it changed
  csv    _stream, _key, one column per field that the connector declares, and _other
         for fields that it does not declare; nested values are JSON

Deleted records are left out (pdpp changes shows them). A record that changes
while the export runs may appear again, further down and newer.`

type exportFlags struct {
	format string
	output string
	force  bool
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use: "export [STREAM...]", Short: "Write records as JSON lines or CSV", Long: exportText,
		PreRunE: func(*cobra.Command, []string) error {
			if f.format != "jsonl" && f.format != "csv" {
				return usage(fmt.Sprintf("there is no export format %q", f.format), "Formats are: jsonl, csv")
			}
			return nil
		},
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error { return a.export(ctx, st, args, f) }),
	}
	a.connectionFlag(cmd, "which connection")
	cmd.Flags().StringVar(&f.format, "format", "jsonl", "jsonl or csv")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write (default: standard output)")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the file if it exists")
	return cmd
}

func (a *app) export(ctx context.Context, st store.Store, names []string, f exportFlags) error {
	conn, err := a.resolveConnection(ctx, st)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		streams, err := st.Streams(ctx, conn.ID)
		if err != nil {
			return err
		}
		for _, s := range streams {
			names = append(names, s.Name)
		}
	}
	names = unique(names)
	for _, name := range names {
		if _, err := findStream(ctx, st, conn.ID, name); err != nil {
			return err
		}
	}
	m, err := manifestOf(ctx, st, conn.ConnectorID)
	if err != nil {
		return err
	}
	write := func(w io.Writer) (int64, error) {
		encoder := newRecordWriter(f.format, w, m, names)
		return exportStreams(ctx, st, conn.ID, names, encoder)
	}
	if f.output == "" {
		buffered := bufio.NewWriterSize(a.out, 1<<16)
		n, err := write(buffered)
		if flushErr := buffered.Flush(); err == nil && flushErr != nil {
			err = writeError(flushErr)
		}
		if err == nil && !a.json {
			printf(a.errOut, "%s exported.\n", plural(n, "record", "records"))
		}
		return err
	}
	n, err := writeFile(f.output, f.force, write)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"file": f.output, "format": f.format, "records": n, "streams": names, "connection_id": conn.ID})
		return nil
	}
	printf(a.out, "%s exported to %s\n", plural(n, "record", "records"), f.output)
	return nil
}

// exportPage is how many records are held in memory at once.
const exportPage = 500

func exportStreams(ctx context.Context, st store.Store, connectionID string, names []string, w recordWriter) (n int64, err error) {
	for _, name := range names {
		q := store.RecordQuery{ConnectionID: connectionID, Stream: name, Limit: exportPage}
		for {
			page, err := st.ListRecords(ctx, q)
			if err != nil {
				return n, err
			}
			for i := range page {
				if err := w.write(&page[i]); err != nil {
					return n, writeError(err)
				}
				n++
			}
			if len(page) < exportPage {
				break
			}
			q.AfterSeq = page[len(page)-1].Seq
		}
	}
	if err := w.finish(); err != nil {
		return n, writeError(err)
	}
	return n, nil
}

func writeError(err error) *Error {
	return &Error{Code: "write_failed", Exit: ExitFailed, Err: err, Message: safe("the export could not be written: " + cause(err).Error()),
		Next: "Check the place and the free space, then try again."}
}

// writeFile makes path appear with its whole content or not at all, private to
// its owner.
func writeFile(path string, force bool, write func(io.Writer) (int64, error)) (n int64, err error) {
	if info, err := os.Lstat(path); err == nil {
		switch {
		case !info.Mode().IsRegular():
			return 0, &Error{Code: "file_exists", Exit: ExitFailed, Message: path + " is not an ordinary file", Next: "Choose another name."}
		case !force:
			return 0, &Error{Code: "file_exists", Exit: ExitFailed, Message: path + " exists already", Next: "Choose another name, or replace it with --force."}
		}
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".pdpp-export-*") // mode 0600
	if err != nil {
		return 0, writeError(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	buffered := bufio.NewWriterSize(temp, 1<<16)
	n, err = write(buffered)
	if err != nil {
		return n, errors.Join(err, temp.Close())
	}
	if err := errors.Join(buffered.Flush(), temp.Sync(), temp.Close()); err != nil {
		return n, writeError(err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return n, writeError(err)
	}
	return n, nil
}

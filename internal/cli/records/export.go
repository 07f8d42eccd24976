package records

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

const exportHelp = `Writes the records of some or all streams to standard output, a file or a folder. The file
appears only when it is complete, and only you can read it.

  jsonl      one object per line: connection, stream, id, data, and when it changed
  csv        _stream, _key, one column per field that the connector declares, and _other
             for fields that it does not declare; nested values are JSON. Text that a
             spreadsheet would read as a formula begins with an apostrophe
  parquet    typed columns for DuckDB and the like; one stream per file
  sqlite     one table per stream, with a full-text index where the stream can be searched
  markdown   notes, conversations and mail as texts; in a folder one file for each
  icalendar  events, for calendars
  vcard      contacts, for address books
  mbox       mail without attachments, for mail programs

A folder gets one file per stream and receipt.json, with counts and SHA-256. If the export
is interrupted, the same command continues: streams that are complete and have not changed
are kept.

Deleted records are left out (pdpp changes shows them). A record that changes during
the export may appear again later in its newer version.`

const exportExamples = `  pdpp export > everything.jsonl                 every connection, as JSON lines
  pdpp export issues --format csv -o issues.csv
  pdpp export --format sqlite -o everything.sqlite
  pdpp export --format markdown --folder texts --since 2026-01-01
  pdpp export messages --search harbour --format mbox -o harbour.mbox`

type exportFlags struct {
	format string
	output string
	folder string
	force  bool
	since  string
	until  string
	search string
}

// NewExportCommand returns the command pdpp export.
func NewExportCommand(inv *command.Invocation) *cobra.Command {
	var f exportFlags
	var job export.Job
	cmd := &cobra.Command{
		Use: "export [STREAM...]", Short: "Write records as files for other programs", Long: exportHelp,
		Example: exportExamples,
		PreRunE: func(_ *cobra.Command, args []string) (err error) {
			job, err = f.job(args)
			return err
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			job.Owner = o
			return exportRecords(ctx, inv, job, args, f)
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	cmd.Flags().StringVar(&f.format, "format", "jsonl", strings.Join(export.FormatNames(), ", "))
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write (default: standard output)")
	cmd.Flags().StringVar(&f.folder, "folder", "", "folder to write, with a file per stream")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the file if it exists")
	cmd.Flags().StringVar(&f.since, "since", "", "only records from this `time` or date on")
	cmd.Flags().StringVar(&f.until, "until", "", "only records before this `time` or date")
	cmd.Flags().StringVar(&f.search, "search", "", "only records that contain all these `words`")
	return cmd
}

// job returns the export that the flags describe.
func (f exportFlags) job(names []string) (job export.Job, err error) {
	format, known := export.FindFormat(f.format)
	switch {
	case !known:
		return job, failure.UsageError(fmt.Sprintf("there is no export format %q", f.format),
			"Formats are: "+strings.Join(export.FormatNames(), ", "))
	case f.folder != "" && f.output != "":
		return job, failure.UsageError("an export goes to a file or to a folder", "Use --output or --folder.")
	case f.folder == "" && f.format == "csv" && len(names) > 1:
		return job, failure.UsageError("a table holds one stream, or all of them",
			"Name one stream or none, or use --folder or --format jsonl.")
	case f.folder == "" && format.Single && len(names) != 1:
		return job, failure.UsageError("a file in this format holds one stream", "Name one stream, or use --folder.")
	}
	job.Format, job.Selection.Text = format, strings.TrimSpace(f.search)
	if job.Selection.Since, err = arguments.ParseMoment("--since", f.since); err == nil {
		job.Selection.Until, err = arguments.ParseMoment("--until", f.until)
	}
	return job, err
}

func exportRecords(ctx context.Context, inv *command.Invocation, job export.Job, names []string,
	f exportFlags) error {
	names = arguments.WithoutRepeats(names)
	streams, err := exportStreams(ctx, inv, job, names, f)
	if err != nil {
		return err
	}
	progress := inv.NewProgress(streams)
	job.Note = progress.Note
	if f.folder != "" {
		return exportFolder(ctx, inv, job, streams, f.folder, progress)
	}
	write := func(w io.Writer) (int64, error) {
		n, err := job.Write(ctx, w, streams)
		progress.Clear()
		return n, exportError(err)
	}
	if f.output == "" {
		n, err := write(output.ExactWriter(inv.Out))
		if err == nil && !inv.JSON {
			output.Printf(inv.ErrOut, "%s exported.\n", text.Count(n, "record", "records"))
		}
		return err
	}
	sum := sha256.New()
	size := &byteCounter{}
	n, err := writeWholeFile(f.output, f.force, func(w io.Writer) (int64, error) {
		return write(io.MultiWriter(w, sum, size))
	})
	if err != nil {
		return err
	}
	var connections []string
	for _, s := range streams {
		connections = append(connections, s.ConnectionID)
	}
	return inv.PrintResult(map[string]any{"file": f.output, "format": f.format, "records": n, "bytes": size.n,
		"sha256": hex.EncodeToString(sum.Sum(nil)), "streams": append([]string{}, names...),
		"connection_ids": append([]string{}, arguments.WithoutRepeats(connections)...)},
		"%s exported to %s\n", text.Count(n, "record", "records"), f.output)
}

type byteCounter struct{ n int64 }

func (c *byteCounter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// exportError distinguishes what cannot be written from what cannot be read.
func exportError(err error) error {
	if place := (*export.WriteError)(nil); errors.As(err, &place) {
		return writeError(place.Unwrap())
	}
	return err
}

func exportFolder(ctx context.Context, inv *command.Invocation, job export.Job, streams []api.Stream, folder string,
	progress *command.Progress) error {
	receipt, kept, err := job.Folder(ctx, folder, streams)
	progress.Clear()
	if err != nil {
		return exportError(err)
	}
	var n int64
	for _, file := range receipt.Files {
		n += file.Records
	}
	return inv.PrintResult(map[string]any{"folder": folder, "format": receipt.Format, "records": n, "kept": kept,
		"files": receipt.Files},
		"%s in %s, %s written before\n", text.Count(n, "record", "records"),
		text.Count(int64(len(receipt.Files)), "stream", "streams"), text.Count(int64(kept), "stream", "streams"))
}

// exportStreams returns what to export: the named streams, or every stream of one or all connections that the format
// can hold.
func exportStreams(ctx context.Context, inv *command.Invocation, job export.Job, names []string, f exportFlags,
) (out []api.Stream, err error) {
	for _, name := range names {
		s, err := inv.ChooseStream(ctx, job.Owner, name)
		if err != nil {
			return nil, err
		}
		if !job.Format.Holds(&s) {
			return nil, failure.UsageError(fmt.Sprintf("records of %q cannot be written as %s", name, job.Format.Title),
				"Choose another format, such as jsonl.")
		}
		out = append(out, s)
	}
	if len(names) > 0 {
		return out, nil
	}
	connections, err := exportConnections(ctx, inv, job, f)
	if err != nil {
		return nil, err
	}
	for _, id := range connections {
		all, err := job.Owner.Streams(ctx, id)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if job.Format.Holds(&all[i]) {
				out = append(out, all[i])
			}
		}
	}
	return out, nil
}

func exportConnections(ctx context.Context, inv *command.Invocation, job export.Job, f exportFlags,
) (ids []string, err error) {
	if job.Format.Name == "csv" && f.folder == "" { // the columns of a table are those of one connection
		c, err := command.FindConnection(ctx, job.Owner, inv.Connection, command.ChooseByFlag)
		return []string{c.ID}, err
	}
	all, err := inv.ChooseConnections(ctx, job.Owner)
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids, err
}

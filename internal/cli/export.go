package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const exportText = `Writes the records of some or all streams to standard output or a file. A file appears
whole or not at all, readable by you alone.

  jsonl  one object per line: connection, stream, id, data, and when it changed
  csv    _stream, _key, one column per field that the connector declares, and _other
         for fields that it does not declare; nested values are JSON. Text that a
         spreadsheet would take for a formula begins with an apostrophe

Deleted records are left out (pdpp changes shows them). A record that changes
while the export runs may appear again, further down and newer.`

const exportExamples = `  pdpp export                                    everything, as JSON lines
  pdpp export issues --format csv -o issues.csv
  pdpp export --connection github > github.jsonl`

type exportFlags struct {
	format string
	output string
	force  bool
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use: "export [STREAM...]", Short: "Write records as JSON lines or CSV", Long: exportText, Example: exportExamples,
		PreRunE: func(_ *cobra.Command, args []string) error {
			switch {
			case f.format != "jsonl" && f.format != "csv":
				return usage(fmt.Sprintf("there is no export format %q", f.format), "Formats are: jsonl, csv")
			case f.format == "csv" && len(args) > 1:
				return usage("a table holds one stream, or all of them", "Name one stream or none, or use --format jsonl.")
			}
			return nil
		},
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error { return a.export(ctx, o, args, f) }),
	}
	a.connectionFlag(cmd, "which connection")
	cmd.Flags().StringVar(&f.format, "format", "jsonl", "jsonl or csv")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write (default: standard output)")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the file if it exists")
	return cmd
}

func (a *app) export(ctx context.Context, o api.Owner, names []string, f exportFlags) error {
	conn, err := pickOwned(ctx, o, a.connection, byFlag)
	if err != nil {
		return err
	}
	names = unique(names)
	for _, name := range names {
		if _, err := ownedStream(ctx, o, conn.ID, name); err != nil {
			return err
		}
	}
	asked := names
	if len(asked) == 0 {
		asked = []string{""} // every stream
	}
	write := func(w io.Writer) (int64, error) {
		counted := &api.ExportCounter{To: w, Format: f.format}
		for _, name := range asked {
			err := o.Export(ctx, counted, api.ExportQuery{ConnectionID: conn.ID, Stream: name, Format: f.format})
			if counted.Failed() != nil {
				return 0, writeError(counted.Failed())
			}
			if err != nil {
				return 0, err
			}
		}
		return counted.Records(), nil
	}
	if f.output == "" {
		n, err := write(exact(a.out))
		if err == nil && !a.json {
			printf(a.errOut, "%s exported.\n", text.Count(n, "record", "records"))
		}
		return err
	}
	n, err := writeFile(f.output, f.force, write)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"file": f.output, "format": f.format, "records": n, "streams": append([]string{}, names...), "connection_id": conn.ID})
		return nil
	}
	printf(a.out, "%s exported to %s\n", text.Count(n, "record", "records"), f.output)
	return nil
}

package records

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/exportcount"
)

const exportHelp = `Writes the records of some or all streams to standard output or a file. The file appears
only when it is complete, and only you can read it.

  jsonl  one object per line: connection, stream, id, data, and when it changed
  csv    _stream, _key, one column per field that the connector declares, and _other
         for fields that it does not declare; nested values are JSON. Text that a
         spreadsheet would read as a formula begins with an apostrophe

Deleted records are left out (pdpp changes shows them). A record that changes during
the export may appear again later in its newer version.`

const exportExamples = `  pdpp export > everything.jsonl                 every connection, as JSON lines
  pdpp export issues --format csv -o issues.csv
  pdpp export --connection github > github.jsonl`

type exportFlags struct {
	format string
	output string
	force  bool
}

// NewExportCommand returns the command pdpp export.
func NewExportCommand(inv *command.Invocation) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use: "export [STREAM...]", Short: "Write records as JSON lines or CSV", Long: exportHelp, Example: exportExamples,
		PreRunE: func(_ *cobra.Command, args []string) error {
			switch {
			case f.format != "jsonl" && f.format != "csv":
				return failure.UsageError(fmt.Sprintf("there is no export format %q", f.format), "Formats are: jsonl, csv")
			case f.format == "csv" && len(args) > 1:
				return failure.UsageError("a table holds one stream, or all of them",
					"Name one stream or none, or use --format jsonl.")
			}
			return nil
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return exportRecords(ctx, inv, o, args, f)
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	cmd.Flags().StringVar(&f.format, "format", "jsonl", "jsonl or csv")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write (default: standard output)")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the file if it exists")
	return cmd
}

func exportRecords(ctx context.Context, inv *command.Invocation, o api.Owner, names []string, f exportFlags) error {
	names = arguments.WithoutRepeats(names)
	queries, err := exportQueries(ctx, inv, o, names, f.format)
	if err != nil {
		return err
	}
	write := func(w io.Writer) (int64, error) {
		counted := &exportcount.ExportCounter{To: w, Format: f.format}
		for _, q := range queries {
			err := o.Export(ctx, counted, q)
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
		n, err := write(output.ExactWriter(inv.Out))
		if err == nil && !inv.JSON {
			output.Printf(inv.ErrOut, "%s exported.\n", text.Count(n, "record", "records"))
		}
		return err
	}
	n, err := writeWholeFile(f.output, f.force, write)
	if err != nil {
		return err
	}
	var connections []string
	for _, q := range queries {
		connections = append(connections, q.ConnectionID)
	}
	return inv.PrintResult(map[string]any{"file": f.output, "format": f.format, "records": n,
		"streams": append([]string{}, names...), "connection_ids": arguments.WithoutRepeats(connections)},
		"%s exported to %s\n", text.Count(n, "record", "records"), f.output)
}

// exportQueries returns what to export: the named streams, or every stream of one or all connections.
func exportQueries(ctx context.Context, inv *command.Invocation, o api.Owner, names []string, format string,
) (out []api.ExportQuery, err error) {
	for _, name := range names {
		s, err := inv.ChooseStream(ctx, o, name)
		if err != nil {
			return nil, err
		}
		out = append(out, api.ExportQuery{ConnectionID: s.ConnectionID, Stream: name, Format: format})
	}
	if len(names) > 0 {
		return out, nil
	}
	if format == "csv" { // the columns of a table are those of one connection
		c, err := command.FindConnection(ctx, o, inv.Connection, command.ChooseByFlag)
		return []api.ExportQuery{{ConnectionID: c.ID, Format: format}}, err
	}
	all, err := inv.ChooseConnections(ctx, o)
	for _, c := range all {
		out = append(out, api.ExportQuery{ConnectionID: c.ID, Format: format})
	}
	return out, err
}

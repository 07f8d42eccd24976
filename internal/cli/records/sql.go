package records

import (
	"context"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"modernc.org/sqlite"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
	"github.com/pdpp-go/pdpp/internal/owner/export/query"
)

const sqlHelp = `Answers one SELECT statement of SQLite, from the argument or from standard input. Each stream is
a table with the columns of 'pdpp export --format sqlite', and _about lists the tables: a
stream name that several connections have is followed by the id of the connection.

The streams that the statement names are copied into a temporary file for it. With the token
of a grant (PDPP_SERVER with PDPP_TOKEN) only what the grant allows is there. For large
streams and many statements, export them once and use sqlite3 or DuckDB.`

const sqlExamples = `  pdpp sql "SELECT state, count(*) FROM issues GROUP BY state"
  pdpp sql "SELECT * FROM _about"
  pdpp sql --csv < question.sql > answer.csv`

type sqlFlags struct {
	streams []string
	csv     bool
	limit   query.Bounds
}

// NewSQLCommand returns the command pdpp sql.
func NewSQLCommand(inv *command.Invocation) *cobra.Command {
	var f sqlFlags
	cmd := &cobra.Command{
		Use: "sql [STATEMENT]", Short: "Ask in SQL", Long: sqlHelp, Example: sqlExamples, Args: cobra.MaximumNArgs(1),
		PreRunE: func(*cobra.Command, []string) error { return arguments.CheckLimit(f.limit.Rows) },
		RunE: inv.WithReader(func(ctx context.Context, o api.Owner, args []string) error {
			return answerSQL(ctx, inv, o, args, f)
		}),
	}
	inv.ConnectionFlag(cmd, "only streams of this connection")
	cmd.Flags().StringArrayVar(&f.streams, "stream", nil, "only this stream (may be repeated)")
	cmd.Flags().BoolVar(&f.csv, "csv", false, "print CSV")
	cmd.Flags().IntVar(&f.limit.Rows, "limit", 1000, "at most this many rows")
	cmd.Flags().DurationVar(&f.limit.Time, "time-limit", 30*time.Second, "longest time of the statement")
	return cmd
}

func answerSQL(ctx context.Context, inv *command.Invocation, o api.Owner, args []string, f sqlFlags) error {
	statement, err := sqlStatement(inv, args)
	if err != nil {
		return err
	}
	all, err := o.Streams(ctx, "")
	if err != nil {
		return err
	}
	only := inv.Connection
	if only != "" && !slices.ContainsFunc(all, func(s api.Stream) bool { return s.ConnectionID == only }) {
		if only, err = inv.ConnectionFilter(ctx, o); err != nil {
			return err
		}
	}
	streams := slices.DeleteFunc(all, func(s api.Stream) bool {
		return only != "" && s.ConnectionID != only || len(f.streams) > 0 && !slices.Contains(f.streams, s.Name)
	})
	progress := inv.NewProgress(streams)
	answer, err := query.Run(ctx, export.Job{Owner: o, Note: progress.Note}, streams, statement, f.limit)
	progress.Clear()
	if err != nil {
		return sqlError(err, f.limit.Time)
	}
	return printAnswer(inv, answer, f)
}

func sqlStatement(inv *command.Invocation, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	if _, terminal := output.TerminalFile(inv.Env.Stdin); terminal {
		return "", failure.UsageError("there is no statement", `Write one: pdpp sql "SELECT * FROM _about"`)
	}
	body, err := io.ReadAll(io.LimitReader(inv.Env.Stdin, command.LargestValue))
	return string(body), err
}

func sqlError(err error, longest time.Duration) error {
	var faulty *sqlite.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &failure.Error{Code: "sql_timeout", Exit: failure.ExitFailed, Err: err,
			Message: "the statement was stopped after " + longest.String(),
			Next:    "Ask for less, or allow more with --time-limit."}
	case errors.Is(err, query.ErrNotRead), errors.As(err, &faulty):
		return &failure.Error{Code: "sql_invalid", Exit: failure.ExitUsage, Err: err,
			Message: failure.SafeText(failure.RootCause(err).Error()),
			Next:    `See the tables: pdpp sql "SELECT * FROM _about"`}
	}
	return exportError(err)
}

func printAnswer(inv *command.Invocation, a query.RowSet, f sqlFlags) error {
	if a.More && !inv.JSON {
		output.Printf(inv.ErrOut, "There are more rows than %d: see more with --limit.\n", f.limit.Rows)
	}
	switch {
	case inv.JSON:
		rows := make([]map[string]any, len(a.Rows))
		for i, row := range a.Rows {
			rows[i] = map[string]any{}
			for j, name := range a.Columns {
				rows[i][name] = row[j]
			}
		}
		output.WriteJSON(inv.Out, map[string]any{"columns": a.Columns, "rows": rows, "more": a.More})
	case f.csv:
		w := csv.NewWriter(output.ExactWriter(inv.Out))
		_ = w.Write(a.Columns)
		for _, row := range a.Rows {
			_ = w.Write(cells(row, export.EscapeFormula))
		}
		w.Flush()
		return w.Error()
	default:
		t := inv.NewTable(a.Columns...)
		for _, row := range a.Rows {
			t.Row(cells(row, func(s string) string { return text.Cut(text.Line(s), 60) })...)
		}
		t.Flush()
	}
	return nil
}

// cells returns the values of a row as text: null as nothing, bytes in hexadecimal digits, texts as clean returns them.
func cells(row []any, clean func(string) string) []string {
	all := make([]string, len(row))
	for i, value := range row {
		switch value := value.(type) {
		case nil:
		case string:
			all[i] = clean(value)
		case []byte:
			all[i] = hex.EncodeToString(value)
		case float64:
			all[i] = strconv.FormatFloat(value, 'f', -1, 64)
		default:
			all[i] = fmt.Sprint(value)
		}
	}
	return all
}

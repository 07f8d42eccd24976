package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"pdpp/internal/store"
)

func (a *app) recordsCommand() *cobra.Command {
	q := store.RecordQuery{}
	var text string
	cmd := &cobra.Command{
		Use: "records STREAM", Short: "List the records of a stream, oldest change first",
		Args:    needArgs("the name of a stream"),
		PreRunE: func(*cobra.Command, []string) error { return checkLimit(q.Limit) },
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			conn, err := a.resolveConnection(ctx, st)
			if err != nil {
				return err
			}
			if _, err := findStream(ctx, st, conn.ID, args[0]); err != nil {
				return err
			}
			q.ConnectionID, q.Stream = conn.ID, args[0]
			if text != "" {
				return a.searchRecords(ctx, st, conn, q, text)
			}
			records, err := st.ListRecords(ctx, q)
			if err != nil {
				return err
			}
			a.printRecords(records, q, "pdpp records "+q.Stream+" --after")
			return nil
		}),
	}
	a.connectionFlag(cmd, "which connection")
	cmd.Flags().IntVar(&q.Limit, "limit", 20, "at most this many")
	cmd.Flags().Int64Var(&q.AfterSeq, "after", 0, "start after this change sequence")
	cmd.Flags().StringVar(&text, "search", "", "only records that hold all these words")
	cmd.MarkFlagsMutuallyExclusive("after", "search")
	return cmd
}

// searchRecords finds by full text. A stream that is not indexed is an error:
// no result would look like no match.
func (a *app) searchRecords(ctx context.Context, st store.Store, conn store.Connection, q store.RecordQuery, text string) error {
	m, err := manifestOf(ctx, st, conn.ConnectorID)
	if err != nil {
		return err
	}
	if m != nil {
		if s, ok := m.Stream(q.Stream); ok && (s.Query == nil || len(s.Query.Search) == 0) {
			return &Error{Code: "not_searchable", Exit: ExitUsage, Message: fmt.Sprintf("stream %s has no searchable fields", q.Stream),
				Next: "List it instead: pdpp records " + q.Stream}
		}
	}
	records, err := st.Search(ctx, store.SearchQuery{ConnectionID: q.ConnectionID, Stream: q.Stream, Text: text, Limit: q.Limit})
	if err != nil {
		return err
	}
	a.printRecords(records, store.RecordQuery{Stream: q.Stream}, "")
	return nil
}

// printRecords shows a page. A full page of a single stream names the next one.
func (a *app) printRecords(records []store.StoredRecord, q store.RecordQuery, more string) {
	full := q.Limit > 0 && len(records) == q.Limit
	if a.json {
		page := map[string]any{"records": records, "next_after": nil}
		if full {
			page["next_after"] = records[len(records)-1].Seq
		}
		writeJSON(a.out, page)
		return
	}
	if len(records) == 0 {
		printf(a.out, "No records.\n")
		return
	}
	a.recordTable(records, q.Stream == "")
	if full {
		printf(a.errOut, "More: %s %d\n", more, records[len(records)-1].Seq)
	}
}

// recordTable shows records in one line each.
func (a *app) recordTable(records []store.StoredRecord, several bool) {
	heading := []string{"SEQ", "KEY", "CHANGED", "DATA"}
	if several {
		heading = append([]string{"STREAM"}, heading...)
	}
	t := a.table(heading...)
	for _, r := range records {
		data := string(r.Data)
		if r.Deleted {
			data = "(deleted)"
		}
		row := []string{fmt.Sprint(r.Seq), cut(r.Key, 18), when(r.ChangedAt), cut(data, 32)}
		if several {
			row = append([]string{r.Stream}, row...)
		}
		t.row(row...)
	}
	t.flush()
}

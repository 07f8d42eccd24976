package records

import (
	"fmt"
	"slices"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// printChanges prints changes. If the page of one stream is full, it prints how to continue.
func printChanges(inv *command.Invocation, records []api.Record, q api.ChangeQuery, more string) {
	full := q.Limit > 0 && len(records) == q.Limit
	if inv.JSON {
		page := map[string]any{"records": records, "next_after": nil}
		if full {
			page["next_after"] = records[len(records)-1].Seq
		}
		output.WriteJSON(inv.Out, page)
		return
	}
	if len(records) == 0 {
		output.Printf(inv.Out, "No records.\n")
		return
	}
	printChangeTable(inv, records, q.Stream == "")
	if full {
		output.Printf(inv.ErrOut, "More: %s %d\n", more, records[len(records)-1].Seq)
	}
}

// printChangeTable prints one line per record, with its stream if they are of several, and its connection likewise.
func printChangeTable(inv *command.Invocation, records []api.Record, several bool) {
	heading := []string{"SEQ", "KEY", "CHANGED", "DATA"}
	if several {
		heading = append([]string{"STREAM"}, heading...)
	}
	connections := slices.ContainsFunc(records, func(r api.Record) bool {
		return r.ConnectionID != records[0].ConnectionID
	})
	if connections {
		heading = append([]string{"CONNECTION"}, heading...)
	}
	t := inv.NewTable(heading...)
	for _, r := range records {
		data := string(r.Data)
		if r.Deleted {
			data = "(deleted)"
		}
		row := []string{fmt.Sprint(r.Seq), text.Cut(r.Key, 18), output.FormatTime(r.ChangedAt), text.Cut(data, 32)}
		if several {
			row = append([]string{r.Stream}, row...)
		}
		if connections {
			row = append([]string{r.ConnectionID}, row...)
		}
		t.Row(row...)
	}
	t.Flush()
}

package cli

import (
	"fmt"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// printRecords shows a page of changes. A full page of a single stream names the next one.
func (a *app) printRecords(records []api.Record, q api.ChangeQuery, more string) {
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
func (a *app) recordTable(records []api.Record, several bool) {
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
		row := []string{fmt.Sprint(r.Seq), text.Cut(r.Key, 18), when(r.ChangedAt), text.Cut(data, 32)}
		if several {
			row = append([]string{r.Stream}, row...)
		}
		t.row(row...)
	}
	t.flush()
}

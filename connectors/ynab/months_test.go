package ynab

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzMemory shows that a month leaves behind what it has, whatever bookmark it comes upon: read again with the same
// categories it deletes nothing, and without them it deletes each once.
func FuzzMemory(f *testing.F) {
	f.Add([]byte(`{"c":["a","b"],"h":{"2026-01-01":"3"}}`), []byte(`[{"id":"a","name":"x"},{"id":"c","name":"y"}]`))
	f.Add([]byte(`{"h":{"2026-01-01":"-zz"}}`), []byte(`[{"id":"a"},{"id":"a"},{"deleted":true,"id":"b"}]`))
	f.Add([]byte(`{"h":{"2026-01-01":"zzzzzzzz"}}`), []byte(`[1]`))
	f.Fuzz(func(t *testing.T, bookmark, answer []byte) {
		var k budgetBookmark
		var rows []jsontext.Value
		if json.Unmarshal(bookmark, &k) != nil || json.Unmarshal(answer, &rows) != nil {
			return
		}
		const month = "2026-01-01"
		k.recordsOfMonth("budget", month, rows)
		there, unread := map[string]bool{}, false
		for _, raw := range rows {
			id, rec := readMonthCategory("budget", month, raw)
			if rec != nil && id != "" {
				there[id] = true
			}
			unread = unread || rec != nil && id == ""
		}
		if again := k.recordsOfMonth("budget", month, rows); len(again) > len(rows) {
			t.Errorf("%d records of %d rows", len(again), len(rows))
		}
		if gone := k.deleteMonth("budget", month); !unread && len(gone) != len(there) {
			t.Errorf("%d deletions of %d categories", len(gone), len(there))
		}
	})
}

package changelists

import (
	"context"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// TestTotalIsCompared holds the total of a list against what its pages had, when all of it was
// read in one walk.
func TestTotalIsCompared(t *testing.T) {
	things := func(ids ...string) (out []ChangeItem) {
		for _, id := range ids {
			out = append(out, ChangeItem{ID: id, Record: connectorkit.Upsert(map[string]any{"id": id})})
		}
		return out
	}
	flat := ChangeLists{
		Names: func(context.Context) ([]string, string, error) { return []string{"people"}, "me", nil },
		Key:   func(_, id string) string { return id },
		Page: func(_ context.Context, a ChangeRequest) (ChangePage, error) {
			switch {
			case a.Since != "":
				return ChangePage{Since: "later", Total: 9, Things: things("d")}, nil
			case a.Page == "":
				return ChangePage{Next: "2", Total: 9, Things: things("a", "b")}, nil
			default:
				return ChangePage{Since: "now", Total: 9, Things: things("c")}, nil
			}
		},
	}.PagedStream("people")
	var listed []connectorkit.Listed
	at := connectorkit.Cursor{}
	for more := true; more; {
		page, err := flat.Page(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if page.Listed != nil {
			listed = append(listed, *page.Listed)
		}
		at, more = page.Next, page.More
	}
	if len(listed) != 1 || listed[0] != (connectorkit.Listed{Announced: 9, Counted: 3}) {
		t.Errorf("a whole walk: %+v", listed)
	}
	again := ChangeLists{Names: func(context.Context) ([]string, string, error) { return []string{"people"}, "me", nil },
		Key: func(_, id string) string { return id },
		Page: func(context.Context, ChangeRequest) (ChangePage, error) {
			return ChangePage{Since: "later", Total: 9, Things: things("d")}, nil
		}}.PagedStream("people")
	if page, err := again.Page(t.Context(), at); err != nil || page.Listed != nil {
		t.Errorf("a walk of changes: %+v %v", page.Listed, err)
	}
}

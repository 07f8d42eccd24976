package ynab

import (
	"context"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// walk goes from budget to budget. What it knows of each is the bookmark, so that a budget that was read is
// not read again by a run that goes on.
type walk struct {
	known map[string]string // by budget
	left  []string
	anew  bool // it began without a bookmark
	step  int  // distinguishes bookmarks of unfinished walks
}

// begin reads a bookmark. A budget that is not listed today keeps what is known of it.
func (a *api) begin(ctx context.Context, at connectorkit.Cursor) (*walk, error) {
	w := &walk{known: map[string]string{}}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	w.anew = len(at) == 0
	if json.Unmarshal([]byte(at["budgets"]), &w.known) != nil || w.known == nil {
		w.known = map[string]string{}
	}
	var err error
	w.left, err = a.budgets(ctx)
	return w, err
}

// answer is a page with its bookmark.
func (w *walk) answer(records []connectorkit.Record) connectorkit.Page {
	text, err := json.Marshal(w.known, json.Deterministic(true))
	if err != nil {
		text = []byte("{}") // a map of texts has no such error
	}
	out := connectorkit.Page{Records: records, Next: connectorkit.Cursor{"budgets": string(text)}, More: len(w.left) > 0}
	if out.More {
		w.step++
		out.Next["step"] = strconv.Itoa(w.step)
	}
	return out
}

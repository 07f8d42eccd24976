package status

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"golang.org/x/net/html"
)

// Every scenario, on the overview and on its own page: what is asked beside the first
// action is counted and listed in the verdict's order, and nothing is promised where
// there is no more.
//
//pdpp:tier unraced
func TestFurtherActionsAreCountedAndListed(t *testing.T) {
	k := newKeeper(everyScenario(t)...)
	h := serve(k)
	all, err := k.Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	board := page(t, h, "/sources")
	several := 0
	for i := range all.Connections {
		c := &all.Connections[i]
		var kinds []string
		for _, a := range c.Verdict.RequiredActions[min(1, len(c.Verdict.RequiredActions)):] {
			kinds = append(kinds, string(a.Kind))
		}
		if len(kinds) > 0 {
			several++
		}
		for where, within := range map[string]*html.Node{
			"overview": find(board, "id", "row-"+c.ID)[0],
			"its page": find(page(t, h, "/sources/"+url.PathEscape(c.ID)), "id", "verdict")[0],
		} {
			var listed []string
			for _, n := range find(within, "data-more-action", "") {
				kind, _ := attr(n, "data-more-action")
				listed = append(listed, kind)
			}
			if !slices.Equal(listed, kinds) {
				t.Errorf("%s: %s lists %v, the verdict has %v", c.ID, where, listed, kinds)
			}
			summary := ""
			for n := range within.Descendants() {
				if n.Data == "summary" {
					summary = textOf(n)
				}
			}
			want := ""
			if len(kinds) > 0 {
				want = fmt.Sprintf("+%d more", len(kinds))
			}
			if summary != want {
				t.Errorf("%s: %s says %q, want %q", c.ID, where, summary, want)
			}
		}
	}
	if several < 2 {
		t.Errorf("only %d scenarios ask for more than one thing", several)
	}
}

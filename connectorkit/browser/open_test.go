package browser

import (
	"context"
	"slices"
	"testing"

	"pdpp/protocol"
)

// TestSignIn: an owner signs in once; later runs use that session.
func TestSignIn(t *testing.T) {
	web := newSite(t)
	b := roomFor(t, web)
	var open *Browser
	known := web.known()
	inner := known.Probe
	known.Probe = func(ctx context.Context, p *Page) (State, error) {
		open = p.b
		return inner(ctx, p)
	}
	r := play(t, shelf(known, nil), b, runOptions{answer: func(q *protocol.Interaction) protocol.ResponseStatus {
		if err := typeIn(within(t, 10e9), open, "ada"); err != nil {
			t.Error(err)
		}
		must(t, open.showing().current().untilAt(within(t, 10e9), "/home"))
		return protocol.ResponseSuccess
	}})
	t.Log(r.stderr)
	t.Logf("%+v", r)
	if !slices.Equal(r.records, []string{"0", "1", "2"}) || len(r.questions) != 1 {
		t.Errorf("%v %v", r.records, r.questions)
	}
}

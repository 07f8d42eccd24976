package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// decider keeps how the owner answered an app.
type decider struct {
	api.Owner
	id      string
	decided api.Decision
}

func (d *decider) Decide(_ context.Context, id string, decided api.Decision) (string, error) {
	d.id, d.decided = id, decided
	return "https://app.example/back?code=pear", nil
}

// An app is answered as the owner says, and the address where it goes on is the result.
func TestDecideAboutAnApp(t *testing.T) {
	env, out, errOut := testEnv(t, nil)
	a := &app{env: env, out: out, errOut: errOut}
	until := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	o := &decider{}
	if err := a.decide(t.Context(), o, "req_1", api.Decision{Approve: true, GrantEnd: api.GrantEnd{ExpiresAt: &until}}); err != nil {
		t.Fatal(err)
	}
	if o.id != "req_1" || !o.decided.Approve || o.decided.ExpiresAt != &until || out.String() != "https://app.example/back?code=pear\n" || !strings.HasPrefix(errOut.String(), "Approved.") {
		t.Errorf("%+v, %q, %q", o, out, errOut)
	}
	a.json = true
	out.Reset()
	if err := a.decide(t.Context(), o, "req_2", api.Decision{}); err != nil || o.decided.Approve || !strings.Contains(out.String(), `"approved":false`) {
		t.Errorf("%v, %+v, %q", err, o, out)
	}
}

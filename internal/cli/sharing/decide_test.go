package sharing

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// recordingOwner keeps how the owner answered an app.
type recordingOwner struct {
	api.Owner
	id      string
	decided api.Decision
}

func (d *recordingOwner) Decide(_ context.Context, id string, decided api.Decision) (string, error) {
	d.id, d.decided = id, decided
	return "https://app.example/back?code=pear", nil
}

// The app gets the owner's decision, and the command prints the address where the app continues.
func TestDecideAboutAnApp(t *testing.T) {
	var out, errOut bytes.Buffer
	inv := &command.Invocation{Out: &out, ErrOut: &errOut}
	until := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	o := &recordingOwner{}
	if err := decideRequest(t.Context(), inv, o, "req_1",
		api.Decision{Approve: true, GrantEnd: api.GrantEnd{ExpiresAt: &until}}); err != nil {
		t.Fatal(err)
	}
	if o.id != "req_1" || !o.decided.Approve || o.decided.ExpiresAt != &until ||
		out.String() != "https://app.example/back?code=pear\n" || !strings.HasPrefix(errOut.String(), "Approved.") {
		t.Errorf("%+v, %q, %q", o, out.String(), errOut.String())
	}
	inv.JSON = true
	out.Reset()
	if err := decideRequest(t.Context(), inv, o, "req_2", api.Decision{}); err != nil || o.decided.Approve ||
		!strings.Contains(out.String(), `"approved":false`) {
		t.Errorf("%v, %+v, %q", err, o, out.String())
	}
}

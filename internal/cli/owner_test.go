package cli

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/keep/backup"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func TestDescribeOwner(t *testing.T) {
	tests := []struct {
		err  error
		code string
		exit int
	}{
		{api.NotFound("There is no such thing.", "Look."), api.CodeNotFound, ExitNotFound},
		{api.Invalid("label", "That is wrong.", "Fix it."), api.CodeInvalid, ExitUsage},
		{&api.Error{Status: 401, Code: api.CodeUnauthenticated, Message: "No."}, api.CodeUnauthenticated, ExitOwner},
		{&api.Error{Status: 409, Code: api.CodeRunActive, Message: "Busy.", RunID: "run_1"}, api.CodeRunActive, ExitActive},
		{&api.Error{Status: 503, Code: api.CodeUnreachable, Message: "Gone.", Next: "Wait."}, api.CodeUnreachable, ExitStorage},
		{&api.Error{Status: 503, Code: "storage_full", Message: "Full.", Next: "Wait."}, "storage_full", ExitStorage},
		{&api.Error{Status: 409, Code: api.CodeRevoked, Message: "Over.", Next: "Connect."}, api.CodeRevoked, ExitFailed},
		{&api.Error{Status: 503, Message: "x", Err: &store.FaultError{Fault: store.FaultLocked, Err: errors.New("y")}}, "storage_locked", ExitStorage},
		{&fault.Fault{Code: backup.CodeWrongKey, Message: "m", Next: "n"}, backup.CodeWrongKey, ExitOwner},
		{&fault.Fault{Code: backup.CodeHomeInUse, Message: "m", Next: "n"}, backup.CodeHomeInUse, ExitActive},
		{&fault.Fault{Code: backup.CodeDamaged, Message: "m", Next: "n"}, backup.CodeDamaged, ExitFailed},
	}
	for _, tt := range tests {
		e := describe(fmt.Errorf("wrapped: %w", tt.err))
		if e.Code != tt.code || e.Exit != tt.exit || e.Message == "" || e.Next == "" {
			t.Errorf("%v: %+v, want %s %d", tt.err, e, tt.code, tt.exit)
		}
	}
}

// Pages give exactly what a limit asks for, whatever sizes the service gives.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, limit := rapid.IntRange(0, 400).Draw(t, "total"), rapid.IntRange(1, 500).Draw(t, "limit")
		given := 0
		page, err := pages(limit, "", func(n int, cursor string) (api.RecordPage, error) {
			if n < 1 || n > mostPerPage || (cursor == "") != (given == 0) {
				t.Fatalf("asked for %d with cursor %q after %d", n, cursor, given)
			}
			n = min(n, total-given)
			given += n
			p := api.RecordPage{Records: make([]api.Record, n)}
			if given < total {
				p.Next = fmt.Sprint(given)
			}
			return p, nil
		})
		if err != nil || len(page.Records) != min(total, limit) || (page.Next != "") != (limit < total) {
			t.Fatalf("%d records, next %q, %v", len(page.Records), page.Next, err)
		}
	})
}

func TestExpiry(t *testing.T) {
	env, _, _ := testEnv(t, nil)
	a := &app{env: env}
	for text, want := range map[string]time.Time{
		"30d": env.Now().Add(30 * 24 * time.Hour), "90m": env.Now().Add(90 * time.Minute), "2027-01-02T03:04:05Z": time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC),
	} {
		got, err := a.expiry(text)
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"soon", "-3d", "0d", "d", "99999999999d", "-1h"} {
		if got, err := a.expiry(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got, err := a.expiry(""); got != nil || err != nil {
		t.Errorf("nothing: %v, %v", got, err)
	}
}

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		".SH x": `\&.SH x`, "'x": `\&'x`, `a\b`: `a\eb`, "--json": `\-\-json`, "a\n.b": "a\n\\&.b",
	} {
		if got := roff(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got, want := roffText("one\n\n  two\nthree"), "one\n.PP\n.nf\n  two\n.fi\nthree\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

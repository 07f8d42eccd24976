package foreign_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A credential that the provider exchanges is stored before the run continues, however the program reports it:
// the next run has it, and no copy remains.
//
//pdpp:tier unraced
func TestRotatedCredential(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"singer", "airbyte"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var b *bed
			variable := "PDPP_LEDGER_TOKEN"
			if kind == "singer" {
				b = newBed(t, "rotates", nil)
			} else {
				b, variable = sourceBed(t, "rotates", nil), "PDPP_LEDGER_CREDENTIALS_TOKEN"
			}
			delete(b.env, variable)
			key := credential.NewKey()
			values := credential.Values{variable: credential.NewSecret("tok-hush")}
			err := b.store.PutCredential(t.Context(), store.Credential{
				ConnectionID: connectortest.Connection,
				Kind:         "token",
				Sealed: values.SealFor(
					key,
					connectortest.Connection,
				),
				Status:     store.CredentialActive,
				CapturedAt: time.Now().Truncate(time.Second),
			})
			if err != nil {
				t.Fatal(err)
			}
			b.launcher.Secrets = launch.StoredSecrets(b.store, key)
			want := "tok-hush"
			for run := 1; run <= 3; run++ {
				result := b.run(launch.RunRequest{})
				if result.Status != runner.Succeeded {
					t.Fatalf("run %d: %s: %v\n%s", run, result.Status, result.Failure, result.StderrTail)
				}
				want += "+"
				stored, err := b.launcher.Secrets(t.Context(), connectortest.Connection)
				if err != nil || stored.Values[variable] != want {
					t.Errorf("run %d: %q is stored, want %q: %v", run, stored.Values[variable], want, err)
				}
				for _, e := range result.Events {
					if strings.Contains(string(e.Data), "hush") {
						t.Errorf("the run keeps %s", e.Data)
					}
				}
			}
		})
	}
}

// One that cannot be stored ends the run, and the owner is asked for it.
//
//pdpp:tier unraced
func TestRotatedCredentialIsLost(t *testing.T) {
	t.Parallel()
	b := newBed(t, "rotates", nil) // its token is a variable of the server's machine
	result := b.run(launch.RunRequest{})
	if result.Status != runner.Failed || !strings.Contains(result.Failure.Message, "could not be stored") ||
		result.DoneError.Code != "auth_failure" {
		t.Errorf("%s: %v", result.Status, result.Failure)
	}
}

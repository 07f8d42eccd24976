package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// The token that the store keeps, and the one that is in the environment.
const storedToken, commonToken = "swordfish-of-this-connection", "barnacle-of-everybody"

func init() {
	roles["is refused"] = func(c *connector) {
		fmt.Fprintln(os.Stderr, "signed in with "+os.Getenv("SAMPLE_TOKEN")+" in "+os.Getenv("SAMPLE_REGION"))
		failure := &protocol.DoneError{Code: os.Getenv("SAMPLE_CLIENT_SECRET"), Message: "not with " +
			os.Getenv("SAMPLE_TOKEN")}
		if failure.Code == "hint" {
			failure.Code, failure.RecoveryHint = "", &protocol.RecoveryHint{Action: protocol.RefreshCredentials}
		}
		c.say(&protocol.Done{Status: protocol.DoneFailed, Error: failure})
		os.Exit(1)
	}
}

// keep stores a credential of the connection.
func (b *bed) keep(t *testing.T, key credential.Key, captured time.Time, values map[string]string) {
	t.Helper()
	v := credential.Values{}
	for name, value := range values {
		v[name] = credential.NewSecret(value)
	}
	if err := b.store.PutCredential(t.Context(), store.Credential{
		ConnectionID: connection, Kind: "token", Sealed: v.SealFor(key, connection), Fingerprint: key.FingerprintOf(v),
		Status: store.CredentialActive, CapturedAt: captured,
	}); err != nil {
		t.Fatal(err)
	}
}

// runStored executes a run with the credential from the store.
func (b *bed) runStored(t *testing.T, role string, key credential.Key) RunResult {
	t.Helper()
	l := b.launcher(t, role)
	l.Secrets = StoredSecrets(b.store, key)
	r, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bed) standing(t *testing.T) store.Credential {
	t.Helper()
	c, err := b.store.Credential(t.Context(), connection)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStoredCredentialReachesTheConnector(t *testing.T) {
	b, key := newBed(t), credential.NewKey()
	b.env["SAMPLE_TOKEN"], b.env["SAMPLE_REGION"] = commonToken, "north"
	b.keep(t, key, time.Now().Add(-time.Hour), map[string]string{
		"SAMPLE_TOKEN": storedToken, "UNDECLARED": "1", "PDPP_OWNER_PASSWORD": "x", "PATH": "/forged",
		"PDPP_RUN_ID": "forged",
	})
	l := b.launcher(t, "echoes")
	l.Secrets = StoredSecrets(b.store, key)
	r, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	mustSucceed(t, r)
	rec, err := b.store.Record(t.Context(), connection, "notes", "env")
	if err != nil {
		t.Fatal(err)
	}
	env := string(rec.Data)
	for _, want := range []string{"SAMPLE_TOKEN=" + storedToken, "SAMPLE_REGION=north"} {
		if !strings.Contains(env, want) {
			t.Errorf("the environment lacks %s: %s", want, env)
		}
	}
	for _, never := range []string{commonToken, "UNDECLARED", "PDPP_OWNER_PASSWORD", "forged"} {
		if strings.Contains(env, never) {
			t.Errorf("the environment has %s in it: %s", never, env)
		}
	}
	if c := b.standing(t); c.Status != store.CredentialActive {
		t.Errorf("credential after a success = %+v", c)
	}
}

func TestConnectionWithoutACredential(t *testing.T) {
	b, key := newBed(t), credential.NewKey()
	b.env["SAMPLE_TOKEN"] = commonToken
	secrets := StoredSecrets(b.store, key)
	if v, err := secrets(t.Context(), connection); v.Values != nil || err != nil {
		t.Errorf("secrets of a connection without any = %v, %v", v, err)
	}
	mustSucceed(t, b.runStored(t, "collects", key))
	b.keep(t, key, time.Now(), map[string]string{"SAMPLE_TOKEN": storedToken})
	c := b.standing(t)
	c.Status = store.CredentialRevoked
	if err := b.store.PutCredential(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if v, err := secrets(t.Context(), connection); v.Values != nil || err != nil {
		t.Errorf("secrets of a connection whose credential was revoked = %v, %v", v, err)
	}
}

// A credential that cannot be decrypted ends the run before the connector starts, and the message names the missing
// key.
func TestUnreadableCredentialFailsTheRun(t *testing.T) {
	b, key, other := newBed(t), credential.NewKey(), credential.NewKey()
	b.keep(t, key, time.Now(), map[string]string{"SAMPLE_TOKEN": storedToken})
	r := b.runStored(t, "collects", other)
	if r.Status != runner.Failed || r.ExitCode != -1 || r.Failure.Reason != ReasonCredential ||
		!errors.Is(r.Failure.Err, credential.ErrWrongKey) {
		t.Fatalf("run ended as %s: %v", r.Status, r.Failure)
	}
	row := b.row(t, r.RunID)
	if row.Status != store.RunFailed || row.FailureReason != string(ReasonCredential) || row.TerminalReason != "runtime" ||
		!strings.Contains(row.Error, "sealed with key "+key.Fingerprint()) ||
		!strings.Contains(row.Error, "Put key "+key.Fingerprint()+" back") {
		t.Errorf("run = %+v", row)
	}
	if keys := b.keys(t); len(keys) > 0 {
		t.Errorf("a run without its credential collected %v", keys)
	}
	if _, err := b.store.ActiveLease(t.Context(), connection); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the lease is still held: %v", err)
	}
	if c := b.standing(t); c.Status != store.CredentialActive {
		t.Errorf("credential that nobody refused = %+v", c)
	}
	mustSucceed(t, b.runStored(t, "collects", key))
}

func TestSecretsThatFailOtherwise(t *testing.T) {
	b := newBed(t)
	fail := func(ctx context.Context, err error) RunResult {
		l := b.launcher(t, "collects")
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		l.Secrets = func(context.Context, string) (Secrets, error) {
			if errors.Is(err, context.Canceled) {
				stop()
			}
			return Secrets{}, fmt.Errorf("read the stored credential: %w", err)
		}
		r, runErr := l.Run(ctx, RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
		if runErr != nil {
			t.Fatal(runErr)
		}
		return r
	}
	if r := fail(t.Context(), &store.FaultError{Fault: store.FaultLocked, Where: "pdpp.db",
		Err: errors.New("busy")}); r.Failure.Reason != runner.ReasonStorage ||
		!strings.Contains(r.Failure.Message, "storage_locked") || !strings.Contains(r.Failure.Message, "try again") {
		t.Errorf("a store that is locked: %v", r.Failure)
	}
	if r := fail(t.Context(), context.Canceled); r.Status != runner.Cancelled ||
		r.Failure.Reason != runner.ReasonShutdown {
		t.Errorf("a shutdown meanwhile: %s, %v", r.Status, r.Failure)
	}
}

func TestRefusalIsDurable(t *testing.T) {
	for message, want := range map[string]string{
		"auth_failure": "auth_failure", "lantern_session_required": "lantern_session_required", "hint": "refresh_credentials",
		"credentials_missing": "",
		"provider_down":       "",
	} {
		t.Run(message, func(t *testing.T) {
			b, key := newBed(t), credential.NewKey()
			b.keep(t, key, time.Now().Add(-time.Hour),
				map[string]string{"SAMPLE_TOKEN": storedToken, "SAMPLE_REGION": "region-of-this-one"})
			b.env["SAMPLE_CLIENT_SECRET"] = message
			r := b.runStored(t, "is refused", key)
			if r.Status != runner.Failed || r.Failure.Reason != runner.ReasonConnectorFailed {
				t.Fatalf("run ended as %s: %v", r.Status, r.Failure)
			}
			// The region is not declared as a secret; as a part of the credential it is one.
			if strings.Contains(r.StderrTail+r.Failure.Message, "of-this") ||
				!strings.Contains(r.StderrTail, "signed in with [redacted] in [redacted]") {
				t.Errorf("stderr tail = %q, failure = %v", r.StderrTail, r.Failure)
			}
			c := b.standing(t)
			if refused := c.Status == store.CredentialRejected; refused != (want != "") || c.RejectionReason != want ||
				refused && c.RejectedAt == nil {
				t.Errorf("credential = %+v", c)
			}
			b.mustNotHold(t, storedToken)
		})
	}
}

// Only the credential that the run used is marked as rejected.
func TestRefusalIsForTheCredentialThatWasUsed(t *testing.T) {
	key := credential.NewKey()
	// The clock of the storing machine may be behind, so that times do not show the order.
	for name, at := range map[string]time.Duration{"replaced meanwhile": 0,
		"replaced meanwhile, by a late clock": -time.Minute} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.env["SAMPLE_CLIENT_SECRET"] = "auth_failure"
			b.keep(t, key, time.Now().Add(-time.Hour), map[string]string{"SAMPLE_TOKEN": storedToken})
			l := b.launcher(t, "is refused")
			stored := StoredSecrets(b.store, key)
			l.Secrets = func(ctx context.Context, id string) (Secrets, error) {
				given, err := stored(ctx, id)
				// the owner enters another one
				b.keep(t, key, time.Now().Add(at), map[string]string{"SAMPLE_TOKEN": "a-newer-token"})
				return given, err
			}
			if _, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual}); err != nil {
				t.Fatal(err)
			}
			if c := b.standing(t); c.Status != store.CredentialActive {
				t.Errorf("the new credential = %+v", c)
			}
		})
	}
	t.Run("revoked meanwhile", func(t *testing.T) {
		b := newBed(t)
		b.env["SAMPLE_CLIENT_SECRET"] = "auth_failure"
		b.keep(t, key, time.Now().Add(-time.Hour), map[string]string{"SAMPLE_TOKEN": storedToken})
		l := b.launcher(t, "is refused")
		stored := StoredSecrets(b.store, key)
		l.Secrets = func(ctx context.Context, id string) (Secrets, error) {
			given, err := stored(ctx, id)
			c := b.standing(t)
			c.Status = store.CredentialRevoked
			if err := b.store.PutCredential(ctx, c); err != nil {
				t.Error(err)
			}
			return given, err
		}
		if _, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual}); err != nil {
			t.Fatal(err)
		}
		if c := b.standing(t); c.Status != store.CredentialRevoked {
			t.Errorf("the revoked credential = %+v", c)
		}
	})
	t.Run("taken away meanwhile", func(t *testing.T) {
		b := newBed(t)
		b.env["SAMPLE_CLIENT_SECRET"] = "auth_failure"
		l := b.launcher(t, "is refused")
		l.Secrets = func(context.Context, string) (Secrets, error) {
			return Secrets{Values: map[string]string{"SAMPLE_TOKEN": storedToken}}, nil
		}
		if _, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual}); err != nil {
			t.Error(err)
		}
	})
	t.Run("from the environment", func(t *testing.T) {
		b := newBed(t)
		b.env["SAMPLE_CLIENT_SECRET"], b.env["SAMPLE_TOKEN"] = "auth_failure", commonToken
		b.keep(t, key, time.Now().Add(-time.Hour), map[string]string{"SAMPLE_TOKEN": storedToken})
		b.run(t, "is refused", RunRequest{})
		if c := b.standing(t); c.Status != store.CredentialActive {
			t.Errorf("a credential that was not used = %+v", c)
		}
	})
}

// The evidence shows the rejection even after the run was deleted.
func TestRefusalIsEvidence(t *testing.T) {
	b, key := newBed(t), credential.NewKey()
	b.env["SAMPLE_CLIENT_SECRET"] = "auth_failure"
	b.keep(t, key, time.Now().Add(-time.Hour), map[string]string{"SAMPLE_TOKEN": storedToken})
	b.runStored(t, "is refused", key)
	all, err := b.store.Evidence(t.Context(), evidence.Query{ConnectionIDs: []string{connection}})
	if err != nil || len(all) != 1 {
		t.Fatalf("evidence = %+v, %v", all, err)
	}
	all[0].LastRun = nil
	if refusal, is := all[0].CredentialRefusal(time.Now()); !is || refusal.Fault != evidence.CredentialRefused {
		t.Errorf("refusal = %+v, %v", refusal, is)
	}
}

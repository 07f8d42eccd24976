package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ReasonCredential ends a run when its stored credential cannot be decrypted. The connector is not started: without
// its variables it would report a misleading reason.
const ReasonCredential runner.Reason = "credential_unreadable"

// StoredSecrets returns a function for Launcher.Secrets that reads credentials from the store. A connection without a
// credential, or with a revoked one, has none. A rejected credential is still used: the provider may accept it again,
// and only a successful run shows that.
func StoredSecrets(kept store.Credentials, key credential.Key) func(ctx context.Context, connectionID string) (Secrets,
	error) {
	return func(ctx context.Context, connectionID string) (Secrets, error) {
		c, err := kept.Credential(ctx, connectionID)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && c.Status == store.CredentialRevoked:
			return Secrets{SourceKey: key.For(connectionID)}, nil
		case err != nil:
			return Secrets{}, fmt.Errorf("read the stored credential: %w", err)
		}
		values, err := credential.OpenFor(key, connectionID, c.Sealed)
		if err != nil {
			return Secrets{}, err
		}
		return Secrets{Values: values.Reveal(), SourceKey: key.For(connectionID), CapturedAt: c.CapturedAt,
			Rotate: func(ctx context.Context, changed map[string]string) error {
				for name, value := range changed {
					values[name] = credential.NewSecret(value)
				}
				c.Sealed, c.Fingerprint = values.SealFor(key, connectionID), key.FingerprintOf(values)
				return kept.RotateCredential(ctx, c)
			}}, nil
	}
}

// Secrets is a stored credential, by the names of its variables, and which one it is.
type Secrets struct {
	Values     map[string]string
	CapturedAt time.Time
	// SourceKey is the connection's own key, for marks that only it can make; empty when
	// there is none.
	SourceKey string
	// Rotate replaces some of the values, for a provider that exchanged them; nil means
	// that nothing is stored which could be replaced.
	Rotate func(ctx context.Context, changed map[string]string) error
	// Renew returns fresh values for credentials that the provider rejects. Nil means that there are none.
	Renew func(ctx context.Context) (map[string]string, error)
}

// storedSecrets are those of one run; without values when there are none.
func (l *Launcher) storedSecrets(ctx context.Context, conn store.Connection, c catalog.Connector) (Secrets, error) {
	if l.Tokens != nil && c.Manifest.OAuth() != nil {
		return l.accessTokens(ctx, conn, c)
	}
	if l.Secrets == nil {
		return Secrets{}, nil
	}
	return l.Secrets(ctx, conn.ID)
}

// connectorCommand builds the child's environment: what is stored for the connection
// wins over what the owner set for every one, and a limit over both. Every stored
// value but a path is a secret to the runner, whatever its variable is called.
func (l *Launcher) connectorCommand(c catalog.Connector, own, limits, stored map[string]string) childprocess.Command {
	cmd := c.Command(own, func(name string) (string, bool) {
		if value, ok := limits[name]; ok {
			return value, true
		}
		if value, ok := stored[name]; ok {
			return value, true
		}
		if l.Lookup == nil {
			return "", false
		}
		return l.Lookup(name)
	})
	paths := map[string]bool{}
	for _, p := range c.Manifest.ReadPaths() {
		paths[p.PathEnv] = true
	}
	for name, value := range stored {
		if value != "" && !paths[name] { // messages may name the location of files
			cmd.Secrets = append(cmd.Secrets, value)
		}
	}
	return cmd
}

// withoutCredential is the end of a run that could not get its credential.
func withoutCredential(ctx context.Context, err error) runner.Outcome {
	f := &runner.Failure{Reason: ReasonCredential, Origin: runner.OriginRuntime, Err: err,
		Message: "the stored credential cannot be opened: " + err.Error()}
	out := runner.Outcome{Status: runner.Failed, Failure: f, ExitCode: -1}
	if withoutToken(&out, err) {
		return out
	}
	var unusable *store.FaultError
	switch {
	case ctx.Err() != nil:
		f.Reason, f.Message, out.Status = runner.ReasonShutdown, "the runtime is shutting down", runner.Cancelled
	case errors.As(err, &unusable):
		f.Reason, f.Origin, f.Message = runner.ReasonStorage, runner.OriginStorage, err.Error()
	}
	var fault interface{ NextStep() string }
	if ctx.Err() == nil && errors.As(err, &fault) {
		f.Message += ". " + fault.NextStep()
	}
	return out
}

// noteRefusal stores that the provider rejected the credential of the run, because another run would be rejected too.
// The connector reports it and the evidence rules decide. A credential that was replaced during the run is not marked.
func (l *Launcher) noteRefusal(ctx context.Context, connectionID string, used time.Time, o runner.Outcome) error {
	if o.Status != runner.Failed || o.DoneError == nil {
		return nil
	}
	failure := evidence.Failure{Code: o.DoneError.Code, Retryable: o.DoneError.Retryable}
	if hint := o.DoneError.RecoveryHint; hint != nil {
		failure.Action = hint.Action
	}
	if failure.CredentialFault() != evidence.CredentialRefused {
		return nil
	}
	if kept, err := l.Store.Credential(ctx, connectionID); err == nil && kept.Status == store.CredentialRejected &&
		providerauth.Words(kept.RejectionReason) != "" {
		return nil // while the run went on no fresh token was to be had, and it is known better why
	}
	reason := failure.Code // the protocol lets through nothing but a code
	if reason == "" {
		reason = string(failure.Action)
	}
	err := l.Store.RejectCredential(ctx, connectionID, reason, used, l.now())
	if err != nil && !errors.Is(err, store.ErrNotFound) { // not found: taken away, replaced or revoked meanwhile
		return fmt.Errorf("record that the credential was refused: %w", err)
	}
	return nil
}

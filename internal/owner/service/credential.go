package service

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/manifest"
)

// CredentialForm is what a connector asks for: its own form, or one field for each
// variable that it cannot sign in without. It has no fields when nothing is asked for.
func CredentialForm(m *manifest.Manifest) manifest.CredentialCapture { return declaration.Form(m) }

// sealed is a credential that was checked and awaits its connection.
type sealed struct {
	kind   manifest.CredentialKind
	values credential.Values
	key    credential.Key
}

// enter checks what was entered into a connector's form, by the names of its fields.
// It gives nil for a connector that asks for nothing.
func (s *Service) enter(m *manifest.Manifest, entered map[string]string) (*sealed, error) {
	form := CredentialForm(m)
	given := map[string]string{}
	empty := !slices.ContainsFunc(form.Fields, func(f manifest.CredentialField) bool { return entered[f.Name] != "" })
	for _, f := range form.Fields {
		if f.Required && entered[f.Name] == "" && (!empty || form.IsRequired()) {
			return nil, incomplete(f.Name, "A value for "+f.Label+" is missing.")
		}
		for _, name := range f.Env {
			if entered[f.Name] != "" {
				given[name] = entered[f.Name]
			}
		}
	}
	for name := range entered {
		if !hasField(form, name) {
			return nil, incomplete(name, "The connector does not ask for this field.")
		}
	}
	if len(given) == 0 {
		if len(form.Fields) > 0 && required(form) {
			return nil, incomplete(form.Fields[0].Name, "Nothing was entered.")
		}
		return nil, nil
	}
	values, err := credential.NewValues(m, given)
	var wrong *fault.Fault
	if errors.As(err, &wrong) {
		return nil, incomplete("", text.Sentence(wrong.Message))
	}
	if err != nil {
		return nil, faults.Error(err, "check the credential")
	}
	key, err := s.Key()
	if err != nil {
		return nil, faults.Error(err, "load the key that seals credentials")
	}
	return &sealed{kind: form.Kind, values: values, key: key}, nil
}

func hasField(form manifest.CredentialCapture, name string) bool {
	for _, f := range form.Fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

func required(form manifest.CredentialCapture) bool {
	for _, f := range form.Fields {
		if f.Required {
			return true
		}
	}
	return false
}

func incomplete(field, message string) *api.Error {
	return &api.Error{Status: http.StatusBadRequest, Code: api.CodeCredentialForm, Param: field, Message: message, Next: "Correct the form and send it again."}
}

func (s *Service) keep(ctx context.Context, connectionID string, c *sealed) error {
	err := s.Store.PutCredential(ctx, store.Credential{
		ConnectionID: connectionID, Kind: string(c.kind), Sealed: c.values.SealFor(c.key, connectionID),
		Fingerprint: c.key.FingerprintOf(c.values), Status: store.CredentialActive, CapturedAt: s.Now(),
	})
	return faults.Error(err, "store the credential")
}

// SetCredential replaces the credential. A worker that waits for it confirms it with
// one run; where none waits for it, the run is asked for here.
func (s *Service) SetCredential(ctx context.Context, id string, fields map[string]string) error {
	conn, err := s.find.Active(ctx, id)
	if err != nil {
		return err
	}
	m, err := s.find.Declared(ctx, conn.ConnectorID)
	if err != nil {
		return err
	}
	c, err := s.enter(m, fields)
	if err != nil {
		return err
	}
	if c == nil {
		return incomplete("", "Nothing was entered.")
	}
	if err := s.keep(ctx, id, c); err != nil {
		return err
	}
	return s.confirm(ctx, id)
}

// credentialOf tells what is known of a stored credential; nil when none is stored.
func (s *Service) credentialOf(ctx context.Context, connectionID string) (*api.Credential, error) {
	c, err := s.Store.Credential(ctx, connectionID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, faults.Error(err, "read the credential")
	}
	return &api.Credential{Kind: c.Kind, Status: string(c.Status), CapturedAt: c.CapturedAt, RejectedAt: c.RejectedAt,
		RejectionReason: c.RejectionReason, Fingerprint: c.Fingerprint}, nil
}

// RemoveCredential deletes the stored credential. What it was good for has been collected
// and stays.
func (s *Service) RemoveCredential(ctx context.Context, id string) error {
	if _, err := s.find.Connection(ctx, id); err != nil {
		return err
	}
	c, err := s.credentialOf(ctx, id)
	if err != nil {
		return err
	}
	if c == nil {
		return api.NotFound("The connection has no stored credential.", "Store one first.")
	}
	return faults.Error(s.Store.DeleteCredential(ctx, id), "remove the credential")
}

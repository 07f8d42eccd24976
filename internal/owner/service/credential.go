package service

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// CredentialForm is what a connector asks for: its own form, or one field for each
// variable that it cannot sign in without. It has no fields when nothing is asked for.
func CredentialForm(m *manifest.Manifest) manifest.CredentialCapture {
	return declaration.CredentialForm(m)
}

// sealedFields is a credential that was checked and awaits its connection.
type sealedFields struct {
	kind   manifest.CredentialKind
	values credential.Values
	key    credential.Key
}

// checkEnteredFields validates the values that were entered into a connector's form, by field name. It returns nil
// for a connector without fields.
func (s *Service) checkEnteredFields(m *manifest.Manifest, entered map[string]string) (*sealedFields, error) {
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
		if !declaresField(form, name) {
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
	var wrong *usererr.Error
	if errors.As(err, &wrong) {
		return nil, incomplete("", text.Sentence(wrong.Message))
	}
	if err != nil {
		return nil, faults.OwnerError(err, "check the credential")
	}
	key, err := s.Key()
	if err != nil {
		return nil, faults.OwnerError(err, "load the key that seals credentials")
	}
	return &sealedFields{kind: form.Kind, values: values, key: key}, nil
}

func declaresField(form manifest.CredentialCapture, name string) bool {
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
	return &api.Error{Status: http.StatusBadRequest, Code: api.CodeCredentialForm, Param: field, Message: message,
		Next: "Correct the form and send it again."}
}

func (s *Service) storeCredential(ctx context.Context, connectionID string, c *sealedFields) error {
	err := s.Store.PutCredential(ctx, store.Credential{
		ConnectionID: connectionID, Kind: string(c.kind), Sealed: c.values.SealFor(c.key, connectionID),
		Fingerprint: c.key.FingerprintOf(c.values), Status: store.CredentialActive, CapturedAt: s.Now(),
	})
	return faults.OwnerError(err, "store the credential")
}

// SetCredential replaces the credential. A worker that waits for it confirms it with
// one run; where none waits for it, the run is asked for here.
func (s *Service) SetCredential(ctx context.Context, id string, fields map[string]string) error {
	conn, err := s.find.ActiveConnection(ctx, id)
	if err != nil {
		return err
	}
	m, err := s.find.DeclaredManifest(ctx, conn.ConnectorID)
	if err != nil {
		return err
	}
	c, err := s.checkEnteredFields(m, fields)
	if err != nil {
		return err
	}
	if c == nil {
		return incomplete("", "Nothing was entered.")
	}
	if found, err := s.find.Connectors.Find(ctx, conn.ConnectorID); err == nil {
		if err := s.checkSettings(ctx, found, fields); err != nil {
			return err
		}
	}
	if err := s.storeCredential(ctx, id, c); err != nil {
		return err
	}
	return s.requestCheckRun(ctx, id)
}

// credentialOf returns what is known about a stored credential; nil when none is stored.
func (s *Service) credentialOf(ctx context.Context, connectionID string) (*api.Credential, error) {
	c, err := s.Store.Credential(ctx, connectionID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, faults.OwnerError(err, "read the credential")
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
	return faults.OwnerError(s.Store.DeleteCredential(ctx, id), "remove the credential")
}

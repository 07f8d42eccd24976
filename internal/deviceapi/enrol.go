package deviceapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

const (
	tokenBytes   = 32
	tokenLength  = len(wire.TokenPrefix) + 43
	longestLabel = 100
)

func (a *api) enrolRoutes() []reply.Route {
	return []reply.Route{{Pattern: "POST " + wire.Root + "/enroll", Handle: a.answered(a.enrol)}}
}

// enrol adds a device by a code. If the request has a device token, the source is added to that device.
func (a *api) enrol(w http.ResponseWriter, r *http.Request) error {
	if err := protocolFits(r); err != nil {
		return err
	}
	var joins caller
	if r.Header.Get("Authorization") != "" {
		var err error
		if joins, err = a.caller(r); err != nil {
			return err
		}
	}
	var asked struct {
		wire.Enrollment
		DeviceLabelToo string `json:"deviceLabel"` // as some collectors spell it
	}
	if !read(w, r, &asked) {
		return nil
	}
	var code store.DeviceCode
	err := a.Strangers.InTurn(r, func(ctx context.Context) (err error) {
		return a.trial(r, func() (bool, error) {
			code, err = a.Store.DeviceCode(ctx, digest(asked.Code))
			if errors.Is(err, store.ErrNotFound) {
				return false, nil
			}
			return err == nil, err
		})
	})
	if err != nil {
		return err
	}
	if code.ID == "" {
		return refusedCode(r, store.ErrNotFound)
	}
	scope, err := narrow(code.Scope, asked.CollectionScope)
	if err != nil {
		return err
	}
	found, err := a.Connectors.Find(r.Context(), code.ConnectorID)
	if err != nil {
		return fmt.Errorf("find the connector of a code: %w", err)
	}
	body, err := found.Manifest.JSON()
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	now := a.Now()
	e := store.Enrolment{
		CodeHash: code.Hash, Address: tokenqueue.Origin(r), Joins: joins.Device.ID, DeviceID: newID("dexp_"),
		SourceID: newID("dsrc_"), CredentialID: newID("dcred_"),
		Label:        label(cmp.Or(asked.DeviceLabel, asked.DeviceLabelToo)),
		AgentVersion: text.Cut(text.Line(asked.AgentVersion), longestLabel), ProtocolVersion: wire.ProtocolVersion,
		ConnectionName: cmp.Or(code.DisplayName, found.Manifest.DisplayName), Scope: scope,
	}
	token := newToken()
	e.TokenHash = digest(token)
	if e.ManifestGeneration, err = a.Store.PutManifest(r.Context(), found.Name, body, now); err != nil {
		return fmt.Errorf("record the manifest: %w", err)
	}
	done, err := a.Store.EnrolDevice(r.Context(), e, now)
	if store.IsPermanentError(err) {
		return refusedCode(r, err)
	}
	if err != nil {
		return fmt.Errorf("enrol the device: %w", err)
	}
	if done.Joined {
		token = "" // the device keeps its token
	}
	by := caller{Device: store.Device{ID: done.Source.DeviceID, DisplayName: cmp.Or(joins.Device.DisplayName, e.Label)}}
	a.Audit.Record(audit.WithActor(r.Context(), by.actor(r)), audit.Entry{Kind: audit.DeviceAdd,
		Object: done.Source.ConnectionID, ObjectName: done.Source.DisplayName})
	answer := wire.Enrolled{
		Object: wire.ObjectEnrollment, DeviceID: done.Source.DeviceID, DeviceToken: token, SourceInstanceID: done.Source.ID,
		ConnectorInstanceID: done.Source.ConnectionID, ConnectorID: done.Source.ConnectorID,
		LocalBindingName: done.Source.LocalBinding,
	}
	if len(done.Source.Scope) > 0 {
		if err := json.Unmarshal(done.Source.Scope, &answer.CollectionScope); err != nil {
			return fmt.Errorf("read the scope: %w", err)
		}
	}
	reply.JSON(w, http.StatusCreated, answer)
	return nil
}

// refusedCode returns the fault for a code that was not accepted.
func refusedCode(r *http.Request, err error) error {
	const next = "Make a new code: add a device in the console, or with pdpp devices add."
	switch {
	case errors.Is(err, store.ErrCodeExpired):
		return &usererr.Error{Status: http.StatusGone, Code: wire.CodeEnrollmentExpired, Param: "enrollment_code",
			Message: "This code has expired.", Next: next}
	case errors.Is(err, store.ErrDeviceLimit):
		return &usererr.Error{Status: http.StatusConflict, Code: "device_limit_reached",
			Next: "Revoke one that is not used any more.",
			Message: fmt.Sprintf("There are as many devices or sources as there may be: %d devices, %d sources on each.",
				store.MaxDevices, store.MaxSourcesPerDevice)}
	case errors.Is(err, store.ErrCodeUsed):
		return &usererr.Error{Status: http.StatusBadRequest, Code: wire.CodeEnrollmentUsed, Param: "enrollment_code",
			Message: "This code was used or cancelled before.", Next: next}
	default:
		return &usererr.Error{Status: http.StatusBadRequest, Code: wire.CodeEnrollmentInvalid, Param: "enrollment_code",
			Message: "There is no such code.", Next: next}
	}
}

// label returns the name of the device as the owner sees it.
func label(message string) string {
	return cmp.Or(text.Cut(text.Line(message), longestLabel), "Device")
}

func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

func newToken() string {
	secret := make([]byte, tokenBytes)
	rand.Read(secret) // never fails
	return wire.TokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
}

package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// draftTime is how long a sign-in at a provider may be left unfinished.
const draftTime = 24 * time.Hour

// Connect adds a connection. Everything that was entered is checked before anything is kept. Until all of it is kept,
// and until the owner has consented at a provider that asks for it, the connection is a draft: no list has it and no
// worker looks at it. One that could not be completed is taken back.
func (s *Service) Connect(ctx context.Context, c api.Connect) (api.Detail, error) {
	found, err := s.find.Connectors.Find(ctx, c.ConnectorID)
	if err != nil {
		if ctx.Err() != nil {
			return api.Detail{}, ctx.Err()
		}
		e := faults.ConnectorNotInstalled(err)
		e.Param = "connector_id"
		return api.Detail{}, e
	}
	m := found.Manifest
	if declaration.CollectsOnDevice(m) {
		return api.Detail{}, api.Invalid("connector_id", m.DisplayName+" is collected on one of your devices, not here.",
			"Add a device that collects it: in the console, or with pdpp devices add.")
	}
	name, err := declaration.DisplayName(c.DisplayName, m.DisplayName)
	if err != nil {
		return api.Detail{}, err
	}
	entered, err := s.checkEnteredFields(m, c.Fields)
	if err != nil {
		return api.Detail{}, err
	}
	if err := s.checkSettings(ctx, found, c.Fields); err != nil {
		return api.Detail{}, err
	}
	rhythm, err := firstSchedule(m.RefreshPolicy(), c.Schedule)
	if err != nil {
		return api.Detail{}, err
	}
	var chosen store.Selection
	if c.Selection != nil {
		if chosen, err = validateSelection(m, *c.Selection, nil); err != nil {
			return api.Detail{}, err
		}
	}
	if err := s.mayConfirm(ctx, found); err != nil {
		return api.Detail{}, err
	}
	if err := s.Store.DiscardDrafts(ctx, "", s.Now().Add(-draftTime)); err != nil {
		return api.Detail{}, faults.OwnerError(err, "delete unfinished connections")
	}
	conn, err := NewConnection(ctx, s.Store, found, name, store.ConnectionDraft, s.Now())
	if err != nil {
		return api.Detail{}, faults.OwnerError(err, "make the connection")
	}
	if chosen.Profile != "" || len(chosen.Streams) > 0 {
		err = s.keepSelection(ctx, conn.ID, m, chosen)
	}
	if err == nil {
		err = s.completeConnection(ctx, conn, entered, rhythm)
	}
	if err == nil && m.OAuth() == nil {
		err = s.putInUse(ctx, conn)
	}
	if err == nil && m.OAuth() == nil && !c.AwaitFile { // the sign-in asks for the first run, or the first file
		err = s.requestManualRun(ctx, conn.ID)
	}
	if err != nil {
		return api.Detail{}, errors.Join(err, s.Revoke(context.WithoutCancel(ctx), conn.ID))
	}
	return s.Connection(ctx, conn.ID)
}

// mayConfirm returns why a connection to an unconfirmed connector may not be made by this caller:
// the first connection confirms its program.
func (s *Service) mayConfirm(ctx context.Context, found catalog.Connector) error {
	if found.Builtin {
		return nil
	}
	_, err := s.Store.ConfirmedConnector(ctx, found.Name)
	if errors.Is(err, store.ErrNotFound) {
		return s.MayConfirm(ctx, found.Name)
	}
	return faults.OwnerError(err, "read what was confirmed")
}

// completeConnection keeps what belongs to a draft.
func (s *Service) completeConnection(ctx context.Context, conn store.Connection, entered *sealedFields,
	rhythm *api.Schedule) error {
	if entered != nil {
		if err := s.storeCredential(ctx, conn.ID, entered); err != nil {
			return err
		}
	}
	if rhythm != nil {
		return s.putSchedule(ctx, conn.ID, *rhythm)
	}
	return nil
}

// putInUse ends the draft.
func (s *Service) putInUse(ctx context.Context, conn store.Connection) error {
	conn.Status, conn.UpdatedAt = store.ConnectionActive, s.Now()
	return faults.OwnerError(s.Store.UpdateConnection(ctx, conn), "put the connection in use")
}

// ConnectionStore is what a new connection needs of the store.
type ConnectionStore interface {
	store.Connections
	store.Confirmations
}

// NewConnection creates a connection with a readable id, cin_<connector>_<n>. It stores the connector's manifest, so
// that the streams are known before the first run. The first connection of a foreign connector confirms it in its
// current state. A confirmed connector that has changed since must be confirmed again by the owner.
func NewConnection(ctx context.Context, st ConnectionStore, found catalog.Connector, name string,
	status store.ConnectionStatus, now time.Time) (store.Connection, error) {
	c := store.Connection{
		ConnectorID: found.Name, DisplayName: name, Status: status,
		SourceKind: sourceKind(found.Manifest), CreatedAt: now, UpdatedAt: now,
	}
	body, err := found.Manifest.JSON()
	if err != nil {
		return c, fmt.Errorf("encode the manifest: %w", err)
	}
	if c.ManifestGeneration, err = st.PutManifest(ctx, found.Name, body, now); err != nil {
		return c, fmt.Errorf("record the manifest: %w", err)
	}
	if _, err := st.ConfirmedConnector(ctx, found.Name); errors.Is(err, store.ErrNotFound) && !found.Builtin {
		if err := launch.Confirm(ctx, st, found, now); err != nil {
			return c, fmt.Errorf("confirm the connector: %w", err)
		}
	}
	for n := 1; ; n++ {
		c.ID = fmt.Sprintf("cin_%s_%d", found.Name, n)
		if err := st.CreateConnection(ctx, c); !errors.Is(err, store.ErrExists) {
			return c, err
		}
	}
}

func sourceKind(m *manifest.Manifest) store.SourceKind {
	if m.Setup == nil {
		return store.SourceAccount
	}
	switch m.Setup.Modality {
	case manifest.ModalityBrowserSession:
		return store.SourceBrowser
	case manifest.ModalityManualOrUpload:
		return store.SourceManual
	default:
		return store.SourceAccount
	}
}

// Rename changes the display name of a connection.
func (s *Service) Rename(ctx context.Context, id, name string) error {
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return err
	}
	if conn.DisplayName, err = declaration.DisplayName(name, ""); err != nil {
		return err
	}
	conn.UpdatedAt = s.Now()
	return faults.OwnerError(s.Store.UpdateConnection(ctx, conn), "rename the connection")
}

// requestManualRun leaves a request for one run, which waits for a worker where there is none.
func (s *Service) requestManualRun(ctx context.Context, id string) error {
	_, err := s.Store.RequestRun(ctx, store.RunRequest{ConnectionID: id, Trigger: store.TriggerManual,
		RequestedAt: s.Now()})
	s.Asked()
	return faults.OwnerError(err, "ask for the run")
}

// requestCheckRun sees to it that what the owner fixed is tried by one run. Where they were
// asked to fix it, the watcher of that record asks for the run.
func (s *Service) requestCheckRun(ctx context.Context, id string) error {
	open, err := s.Store.Attention(ctx, store.AttentionQuery{ConnectionIDs: []string{id}})
	if err != nil {
		return faults.OwnerError(err, "read what was asked")
	}
	if slices.ContainsFunc(open,
		func(r attention.AttentionRecord) bool { return r.Contract == string(verdict.CredentialPresent) }) {
		return nil
	}
	return s.requestManualRun(ctx, id)
}

package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// deletionUndoPeriod is how long a deletion can be undone.
const deletionUndoPeriod = 7 * 24 * time.Hour

// parseDeletionScope checks what is to be deleted.
func (s *Service) parseDeletionScope(ctx context.Context, r api.DeletionRequest) (c store.DeletionScope, err error) {
	c = store.DeletionScope{Kind: store.DeletionKind(r.Scope), ConnectionID: r.ConnectionID, Stream: r.Stream, Key: r.Key}
	var needs, takes []string // fields of the request
	switch c.Kind {
	case store.DeleteEverything:
	case store.DeleteConnection:
		needs = []string{"connection_id"}
	case store.DeleteStream:
		needs = []string{"connection_id", "stream"}
	case store.DeleteRange:
		takes = []string{"connection_id", "stream", "since", "until"}
	case store.DeleteRecord:
		needs = []string{"connection_id", "stream", "key"}
	default:
		return c, api.Invalid("scope", "The kind of deletion is not known.",
			"Use everything, connection, stream, range or record.")
	}
	for name, value := range map[string]string{"connection_id": r.ConnectionID, "stream": r.Stream, "since": r.Since,
		"until": r.Until, "key": r.Key} {
		switch {
		case value == "" && slices.Contains(needs, name):
			return c, api.Invalid(name, "The request does not name what to delete.", "Name it in "+name+".")
		case value != "" && !slices.Contains(needs, name) && !slices.Contains(takes, name):
			return c, api.Invalid(name, "A deletion of this kind does not use this field.", "Leave it out.")
		}
	}
	if c.Kind == store.DeleteRange {
		if r.Since == "" && r.Until == "" {
			return c, api.Invalid("since", "A range needs a beginning or an end.",
				"Name a date in since or until, or delete the whole connection.")
		}
		if r.Stream != "" && r.ConnectionID == "" {
			return c, api.Invalid("connection_id", "The connection is missing.", "Name it in connection_id.")
		}
		if c.Since, err = parseRangeBound("since", r.Since); err != nil {
			return c, err
		}
		if c.Until, err = parseRangeBound("until", r.Until); err != nil {
			return c, err
		}
		if c.Since != "" && c.Until != "" && c.Since >= c.Until {
			return c, api.Invalid("until", "The range ends before it begins.", "Choose a later end.")
		}
	}
	if c.ConnectionID != "" {
		_, err = s.find.Connection(ctx, c.ConnectionID)
	}
	return c, err
}

// parseRangeBound is a bound of a range as semantic times are kept.
func parseRangeBound(param, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	_, stored, ok := protocol.SemanticTime(text)
	if !ok {
		return "", api.Invalid(param, "This is not a date or time.",
			"Write a date like 2026-03-04, or a time like 2026-03-04T12:00:00Z.")
	}
	return stored, nil
}

// PreviewDeletion counts what a deletion would remove.
func (s *Service) PreviewDeletion(ctx context.Context, r api.DeletionRequest) (api.Deletion, error) {
	c, err := s.parseDeletionScope(ctx, r)
	if err != nil {
		return api.Deletion{}, err
	}
	n, err := s.Store.PreviewDeletion(ctx, c)
	if err != nil {
		return api.Deletion{}, faults.OwnerError(err, "count what would be deleted")
	}
	d := store.Deletion{DeletionScope: c, DeletionCounts: n, AskedAt: s.Now(), PurgeAfter: s.purgeAfter(r)}
	return s.receiptOf(ctx, d, statePreview)
}

const statePreview = "preview"

func (s *Service) purgeAfter(r api.DeletionRequest) time.Time {
	if r.Now {
		return s.Now()
	}
	return s.Now().Add(deletionUndoPeriod)
}

// Delete ends the connections that are deleted whole, and hides what is to be deleted.
func (s *Service) Delete(ctx context.Context, r api.DeletionRequest) (api.Deletion, error) {
	c, err := s.parseDeletionScope(ctx, r)
	if err != nil {
		return api.Deletion{}, err
	}
	ending := []string{}
	switch c.Kind {
	case store.DeleteConnection:
		ending = append(ending, c.ConnectionID)
	case store.DeleteEverything:
		all, err := s.Store.ListConnections(ctx)
		if err != nil {
			return api.Deletion{}, faults.OwnerError(err, "list the connections")
		}
		for _, conn := range all {
			ending = append(ending, conn.ID)
		}
	}
	for _, id := range ending {
		if err := s.Revoke(ctx, id); err != nil {
			return api.Deletion{}, err
		}
	}
	id := "del_" + strings.ToLower(rand.Text()[:16])
	err = s.Store.RequestDeletion(ctx,
		store.Deletion{ID: id, DeletionScope: c, AskedAt: s.Now(), PurgeAfter: s.purgeAfter(r)})
	if errors.Is(err, store.ErrNotFound) {
		return api.Deletion{}, api.NotFound("There is nothing to delete under that name.",
			"List what is there: pdpp streams, pdpp records.")
	}
	if err != nil {
		return api.Deletion{}, faults.OwnerError(err, "delete")
	}
	return s.advanceDeletion(ctx, id)
}

// advanceDeletion works on deletions for a while and returns how one of them is then.
func (s *Service) advanceDeletion(ctx context.Context, id string) (api.Deletion, error) {
	until := time.Now().Add(s.DeletionTime)
	for idle := false; !idle && (s.DeletionTime <= 0 || time.Now().Before(until)); {
		var err error
		if idle, err = s.WorkOnDeletions(ctx); err != nil {
			return api.Deletion{}, faults.OwnerError(err, "delete")
		}
	}
	return s.DeletionByID(ctx, id)
}

// WorkOnDeletions does one step of what there is to do. Idle reports that there was nothing to do.
func (s *Service) WorkOnDeletions(ctx context.Context) (idle bool, err error) {
	if err := s.removeImports(ctx); err != nil {
		return false, err
	}
	if idle, err = s.Store.AdvanceDeletion(ctx, s.Now()); err != nil || !idle {
		return false, err
	}
	files, err := s.Store.DeletedFiles(ctx, deletedFilesPerStep)
	if err != nil {
		return false, err
	}
	for _, hash := range files {
		if err := s.removeFile(ctx, hash); err != nil {
			return false, err
		}
	}
	if len(files) > 0 {
		return false, nil
	}
	return true, s.Store.FinishDeletions(ctx, s.Now())
}

const deletedFilesPerStep = 100

// removeFile removes a file and its small picture, unless a record has come to refer to it again.
func (s *Service) removeFile(ctx context.Context, hash string) error {
	err := s.Store.LockUnknownBlob(ctx, hash, func() error {
		if s.Files == nil {
			return nil
		}
		return s.Files.Remove(ctx, hash)
	})
	if err == nil && s.ForgetPicture != nil {
		err = s.ForgetPicture(hash)
	}
	if err != nil {
		return err
	}
	return s.Store.FileDeleted(ctx, hash)
}

// removeImports removes the files that were imported into connections which are about to be purged whole.
func (s *Service) removeImports(ctx context.Context) error {
	all, err := s.Store.Deletions(ctx, "")
	if err != nil {
		return err
	}
	for _, d := range all {
		if d.State != store.DeletionHidden || s.Now().Before(d.PurgeAfter) || d.Kind != store.DeleteConnection &&
			d.Kind != store.DeleteEverything {
			continue
		}
		connections, err := s.Store.ListConnections(ctx)
		if err != nil {
			return err
		}
		for _, conn := range connections {
			if d.Kind == store.DeleteConnection && conn.ID != d.ConnectionID || conn.Status != store.ConnectionRevoked {
				continue
			}
			if err := s.FileImports.RemoveFiles(ctx, conn); err != nil {
				return err
			}
		}
	}
	return nil
}

func deletionFault(err error, doing string) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return api.NotFound("There is no such deletion.", "Choose one of those that pdpp deletions lists.")
	case errors.Is(err, store.ErrTooLate):
		return &api.Error{Status: http.StatusConflict, Code: api.CodeTooLate, Err: err,
			Message: "This deletion is finished or can no longer be changed.", Next: "See its state: pdpp deletions."}
	case errors.Is(err, store.ErrRunActive):
		return &api.Error{Status: http.StatusConflict, Code: api.CodeRunActive, Err: err,
			Message: "A run of this connection is under way.", Next: "Try again when it has ended, or stop it: pdpp cancel."}
	}
	return faults.OwnerError(err, doing)
}

// UndoDeletion restores what is hidden.
func (s *Service) UndoDeletion(ctx context.Context, id string) (api.Deletion, error) {
	if err := s.Store.UndoDeletion(ctx, id, s.Now()); err != nil {
		return api.Deletion{}, deletionFault(err, "undo the deletion")
	}
	return s.advanceDeletion(ctx, id)
}

// PurgeDeletion ends the time in which a deletion can be undone.
func (s *Service) PurgeDeletion(ctx context.Context, id string) (api.Deletion, error) {
	if err := s.Store.PurgeDeletion(ctx, id, s.Now()); err != nil {
		return api.Deletion{}, deletionFault(err, "delete for good")
	}
	return s.advanceDeletion(ctx, id)
}

// CollectDeleted lets runs store again what a deletion keeps out.
func (s *Service) CollectDeleted(ctx context.Context, id string) (api.Deletion, error) {
	if err := s.Store.ReadmitDeleted(ctx, id, s.Now()); err != nil {
		return api.Deletion{}, deletionFault(err, "collect it again")
	}
	return s.DeletionByID(ctx, id)
}

// DeletionByID returns one receipt.
func (s *Service) DeletionByID(ctx context.Context, id string) (api.Deletion, error) {
	d, err := s.Store.Deletion(ctx, id)
	if err != nil {
		return api.Deletion{}, deletionFault(err, "read the deletion")
	}
	return s.receiptOf(ctx, d, string(d.State))
}

// Deletions lists the receipts.
func (s *Service) Deletions(ctx context.Context) ([]api.Deletion, error) {
	all, err := s.Store.Deletions(ctx, "")
	if err != nil {
		return nil, faults.OwnerError(err, "list the deletions")
	}
	out := make([]api.Deletion, len(all))
	for i, d := range all {
		if out[i], err = s.receiptOf(ctx, d, string(d.State)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// EndedConnections lists the connections that collect no more, those that ended last first.
func (s *Service) EndedConnections(ctx context.Context) ([]api.EndedConnection, error) {
	all, err := s.Store.ListConnections(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the connections")
	}
	streams, err := s.Store.Streams(ctx, "")
	if err != nil {
		return nil, faults.OwnerError(err, "count the records")
	}
	deletions, err := s.Store.Deletions(ctx, "")
	if err != nil {
		return nil, faults.OwnerError(err, "list the deletions")
	}
	out := []api.EndedConnection{}
	for _, conn := range all {
		if conn.Status != store.ConnectionRevoked {
			continue
		}
		e := api.EndedConnection{ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, DisplayName: conn.DisplayName,
			EndedAt: conn.UpdatedAt}
		for _, st := range streams {
			if st.ConnectionID == conn.ID {
				e.Records += st.Records
			}
		}
		for _, d := range deletions {
			of := d.Kind == store.DeleteConnection && d.ConnectionID == conn.ID || d.Kind == store.DeleteEverything &&
				!d.AskedAt.Before(conn.CreatedAt)
			if !of || d.State == store.DeletionUndone {
				continue
			}
			deletion, err := s.receiptOf(ctx, d, string(d.State))
			if err != nil {
				return nil, err
			}
			e.Deletion = &deletion
			break
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out,
		func(a, b api.EndedConnection) int { return cmp.Compare(b.EndedAt.UnixNano(), a.EndedAt.UnixNano()) })
	return out, nil
}

package deviceapi

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/protocol"
)

func (a *api) stateRoutes() []reply.Route {
	const state = wire.Root + "/{device}/source-instances/{source}/state"
	return []reply.Route{
		{Pattern: "GET " + state, Handle: a.source(a.readState)},
		{Pattern: "PUT " + state, Handle: a.source(a.putState)},
	}
}

// capabilities returns what this server supports beyond version 1.
func (a *api) capabilities() []string {
	all := []string{wire.CanGzip, wire.CanBatchState, wire.CanLeaseGaps, wire.CanRotateToken, wire.CanTerminalFacts,
		wire.CanAnswerDrift}
	if a.keepsFiles() {
		all = append(all, wire.CanBlobs)
	}
	return all
}

// readState returns the cursors of a source.
func (a *api) readState(w http.ResponseWriter, r *http.Request, c caller) error {
	cursors, err := a.Store.Cursors(r.Context(), c.Connection.ID, "")
	if err != nil {
		return fmt.Errorf("read the bookmarks: %w", err)
	}
	state := map[string]jsontext.Value{}
	for _, cur := range cursors {
		state[stateKey(cur.Stream, cur.Mode)] = cur.Cursor
	}
	if len(c.Source.Scope) > 0 {
		state[wire.ScopeKey] = c.Source.Scope
	}
	deletions, err := a.Store.Deletions(r.Context(), c.Connection.ID)
	if err != nil {
		return fmt.Errorf("read the deletions: %w", err)
	}
	var deleted []string
	for _, d := range deletions {
		if d.BlocksStream() {
			deleted = append(deleted, d.Stream)
		}
	}
	if len(deleted) > 0 {
		if state[wire.DeletedKey], err = json.Marshal(deleted); err != nil {
			return err
		}
	}
	now := a.Now().UTC()
	reply.JSON(w, http.StatusOK, wire.State{
		Object: wire.ObjectState, DeviceID: c.Device.ID, SourceInstanceID: c.Source.ID,
		ConnectorInstanceID: c.Connection.ID, State: state,
		Capabilities: a.capabilities(), Limits: wire.Limits{BodyBytes: maxUpload, BlobBytes: a.BlobBytes},
		ServerTime: &now, MaxBatchSeq: c.Source.MaxBatchSeq,
	})
	return nil
}

func stateKey(stream string, mode protocol.CursorMode) string {
	if mode == protocol.CatchUp {
		return stream + wire.CatchUpMark
	}
	return stream
}

// putState stores cursors by key. Cursors that are stored already do not open a run.
func (a *api) putState(w http.ResponseWriter, r *http.Request, c caller) error {
	var m wire.StateUpdate
	if !read(w, r, &m) {
		return nil
	}
	if m.State == nil {
		return invalid("state", "There is no state.")
	}
	g, err := a.gatesOf(r.Context(), c)
	if err != nil {
		return err
	}
	moves, unknown := g.cursors(m.State)
	if unknown != "" {
		return invalid("state", "The connector declares no such stream.")
	}
	have, err := a.Store.Cursors(r.Context(), c.Connection.ID, "")
	if err != nil {
		return fmt.Errorf("read the bookmarks: %w", err)
	}
	moves = slices.DeleteFunc(moves, func(move slice.Cursor) bool {
		return slices.ContainsFunc(have, func(cur store.Cursor) bool {
			return cur.Stream == move.Stream && cur.Mode == move.Mode && string(cur.Cursor) == string(move.Cursor)
		})
	})
	u := store.Upload{Uploader: a.uploader(c, g), After: m.AfterBatchID}
	u.Cursors = moves
	if len(moves) > 0 || m.AfterBatchID != "" {
		if _, err := a.Store.CommitUpload(r.Context(), u, a.Now()); err != nil {
			return uploadFault(err)
		}
	}
	return a.readState(w, r, c)
}

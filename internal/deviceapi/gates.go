package deviceapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/gate"
	"github.com/pdpp-go/pdpp/protocol"
)

// gates decides what a connector may send, by its manifest on this server.
type gates struct {
	manifest *manifest.Manifest
	scope    string
	streams  map[string]*gate.Stream
	specs    []store.StreamSpec
}

// gatesOf returns the gates of a caller's source. The server's manifest becomes that of the connection.
func (a *api) gatesOf(ctx context.Context, c caller) (*gates, error) {
	found, err := a.Connectors.Find(ctx, c.Source.ConnectorID)
	if errors.Is(err, catalog.ErrUnknownConnector) {
		return nil, mismatch("The server does not know the connector.")
	}
	if err != nil {
		return nil, fmt.Errorf("find the connector: %w", err)
	}
	a.mu.Lock()
	known := a.gates[c.Source.ID]
	a.mu.Unlock()
	if known != nil && known.manifest == found.Manifest && known.scope == string(c.Source.Scope) {
		return known, nil
	}
	if err := launch.NoteManifest(ctx, a.Store, &c.Connection, found.Manifest, a.Now()); err != nil {
		return nil, err
	}
	g, err := newGates(found, c.Source.Scope)
	if err != nil {
		return nil, fmt.Errorf("gates of source %s: %w", c.Source.ID, err)
	}
	a.mu.Lock()
	a.gates[c.Source.ID] = g
	a.mu.Unlock()
	return g, nil
}

func newGates(c catalog.Connector, scope jsontext.Value) (*gates, error) {
	var most wire.CollectionScope
	if len(scope) > 0 {
		if err := json.Unmarshal(scope, &most); err != nil {
			return nil, fmt.Errorf("read the scope: %w", err)
		}
	}
	m := c.Manifest
	wanted := make([]protocol.StreamScope, len(m.Streams))
	for i := range m.Streams {
		wanted[i].Name = m.Streams[i].Name
		if m.Streams[i].ConsentTimeField != "" {
			wanted[i].TimeRange = most.TimeRange()
		}
	}
	all, err := gate.Resolve(m, wanted)
	if err == nil && !c.Builtin {
		gate.KeepKeys(all)
		err = gate.EnforceSchemas(all)
	}
	if err != nil {
		return nil, err
	}
	g := &gates{manifest: m, scope: string(scope), streams: make(map[string]*gate.Stream, len(all)),
		specs: launch.StreamSpecs(m)}
	for _, st := range all {
		g.streams[st.Decl.Name] = st
	}
	return g, nil
}

func mismatch(message string) error {
	return &usererr.Error{Status: http.StatusConflict, Code: wire.CodeManifestMismatch, Message: message,
		Next: "Update the server."}
}

// uploader returns a caller's source for the store.
func (a *api) uploader(c caller, g *gates) store.Uploader {
	return store.Uploader{DeviceID: c.Device.ID, CredentialID: c.Credential.ID, SourceID: c.Source.ID,
		Generation:   c.Source.Generation,
		ConnectionID: c.Connection.ID, ConnectorID: c.Connection.ConnectorID, RunID: newID("run_"), Streams: g.specs}
}

// sorted is the result of passing a batch's records through the gates.
type sorted struct {
	taken    []slice.Record
	missing  []slice.Gap
	rejected []wire.Rejection
	fixed    []wire.GapIdentity // records that may close gaps
}

// sort passes each record through its gate. A record that breaks a rule is left out with a gap. A record outside the
// scope is left out without one. An unknown stream rejects the batch: a newer server will accept it.
func (g *gates) sort(records jsontext.Value, now time.Time) (out sorted, err error) {
	decoder := protocol.NewDecoder(protocol.FromConnector)
	err = eachElement(records, func(n int, raw jsontext.Value) error {
		m, broken := decoder.Uploaded(raw)
		name, v := recordName{}, (*protocol.Violation)(nil)
		if broken != nil {
			v, _ = protocol.AsViolation(broken)
			if name = named(raw); name.Stream == "" || name.Key == "" {
				return invalid("records", fmt.Sprintf("Record %d has no stream or no key.", n))
			}
		} else {
			name = recordName{m.Stream, m.Key}
		}
		st := g.streams[name.Stream]
		if st == nil {
			return mismatch("The server does not know a stream of this batch.")
		}
		var r slice.Record
		if v == nil {
			r, v = runner.CheckRecord(st, m, now)
			r.Blobs = namedBlobs(m)
		}
		if v == nil {
			out.taken = append(out.taken, r)
			return nil
		}
		out.rejected = append(out.rejected, wire.Rejection{Index: n, Code: string(v.Subtype)})
		if v.Subtype != protocol.ResourceOutOfScope && v.Subtype != protocol.OutsideTimeRange {
			out.missing = append(out.missing, g.rejection(name.Stream, name.Key, v))
		}
		return nil
	})
	return out, err
}

// rejection returns the gap of a record that was left out.
func (g *gates) rejection(stream, key string, v *protocol.Violation) slice.Gap {
	content, err := json.Marshal(map[string]any{"class": v.Subtype, "message": v.Bounded().Error()},
		json.Deterministic(true))
	if err != nil {
		content = nil // the gap is stored without details
	}
	return slice.Gap{Stream: stream, ParentStream: g.parent(stream, ""), RecordKey: key,
		Reason: protocol.ReasonRecordRejected, Retryable: true, LastError: content}
}

// parent returns the parent stream of a gap. If the gap names none, it returns the stream's only
// declared parent, or the empty string if the stream does not have exactly one.
func (g *gates) parent(stream, message string) string {
	st := g.streams[stream]
	if st == nil || message != "" || len(st.Decl.ParentStreams) != 1 {
		return message
	}
	return st.Decl.ParentStreams[0]
}

type recordName struct {
	Stream string `json:"stream"`
	Key    string `json:"record_key"`
}

// named reads stream and key of a record that may be invalid otherwise.
func named(raw jsontext.Value) (n recordName) {
	if json.Unmarshal(raw, &n) != nil {
		return recordName{}
	}
	return n
}

// cursors returns the cursors of a state by stream. It skips the server's own keys. It returns the name of the first
// stream that is not declared.
func (g *gates) cursors(state map[string]jsontext.Value) (out []slice.Cursor, unknown string) {
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if strings.HasPrefix(key, wire.ServerKey) {
			continue
		}
		c := slice.Cursor{Stream: key, Mode: protocol.SteadyState, Cursor: state[key]}
		if name, catchUp := strings.CutSuffix(key, wire.CatchUpMark); catchUp {
			c.Stream, c.Mode = name, protocol.CatchUp
		}
		if g.streams[c.Stream] == nil {
			return nil, c.Stream
		}
		out = append(out, c)
	}
	return out, ""
}

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
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/gate"
	"github.com/pdpp-go/pdpp/protocol"
)

// gates is what a connector may send, as its manifest on this server says.
type gates struct {
	manifest *manifest.Manifest
	scope    string
	streams  map[string]*gate.Stream
	specs    []store.StreamSpec
}

// gatesOf gives the gates of a caller's source. The manifest that the server has decides,
// and becomes that of the connection.
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
	g := &gates{manifest: m, scope: string(scope), streams: make(map[string]*gate.Stream, len(all)), specs: launch.StreamSpecs(m)}
	for _, st := range all {
		g.streams[st.Decl.Name] = st
	}
	return g, nil
}

func mismatch(message string) error {
	return &fault.Fault{Status: http.StatusConflict, Code: wire.CodeManifestMismatch, Message: message, Next: "Update the server."}
}

// uploader names a caller's source to the store.
func (a *api) uploader(c caller, g *gates) store.Uploader {
	return store.Uploader{DeviceID: c.Device.ID, CredentialID: c.Credential.ID, SourceID: c.Source.ID, Generation: c.Source.Generation,
		ConnectionID: c.Connection.ID, ConnectorID: c.Connection.ConnectorID, RunID: newID("run_"), Streams: g.specs}
}

// sorted is what the gates made of a batch's records.
type sorted struct {
	taken    []slice.Record
	missing  []slice.Gap
	rejected []wire.Rejection
	fixed    []wire.GapIdentity // what gaps may stand for, and is there
}

// sort passes each record through its gate. One that its stream's rules refuse is left
// out alone and declared missing; one that nobody asked for is left out alone. A stream
// that the server does not know refuses all: a newer server will take it.
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
			r, v = runner.Take(st, m, now)
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

// rejection is the gap of a record that was left out.
func (g *gates) rejection(stream, key string, v *protocol.Violation) slice.Gap {
	said, err := json.Marshal(map[string]any{"class": v.Subtype, "message": v.Bounded().Error()}, json.Deterministic(true))
	if err != nil {
		said = nil // the reason stands without it
	}
	return slice.Gap{Stream: stream, ParentStream: g.parent(stream, ""), RecordKey: key, Reason: protocol.ReasonRecordRejected, Retryable: true, LastError: said}
}

// parent is the stream that lists what a gap of another stream is about: the one that is
// named, or the only one that is possible.
func (g *gates) parent(stream, said string) string {
	st := g.streams[stream]
	if st == nil || said != "" || len(st.Decl.ParentStreams) != 1 {
		return said
	}
	return st.Decl.ParentStreams[0]
}

type recordName struct {
	Stream string `json:"stream"`
	Key    string `json:"record_key"`
}

// named reads which record it is, of one that may be broken otherwise.
func named(raw jsontext.Value) (n recordName) {
	if json.Unmarshal(raw, &n) != nil {
		return recordName{}
	}
	return n
}

// cursors turns a state by stream into bookmarks. Keys that are the server's own are
// passed over; a stream that is not declared is none of them, and is named.
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

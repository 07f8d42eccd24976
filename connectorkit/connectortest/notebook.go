package connectortest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
	"pdpp/protocol"
)

// Notebook is a runner and a store in memory, for many runs of a connector in virtual time: what
// takes days at a provider takes seconds in a testing/synctest bubble. It keeps records, bookmarks
// and gaps as they are sent, and holds the connector to nothing; Bed does that.
type Notebook struct {
	Connector connectorkit.Connector
	Env       map[string]string
	Transport http.RoundTripper
	// Observe sees every message; nil sees none.
	Observe func(protocol.Message)

	Records map[string]map[string]jsontext.Value // by stream and key; nil data is a deletion
	state   map[string]jsontext.Value
	catchUp map[string]jsontext.Value
	gaps    map[string]*notedGap
	order   int
}

type notedGap struct {
	protocol.DetailGap
	order, attempts int
	open            bool
}

// Pending counts the gaps that wait.
func (n *Notebook) Pending() int {
	count := 0
	for _, g := range n.gaps {
		if g.open {
			count++
		}
	}
	return count
}

// Bookmark is the steady bookmark of a stream.
func (n *Notebook) Bookmark(stream string) string { return string(n.state[stream]) }

// Run makes one run and gives its end.
func (n *Notebook) Run(ctx context.Context) (*protocol.Done, error) {
	if n.Records == nil {
		n.Records, n.state, n.catchUp, n.gaps = map[string]map[string]jsontext.Value{}, map[string]jsontext.Value{}, map[string]jsontext.Value{}, map[string]*notedGap{}
	}
	start := &protocol.Start{
		RunID: "run_1", CollectionMode: protocol.Incremental, State: maps.Clone(n.state), CatchUpState: maps.Clone(n.catchUp),
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")},
	}
	for _, s := range n.Connector.Manifest.Streams {
		start.Scope.Streams = append(start.Scope.Streams, protocol.StreamScope{Name: s.Name})
	}
	served := map[string]bool{}
	start.DetailGaps = n.page(served)
	in, tell := io.Pipe()
	hear, out := io.Pipe()
	go func() {
		connectorkit.Run(ctx, n.Connector, connectorkit.Process{
			Stdin: in, Stdout: out, Stderr: io.Discard, Now: time.Now, Transport: n.Transport,
			Env: func(name string) string { return n.Env[name] },
		})
		out.Close()
	}()
	defer tell.Close()
	if err := say(tell, start); err != nil {
		return nil, err
	}
	lines, dec := protocol.NewLineReader(hear, 0), protocol.NewDecoder(protocol.FromConnector)
	var done *protocol.Done
	for {
		line, err := lines.Next()
		if err != nil {
			break // it has ended
		}
		m, err := dec.Decode(bytes.Clone(line))
		if err != nil {
			return nil, fmt.Errorf("read message: %w", err)
		}
		if n.Observe != nil {
			n.Observe(m)
		}
		switch m := m.(type) {
		case *protocol.Done:
			done = m
		case *protocol.DetailGapsPageRequest:
			err = say(tell, &protocol.DetailGapsPageResponse{RequestID: m.RequestID, ReferenceOnly: true, DetailGaps: n.page(served)})
		default:
			n.note(m)
		}
		if err != nil {
			return nil, err
		}
	}
	if done == nil {
		return nil, fmt.Errorf("the run ended without DONE")
	}
	return done, nil
}

func say(w io.Writer, m protocol.Message) error {
	line, err := protocol.AppendLine(nil, m)
	if err == nil {
		_, err = w.Write(line)
	}
	return err
}

func (n *Notebook) note(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.Record:
		if n.Records[m.Stream] == nil {
			n.Records[m.Stream] = map[string]jsontext.Value{}
		}
		n.Records[m.Stream][m.Key] = m.Data.Clone()
	case *protocol.State:
		if m.Mode == protocol.CatchUp {
			n.catchUp[m.Stream] = m.Cursor
		} else {
			n.state[m.Stream] = m.Cursor
		}
	case *protocol.DetailGap:
		key := string(m.RecordKey)
		g := n.gaps[key]
		if g == nil {
			n.order++
			g = &notedGap{order: n.order}
			n.gaps[key] = g
		}
		g.DetailGap, g.open = *m, m.Retryable
	case *protocol.DetailGapAttempted:
		n.gaps[m.GapID[len("gap:"):]].attempts++
	case *protocol.DetailGapRecovered:
		n.gaps[m.GapID[len("gap:"):]].open = false
	}
}

// page serves the next gaps: least attempted first, then oldest.
func (n *Notebook) page(served map[string]bool) []protocol.GapEntry {
	out := []protocol.GapEntry{}
	keys := slices.SortedFunc(maps.Keys(n.gaps), func(a, b string) int {
		x, y := n.gaps[a], n.gaps[b]
		return cmp.Or(cmp.Compare(x.attempts, y.attempts), cmp.Compare(x.order, y.order))
	})
	for _, key := range keys {
		g := n.gaps[key]
		if !g.open || served[key] || len(out) == 100 {
			continue
		}
		served[key] = true
		out = append(out, protocol.GapEntry{
			GapID: "gap:" + key, LeaseID: "lease", Stream: g.Stream, ParentStream: g.ParentStream, RecordKey: g.RecordKey,
			DetailLocator: g.DetailLocator, Status: protocol.GapPending, ReferenceOnly: true,
		})
	}
	return out
}

// Visitor is the network of a page without page and network: it asks a handler, and keeps
// cookies as a browser does on loopback.
type Visitor struct {
	Handler http.Handler
	Cookies map[string]string
}

// Cookie is what the site's scripts would read.
func (v *Visitor) Cookie(name string) string { return v.Cookies[name] }

// RoundTrip asks the handler.
func (v *Visitor) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range v.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	v.Handler.ServeHTTP(w, r)
	resp := w.Result()
	for _, c := range resp.Cookies() {
		v.Cookies[c.Name] = c.Value
	}
	return resp, nil
}

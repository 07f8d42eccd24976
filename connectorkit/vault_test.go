package connectorkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// vault is a runner and its store in memory. It keeps what a commit makes
// durable, so that several runs can follow each other, and it holds the
// connector to the rules of the protocol.
type vault struct {
	records map[string]map[string]string // stream, key, data; a tombstone is ""
	state   map[string]jsontext.Value
	catchUp map[string]jsontext.Value
	gaps    map[string]*vaultGap // by record key
	order   int
	// committed is called after every commit.
	committed func()
}

type vaultGap struct {
	protocol.DetailGap
	order    int
	status   protocol.GapStatus
	attempts int
}

func newVault() *vault {
	return &vault{
		records: map[string]map[string]string{}, state: map[string]jsontext.Value{},
		catchUp: map[string]jsontext.Value{}, gaps: map[string]*vaultGap{},
	}
}

// options shape one run.
type options struct {
	scope    []protocol.StreamScope // nil means every stream of the manifest
	mode     protocol.CollectionMode
	bindings []string
	env      map[string]string
	now      func() time.Time
	recovery bool
	pageSize int // gaps per recovery page; zero means 100
	crash    int // lines after which the runner dies; zero means never
	answer   func(*protocol.Interaction) *protocol.InteractionResponse
	log      io.Writer
	dir      string                   // the working directory; empty: that of the test
	fresh    func() map[string]string // credentials that replace refused ones; nil: there are none
}

// outcomeOf is what one run did.
type result struct {
	messages []protocol.Message
	exit     int
	done     *protocol.Done // nil when it crashed
}

// session is one run as the vault sees it.
type session struct {
	tb
	*vault
	o       options
	streams map[string]bool
	pending []func()
	served  map[string]bool
	leased  map[string]string // record key, lease
	tried   map[string]bool
	asking  bool
	records int64
	lanes   map[string]bool // detail streams with declared coverage
	result
}

// run plays one run to its end, or to its crash.
func (v *vault) run(t tb, c Connector, o options) result {
	t.Helper()
	s := &session{
		tb: t, vault: v, o: o, streams: map[string]bool{}, served: map[string]bool{},
		leased: map[string]string{}, tried: map[string]bool{}, lanes: map[string]bool{},
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	if s.o.now == nil {
		s.o.now = time.Now
	}
	if s.o.log == nil {
		s.o.log = io.Discard
	}
	exit := make(chan int, 1)
	go func() {
		exit <- Run(context.Background(), c, Process{
			Stdin: inR, Stdout: outW, Stderr: s.o.log, Now: s.o.now,
			Env: func(name string) string { return o.env[name] }, Dir: o.dir,
		})
		outW.Close()
	}()
	s.tell(inW, s.start(c))
	lines, dec := protocol.NewLineReader(outR, 0), protocol.NewDecoder(protocol.FromConnector)
	for n := 1; ; n++ {
		line, err := lines.Next()
		if err != nil {
			break
		}
		m, err := dec.Decode(bytes.Clone(line))
		if err != nil {
			t.Fatalf("line %d: %v\n%s", n, err, line)
		}
		if r, ok := m.(*protocol.Record); ok {
			m = r.Clone()
		}
		s.messages = append(s.messages, m)
		if n == o.crash {
			inW.Close()
			outR.Close()
			s.exit = <-exit
			return s.result
		}
		s.handle(m, inW)
	}
	inW.Close()
	s.exit = <-exit
	s.judge()
	return s.result
}

func (s *session) start(c Connector) *protocol.Start {
	m := &protocol.Start{
		RunID: "run_1", CollectionMode: s.o.mode, Scope: protocol.Scope{Streams: s.o.scope},
		State: maps.Clone(s.state), CatchUpState: maps.Clone(s.catchUp), RecoveryOnly: s.o.recovery,
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")},
	}
	switch s.o.mode {
	case "":
		m.CollectionMode = protocol.Incremental
	case protocol.FullRefresh:
		m.CatchUpState = nil
		for name, mark := range s.state {
			if delete(m.State, name); len(paceOn(mark)) > 0 {
				m.State[name] = runstate.EncodeBookmark(paceOn(mark))
			}
		}
	}
	if s.o.scope == nil {
		for _, st := range c.Manifest.Streams {
			m.Scope.Streams = append(m.Scope.Streams, protocol.StreamScope{Name: st.Name})
		}
	}
	for _, st := range m.Scope.Streams {
		s.streams[st.Name] = true
	}
	for _, b := range s.o.bindings {
		m.Bindings[b] = jsontext.Value("{}")
	}
	m.DetailGaps = s.page()
	return m
}

func (s *session) tell(w io.Writer, m protocol.Message) {
	line, err := protocol.AppendLine(nil, m)
	if err != nil {
		s.Fatalf("encode %s: %v", m.Type(), err)
	}
	if _, err := w.Write(line); err != nil && s.o.crash == 0 {
		s.Errorf("the connector closed stdin: %v", err)
	}
}

// page leases the next gaps: least attempted first, then oldest.
func (s *session) page() []protocol.GapEntry {
	out := []protocol.GapEntry{}
	keys := slices.SortedFunc(maps.Keys(s.gaps), func(a, b string) int {
		x, y := s.gaps[a], s.gaps[b]
		if x.attempts != y.attempts {
			return x.attempts - y.attempts
		}
		return x.order - y.order
	})
	size := s.o.pageSize
	if size == 0 {
		size = 100
	}
	for _, key := range keys {
		g := s.gaps[key]
		if g.status != protocol.GapPending || s.served[key] || !s.streams[g.Stream] || len(out) == size {
			continue
		}
		s.served[key] = true
		s.leased[key] = "lease:" + key
		out = append(out, protocol.GapEntry{
			GapID: "gap:" + key, LeaseID: s.leased[key], Stream: g.Stream, ParentStream: g.ParentStream,
			RecordKey: g.RecordKey, DetailLocator: g.DetailLocator, Status: protocol.GapPending, ReferenceOnly: true,
		})
	}
	return out
}

func (s *session) handle(m protocol.Message, w io.Writer) {
	if s.done != nil {
		s.Errorf("%s after DONE", m.Type())
	}
	if s.asking {
		s.Errorf("%s while an interaction is open", m.Type())
	}
	switch m := m.(type) {
	case *protocol.Record:
		s.inScope(m.Stream)
		s.outsideCoverage(m.Stream)
		s.records++
		s.pending = append(s.pending, func() {
			if s.vault.records[m.Stream] == nil {
				s.vault.records[m.Stream] = map[string]string{}
			}
			s.vault.records[m.Stream][m.Key] = string(m.Data)
		})
	case *protocol.State:
		s.inScope(m.Stream)
		s.pending = append(s.pending, func() {
			if m.Mode == protocol.CatchUp {
				s.catchUp[m.Stream] = m.Cursor
			} else {
				s.state[m.Stream] = m.Cursor
			}
		})
		s.commit()
		if m.Accounted != nil {
			s.accounted("STATE", m.Accounted)
		} else if m.Stream == "threads" && s.streams["messages"] {
			s.Errorf("STATE of an anchor has no account, so it would wait for the end of the run")
		}
	case *protocol.DetailGap:
		s.gap(m)
	case *protocol.DetailGapAttempted:
		s.holds(string(m.Type()), m.GapID, m.LeaseID)
		s.tried[m.GapID] = true
		key := strings.TrimPrefix(m.GapID, "gap:")
		s.pending = append(s.pending, func() { s.gaps[key].attempts++ })
	case *protocol.DetailGapRecovered:
		key := s.holds(string(m.Type()), m.GapID, m.LeaseID)
		s.wasTried(m.GapID)
		delete(s.leased, key)
		s.pending = append(s.pending, func() { s.gaps[key].status = protocol.GapRecovered })
		s.commit()
	case *protocol.DetailGapsPageRequest:
		s.commit()
		s.tell(w, &protocol.DetailGapsPageResponse{RequestID: m.RequestID, ReferenceOnly: true, DetailGaps: s.page()})
	case *protocol.DetailCoverage:
		s.inScope(m.Stream)
		s.inScope(m.StateStream)
		if s.lanes[m.Stream] {
			s.Errorf("a second DETAIL_COVERAGE of %s", m.Stream)
		}
		s.lanes[m.Stream] = true
		s.accounted("DETAIL_COVERAGE", &m.KeyCoverage)
	case *protocol.Interaction:
		s.asking = true
		if s.o.answer != nil {
			answer := s.o.answer(m)
			answer.RequestID = m.RequestID
			s.asking = false
			s.tell(w, answer)
		}
	case *protocol.SkipResult:
		if m.Stream != "" {
			s.inScope(m.Stream)
		}
	case *protocol.Progress:
		if m.Stream != "" {
			s.inScope(m.Stream)
		}
	case *protocol.CredentialRequest:
		answer := &protocol.CredentialResponse{RequestID: m.RequestID, Status: protocol.CredentialNotRenewed}
		if s.o.fresh != nil {
			answer.Status, answer.Values = protocol.CredentialRenewed, s.o.fresh()
		}
		s.tell(w, answer)
	case *protocol.Done:
		s.done = m
		if m.Status == protocol.DoneSucceeded {
			s.commit()
		}
	}
}

func (s *session) gap(m *protocol.DetailGap) {
	s.inScope(m.Stream)
	s.outsideCoverage(m.Stream)
	key := string(m.RecordKey)
	if m.GapID != "" {
		s.holds(string(m.Type()), m.GapID, m.LeaseID)
		s.wasTried(m.GapID)
		delete(s.leased, key)
	} else if s.leased[key] != "" {
		s.Errorf("gap %s is written past its own lease", key)
	}
	s.pending = append(s.pending, func() {
		g := s.gaps[key]
		if g == nil {
			s.order++
			g = &vaultGap{order: s.order}
			s.gaps[key] = g
		}
		g.DetailGap, g.status = *m, protocol.GapPending
		if !m.Retryable {
			g.status = protocol.GapTerminal
		}
	})
	if m.GapID != "" {
		s.commit()
	}
}

func (s *session) commit() {
	for _, f := range s.pending {
		f()
	}
	s.pending = nil
	if s.committed != nil {
		s.committed()
	}
}

func (s *session) inScope(stream string) {
	if !s.streams[stream] {
		s.Errorf("message for stream %q, which is out of scope", stream)
	}
}

func (s *session) outsideCoverage(stream string) {
	if s.lanes[stream] {
		s.Errorf("stream %s goes on after its DETAIL_COVERAGE", stream)
	}
}

func (s *session) holds(what, gapID, lease string) string {
	key := strings.TrimPrefix(gapID, "gap:")
	if s.leased[key] == "" || s.leased[key] != lease {
		s.Errorf("%s for %s, which this run does not hold", what, gapID)
	}
	return key
}

// gapWasTried holds a settlement to its attempt: a gap that was not tried must not
// look as if it was, or it runs out of attempts.
func (s *session) wasTried(gapID string) {
	if !s.tried[gapID] {
		s.Errorf("gap %s is settled without an attempt", gapID)
	}
}

// accounted holds the keys of a coverage against what is recorded.
func (s *session) accounted(what string, k *protocol.KeyCoverage) {
	done := map[string]bool{}
	for _, key := range slices.Concat(k.HydratedKeys, k.OptionalSkipKeys) {
		done[key] = true
	}
	for _, key := range k.RequiredKeys {
		if !done[key] && s.gaps[key] == nil {
			s.Errorf("%s leaves %s without an outcome", what, key)
		}
	}
}

func (s *session) judge() {
	s.Helper()
	if s.done == nil {
		return
	}
	if s.done.RecordsEmitted != s.records {
		s.Errorf("DONE says %d records, %d came", s.done.RecordsEmitted, s.records)
	}
	if (s.done.Status == protocol.DoneSucceeded) != (s.exit == 0) {
		s.Errorf("DONE %s and exit code %d", s.done.Status, s.exit)
	}
	for id := range s.tried {
		if s.leased[strings.TrimPrefix(id, "gap:")] != "" && s.done.Status == protocol.DoneSucceeded {
			s.Errorf("gap %s was attempted and has no outcome", id)
		}
	}
}

// pendingGaps returns the keys of gaps that wait, newest window last, sorted.
func (v *vault) pendingGaps() []string {
	var keys []string
	for key, g := range v.gaps {
		if g.status == protocol.GapPending {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// all returns the messages of one type in order.
func all[M protocol.Message](r result) []M {
	var out []M
	for _, m := range r.messages {
		if m, ok := m.(M); ok {
			out = append(out, m)
		}
	}
	return out
}

// succeeded fails the test unless the run did.
func succeeded(t tb, r result) result {
	t.Helper()
	if r.done == nil || r.done.Status != protocol.DoneSucceeded {
		t.Fatalf("run did not succeed: %s", describe(r))
	}
	return r
}

func describe(r result) string {
	if r.done == nil {
		return fmt.Sprintf("no DONE, exit code %d", r.exit)
	}
	if r.done.Error == nil {
		return string(r.done.Status)
	}
	return fmt.Sprintf("%s %s: %s", r.done.Status, r.done.Error.Code, r.done.Error.Message)
}

package runner

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// servedGap is a gap that this run has been given and what became of it.
type servedGap struct {
	entry     protocol.GapEntry
	attempted bool
	settled   bool
	sent      bool // its record came, and no word that it is missing
}

type owedKey struct{ stream, key string }

// Page bounds, as docs/protocol.md tells them. A page is bounded by its bytes; the number of
// candidates follows from the size that gaps have had so far.
const (
	defaultGapPageBytes = 262_144
	minGapPageBytes     = 16_384
	maxGapPageBytes     = 1_048_576
	maxGapCandidates    = 500
	firstGapBytes       = 1536
)

// gapPages sizes recovery pages.
type gapPages struct {
	number  int
	average float64
}

// candidates says how many gaps to claim for a page of the given size.
func (p *gapPages) candidates(bytes int) int {
	n := int(float64(bytes)/p.average*1.5 + 0.999)
	return min(max(n, 1), maxGapCandidates)
}

// observe lets the average follow what the gaps of a page had.
func (p *gapPages) observe(size int) { p.average = 0.65*p.average + 0.35*float64(max(size, 1)) }

// nextPage leases the next page and remembers its gaps. Gaps that do not fit
// the byte budget are given back untouched; one always fits.
func (s *session) nextPage(ctx context.Context, streams []string, budget int) ([]protocol.GapEntry, error) {
	page := []protocol.GapEntry{}
	if s.gaps == nil {
		return page, nil
	}
	if len(streams) == 0 {
		for _, st := range s.order {
			streams = append(streams, st.name)
		}
	}
	s.pages.number++
	claimed, err := s.gaps.LeaseGaps(ctx, streams, s.pages.candidates(budget), s.pages.number)
	if err != nil {
		return nil, err
	}
	used, total := 0, 0
	var surplus []string
	for _, e := range claimed {
		line, err := protocol.AppendLine(nil, &protocol.DetailGapsPageResponse{RequestID: "x", DetailGaps: []protocol.GapEntry{e}})
		if err != nil {
			return nil, err
		}
		total += len(line)
		if len(surplus) > 0 || len(page) > 0 && used+len(line) > budget {
			surplus = append(surplus, e.GapID)
			continue
		}
		used += len(line)
		page = append(page, e)
		g := &servedGap{entry: e}
		s.served[e.GapID] = g
		if e.RecordKey != "" {
			s.owed[owedKey{e.Stream, string(e.RecordKey)}] = g
		}
	}
	if len(claimed) > 0 {
		s.pages.observe(total / len(claimed))
	}
	if len(surplus) > 0 {
		err = s.gaps.ReleaseGaps(ctx, surplus)
	}
	return page, err
}

func (s *session) page(ctx context.Context, m *protocol.DetailGapsPageRequest) error {
	for _, name := range m.Streams {
		if s.streams[name] == nil {
			return s.undeclared(protocol.UndeclaredStream, m.Type(), name)
		}
	}
	budget := s.opts.GapPageBytes
	if m.MaxBytes != nil {
		budget = min(max(int(*m.MaxBytes), minGapPageBytes), maxGapPageBytes)
	}
	// What was recovered so far must be durable, or it would be served again.
	if f := s.flush(); f != nil {
		return f
	}
	streams := slices.Clone(m.Streams)
	slices.Sort(streams)
	entries, err := s.nextPage(ctx, slices.Compact(streams), budget)
	if err != nil {
		return s.storageFailed(err)
	}
	s.send("detail_gaps_page_response", &protocol.DetailGapsPageResponse{RequestID: m.RequestID, ReferenceOnly: true, DetailGaps: entries})
	return nil
}

func (s *session) attempted(m *protocol.DetailGapAttempted) error {
	g, err := s.leased(m.Type(), m.Stream, m.GapID, m.LeaseID, "")
	if err != nil {
		return err
	}
	g.attempted = true
	s.cur.slice.Attempts = append(s.cur.slice.Attempts, slice.GapRef{GapID: m.GapID, LeaseID: m.LeaseID})
	return nil
}

func (s *session) recovered(m *protocol.DetailGapRecovered) error {
	lease := m.LeaseID
	if have := s.served[m.GapID]; lease == "" && have != nil {
		lease = have.entry.LeaseID
	}
	g, err := s.leased(m.Type(), m.Stream, m.GapID, lease, m.RecordKey)
	if err != nil {
		return err
	}
	g.settled = true
	st := s.streams[m.Stream]
	if reason := st.refused[string(g.entry.RecordKey)]; reason != "" || st.ended {
		if reason != "" { // what it brought was rejected
			s.cur.addGap(slice.Gap{Stream: m.Stream, ParentStream: g.entry.ParentStream, RecordKey: string(g.entry.RecordKey), Reason: reason,
				Retryable: true, GapID: m.GapID, LeaseID: lease}, true)
			s.cur.close()
		}
		return nil
	}
	s.cur.slice.Recovered = append(s.cur.slice.Recovered, slice.GapRef{GapID: m.GapID, LeaseID: lease})
	s.cur.close() // the gap's records precede it: together they are a finished unit
	s.recall(lane{g.entry.Stream, g.entry.ParentStream}, string(g.entry.RecordKey))
	return nil
}

// closeSent closes the gaps of which the connector said nothing and whose records it
// sent all the same: not every connector knows of gaps.
func (s *session) closeSent() {
	for _, id := range slices.Sorted(maps.Keys(s.served)) {
		if g := s.served[id]; g.sent && !g.settled && !g.attempted {
			g.settled = true
			s.cur.slice.Recovered = append(s.cur.slice.Recovered, slice.GapRef{GapID: id, LeaseID: g.entry.LeaseID})
		}
	}
}

// leased finds a gap that this run holds under exactly this token. A key, where
// one is given, must be the gap's own: it becomes evidence for coverage.
func (s *session) leased(t protocol.MessageType, stream, gapID, leaseID string, key protocol.WireKey) (*servedGap, error) {
	g := s.served[gapID]
	if g == nil || g.settled || g.entry.LeaseID != leaseID || g.entry.Stream != stream || key != "" && key != g.entry.RecordKey {
		return nil, &protocol.Violation{Subtype: protocol.GapLeaseMismatch, MessageType: t, Stream: stream,
			Expected: []string{"a gap served to this run, under its own lease and key, not yet settled"}}
	}
	return g, nil
}

func (s *session) gap(m *protocol.DetailGap) error {
	st := s.streams[m.Stream]
	if st == nil {
		return s.undeclared(protocol.UndeclaredStream, m.Type(), m.Stream)
	}
	parent, v := s.parentOf(st, m)
	if v != nil {
		return v
	}
	if m.GapID != "" {
		g, err := s.leased(m.Type(), m.Stream, m.GapID, m.LeaseID, m.RecordKey)
		if err != nil {
			return err
		}
		if g.entry.ParentStream != "" && g.entry.ParentStream != parent {
			return &protocol.Violation{Subtype: protocol.GapLeaseMismatch, MessageType: m.Type(), Stream: m.Stream, Expected: []string{"the parent_stream of the served gap"}}
		}
		g.settled = true
	}
	r := s.redactor.Load()
	g := slice.Gap{
		Stream: m.Stream, ParentStream: parent, RecordKey: string(m.RecordKey),
		Reason: m.Reason, Retryable: m.Retryable,
		Locator:    sanitize(r, m.DetailLocator),
		ListCursor: sanitize(r, m.ListCursor),
		LastError:  sanitize(r, lastError(m)),
		GapID:      m.GapID, LeaseID: m.LeaseID,
		NotBefore: notBefore(m, time.Now()),
	}
	s.cur.addGap(g, st.slice)
	if m.GapID != "" {
		s.cur.close()
	}
	if owed := s.owed[owedKey{m.Stream, string(m.RecordKey)}]; owed != nil {
		owed.sent = false
	}
	st.gaps++
	s.gapCount++
	st.walk.meet(string(m.RecordKey))
	s.recall(lane{m.Stream, parent}, string(m.RecordKey))
	s.countGap(m)
	s.bound()
	return nil
}

// notBefore is until when the provider asked to wait with a gap, by the connector's
// word in last_error. What is not a positive number of milliseconds says nothing.
func notBefore(m *protocol.DetailGap, now time.Time) *time.Time {
	var said struct {
		RetryAfterMS any `json:"retry_after_ms"`
	}
	if len(m.LastError) == 0 || json.Unmarshal(m.LastError, &said) != nil {
		return nil
	}
	ms, _ := said.RetryAfterMS.(float64)
	if ms <= 0 {
		return nil
	}
	at := now.Add(min(seconds(ms/1000), longestWait))
	return &at
}

// recall remembers that a durable gap stands for the key.
func (s *session) recall(l lane, key string) {
	if s.recorded[l] == nil {
		s.recorded[l] = map[string]bool{}
	}
	s.recorded[l][key] = true
}

// parentOf names the gap's parent: the given one, or the only one that is possible.
func (s *session) parentOf(st *stream, m *protocol.DetailGap) (string, *protocol.Violation) {
	parents := st.Decl.ParentStreams
	if len(parents) == 0 || slices.Contains(parents, m.ParentStream) {
		return m.ParentStream, nil
	}
	if len(parents) > 1 {
		parents = slices.DeleteFunc(slices.Clone(parents), func(p string) bool { return s.streams[p] == nil })
	}
	if m.ParentStream == "" && len(parents) == 1 {
		return parents[0], nil
	}
	return "", &protocol.Violation{Subtype: protocol.InvalidField, MessageType: m.Type(), Stream: m.Stream, Expected: st.Decl.ParentStreams}
}

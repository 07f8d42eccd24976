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

// Bounds of a page of gaps, as in docs/extend/protocol. The byte size bounds a page; the number of gaps to claim
// follows from the average size so far.
const (
	defaultGapPageBytes = 262_144
	minGapPageBytes     = 16_384
	maxGapPageBytes     = 1_048_576
	maxGapCandidates    = 500
	firstGapBytes       = 1536
)

// servedGap is a gap that this run leased, and its result.
type servedGap struct {
	entry     protocol.GapEntry
	attempted bool
	settled   bool
	sent      bool // its record was sent, and the connector did not report it missing again
}

type streamKey struct{ stream, key string }

// gapRecovery leases stored gaps for the connector and follows what becomes of them.
type gapRecovery struct {
	source        GapSource // nil: there are no gaps
	pages         int
	averageBytes  float64
	served        map[string]*servedGap // by gap id
	unsettledGaps map[streamKey]*servedGap
}

func newGapRecovery(source GapSource) gapRecovery {
	return gapRecovery{source: source, averageBytes: firstGapBytes, served: map[string]*servedGap{},
		unsettledGaps: map[streamKey]*servedGap{}}
}

// candidates returns the number of gaps to claim for a page of this size.
func (r *gapRecovery) candidates(bytes int) int {
	n := int(float64(bytes)/r.averageBytes*1.5 + 0.999)
	return min(max(n, 1), maxGapCandidates)
}

// observeSize updates the moving average of the size of a gap.
func (r *gapRecovery) observeSize(size int) {
	r.averageBytes = 0.65*r.averageBytes + 0.35*float64(max(size, 1))
}

// nextPage leases the next page of gaps. It releases gaps that exceed the byte budget, but the first always fits.
func (r *gapRecovery) nextPage(ctx context.Context, streams []string, budget int) ([]protocol.GapEntry, error) {
	page := []protocol.GapEntry{}
	if r.source == nil {
		return page, nil
	}
	r.pages++
	claimed, err := r.source.LeaseGaps(ctx, streams, r.candidates(budget), r.pages)
	if err != nil {
		return nil, err
	}
	used, total := 0, 0
	var surplus []string
	for _, e := range claimed {
		line, err := protocol.AppendLine(nil, &protocol.DetailGapsPageResponse{RequestID: "x",
			DetailGaps: []protocol.GapEntry{e}})
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
		r.served[e.GapID] = g
		if e.RecordKey != "" {
			r.unsettledGaps[streamKey{e.Stream, string(e.RecordKey)}] = g
		}
	}
	if len(claimed) > 0 {
		r.observeSize(total / len(claimed))
	}
	if len(surplus) > 0 {
		err = r.source.ReleaseGaps(ctx, surplus)
	}
	return page, err
}

// leased returns a gap that this run holds under this lease. A key, if present, must be the gap's own, because it
// becomes evidence of coverage.
func (r *gapRecovery) leased(m protocol.Message, stream, gapID, leaseID string, key protocol.WireKey) (
	*servedGap, error) {
	g := r.served[gapID]
	if g == nil || g.settled || g.entry.LeaseID != leaseID || g.entry.Stream != stream ||
		key != "" && key != g.entry.RecordKey {
		return nil, &protocol.Violation{Subtype: protocol.GapLeaseMismatch, MessageType: m.Type(), Stream: stream,
			Expected: []string{"a gap served to this run, under its own lease and key, not yet settled"}}
	}
	return g, nil
}

// markSent records whether the latest message about a key was its record or a gap.
func (r *gapRecovery) markSent(stream, key string, sent bool) {
	if g := r.unsettledGaps[streamKey{stream, key}]; g != nil {
		g.sent = sent
	}
}

// recoverSent settles the gaps of which the connector sent only the record: not every connector knows gaps.
func (r *gapRecovery) recoverSent() (recovered []slice.GapRef) {
	for _, id := range slices.Sorted(maps.Keys(r.served)) {
		if g := r.served[id]; g.sent && !g.settled && !g.attempted {
			g.settled = true
			recovered = append(recovered, slice.GapRef{GapID: id, LeaseID: g.entry.LeaseID})
		}
	}
	return recovered
}

// unreportedAttempt returns the violation of a connector that attempted a gap and reported no result, or nil.
func (r *gapRecovery) unreportedAttempt() *protocol.Violation {
	for _, id := range slices.Sorted(maps.Keys(r.served)) {
		if g := r.served[id]; g.attempted && !g.settled {
			return &protocol.Violation{Subtype: protocol.AttemptWithoutResult, MessageType: protocol.TypeDone,
				Stream:   g.entry.Stream,
				Expected: []string{"an outcome for every gap that was attempted"}, Received: "none for " + id}
		}
	}
	return nil
}

func (s *session) onGapPageRequest(ctx context.Context, m *protocol.DetailGapsPageRequest) error {
	for _, name := range m.Streams {
		if _, err := s.streamNamed(m, name); err != nil {
			return err
		}
	}
	budget := s.opts.GapPageBytes
	if m.MaxBytes != nil {
		budget = min(max(int(*m.MaxBytes), minGapPageBytes), maxGapPageBytes)
	}
	// Recovered gaps must be durable before the next lease, or they would be served again.
	if f := s.commits.flush(); f != nil {
		return f
	}
	streams := slices.Clone(m.Streams)
	slices.Sort(streams)
	if streams = slices.Compact(streams); len(streams) == 0 {
		streams = s.streams.names()
	}
	entries, err := s.gaps.nextPage(ctx, streams, budget)
	if err != nil {
		return s.secrets.storageFailure(err)
	}
	s.conv.send("detail_gaps_page_response", &protocol.DetailGapsPageResponse{RequestID: m.RequestID,
		ReferenceOnly: true, DetailGaps: entries})
	return nil
}

func (s *session) onGapAttempted(m *protocol.DetailGapAttempted) error {
	g, err := s.gaps.leased(m, m.Stream, m.GapID, m.LeaseID, "")
	if err != nil {
		return err
	}
	g.attempted = true
	batch := &s.commits.current.slice
	batch.Attempts = append(batch.Attempts, slice.GapRef{GapID: m.GapID, LeaseID: m.LeaseID})
	return nil
}

func (s *session) onGapRecovered(m *protocol.DetailGapRecovered) error {
	lease := m.LeaseID
	if served := s.gaps.served[m.GapID]; lease == "" && served != nil {
		lease = served.entry.LeaseID
	}
	g, err := s.gaps.leased(m, m.Stream, m.GapID, lease, m.RecordKey)
	if err != nil {
		return err
	}
	g.settled = true
	key, batch := string(g.entry.RecordKey), s.commits.current
	st := s.streams.byName[m.Stream]
	if reason := st.rejectedBy[key]; reason != "" || st.ended {
		if reason != "" { // the record of the recovery was rejected: the gap stays
			batch.addGap(slice.Gap{Stream: m.Stream, ParentStream: g.entry.ParentStream, RecordKey: key,
				Reason: reason, Retryable: true, GapID: m.GapID, LeaseID: lease}, true)
			batch.close()
		}
		return nil
	}
	batch.addRecovered(slice.GapRef{GapID: m.GapID, LeaseID: lease})
	batch.close() // the gap's records precede this message: together they are a finished unit
	s.coverage.recordGap(lane{g.entry.Stream, g.entry.ParentStream}, key)
	return nil
}

func (s *session) onGap(m *protocol.DetailGap) error {
	st, err := s.streamNamed(m, m.Stream)
	if err != nil {
		return err
	}
	parent, v := s.streams.gapParent(st, m)
	if v != nil {
		return v
	}
	if m.GapID != "" {
		g, err := s.gaps.leased(m, m.Stream, m.GapID, m.LeaseID, m.RecordKey)
		if err != nil {
			return err
		}
		if g.entry.ParentStream != "" && g.entry.ParentStream != parent {
			return &protocol.Violation{Subtype: protocol.GapLeaseMismatch, MessageType: m.Type(), Stream: m.Stream,
				Expected: []string{"the parent_stream of the served gap"}}
		}
		g.settled = true
	}
	s.addGap(st, slice.Gap{
		Stream: m.Stream, ParentStream: parent, RecordKey: string(m.RecordKey),
		Reason: m.Reason, Retryable: m.Retryable,
		Locator:    s.secrets.sanitize(m.DetailLocator),
		ListCursor: s.secrets.sanitize(m.ListCursor),
		LastError:  s.secrets.sanitize(gapErrorWithClass(m)),
		GapID:      m.GapID, LeaseID: m.LeaseID,
		NotBefore: gapNotBefore(m, time.Now()),
	})
	if m.GapID != "" {
		s.commits.current.close()
	}
	s.gaps.markSent(m.Stream, string(m.RecordKey), false)
	st.walk.addKey(string(m.RecordKey))
	s.coverage.recordGap(lane{m.Stream, parent}, string(m.RecordKey))
	s.summary.countGap(m)
	s.commits.limitMemory()
	return nil
}

// gapNotBefore returns the time before which a gap must not be retried, from retry_after_ms in last_error. It
// returns nil unless that is a positive number.
func gapNotBefore(m *protocol.DetailGap, now time.Time) *time.Time {
	var lastError struct {
		RetryAfterMS any `json:"retry_after_ms"`
	}
	if len(m.LastError) == 0 || json.Unmarshal(m.LastError, &lastError) != nil {
		return nil
	}
	ms, _ := lastError.RetryAfterMS.(float64)
	if ms <= 0 {
		return nil
	}
	at := now.Add(min(secondsDuration(ms/1000), maxProviderWait))
	return &at
}

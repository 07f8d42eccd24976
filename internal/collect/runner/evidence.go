package runner

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// progressEvery spaces the progress entries of the timeline: it is a record
// for people, not a stream of samples.
const progressEvery = 2 * time.Second

// longestWait bounds what a connector may have its provider left alone for. A
// provider that asks for more is asked again then.
const longestWait = 31 * 24 * time.Hour

// maxEvents bounds a run's timeline, which a connector could otherwise flood.
const maxEvents = 10_000

// note adds an entry to the timeline. It becomes durable with the next commit.
func (s *session) note(kind, stream string, data map[string]any) {
	raw, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		raw = jsontext.Value(`{}`)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noted++; s.noted <= maxEvents {
		s.events = append(s.events, slice.Event{Type: kind, At: time.Now(), Stream: stream, Data: raw})
	}
}

// takeEvents moves waiting entries into the batch about to be committed, with
// one entry that sums up what the batch itself holds.
func (s *session) takeEvents() {
	c := &s.cur.slice
	if n := len(c.Records); n > 0 {
		s.note("run.batch_ingested", "", map[string]any{"records": n})
	}
	if n := len(c.Gaps); n > 0 {
		s.note("run.detail_gap_recorded", "", map[string]any{"gaps": n})
	}
	if n := len(c.Recovered); n > 0 {
		s.note("run.detail_gap_recovered", "", map[string]any{"gaps": n})
	}
	for _, cur := range c.Cursors {
		data := map[string]any{}
		if cur.Mode != protocol.SteadyState {
			data["mode"] = cur.Mode
		}
		s.note("run.state_advanced", cur.Stream, data)
	}
	s.mu.Lock()
	c.Events = append(c.Events, s.events...)
	s.events = nil
	s.mu.Unlock()
}

func (s *session) progress(ctx context.Context, m *protocol.Progress) error {
	if m.Stream != "" && s.streams[m.Stream] == nil {
		return s.undeclared(protocol.UndeclaredProgress, m.Type(), m.Stream)
	}
	now := time.Now()
	if w := m.ProviderWait; w != nil {
		w.Sender = s.line(w.Sender)
		if err := s.sink.NoteWait(ctx, Wait{Sender: w.Sender, For: min(seconds(w.WaitMS/1000), longestWait), Reason: w.Reason}); err != nil {
			return s.storageFailed(err)
		}
	}
	if d := m.AnswerDrift; d != nil {
		s.streams[m.Stream].drift = d // the last report counts
		if !d.Any() {
			return nil
		}
	}
	if m.CollectionRate != nil {
		s.rate = m.CollectionRate
		s.rates.Observe(now.Sub(s.began), m.CollectionRate)
	}
	keep := now.Sub(s.lastProgress) >= progressEvery || m.ProviderBudget != nil || m.ProviderWait != nil ||
		m.AnswerDrift != nil
	if !keep && s.opts.Observe == nil {
		return nil
	}
	message := s.line(m.Message)
	if keep {
		s.lastProgress = now
		data := map[string]any{"message": message}
		if m.Count != nil {
			data["count"] = *m.Count
		}
		if m.Total != nil {
			data["total"] = *m.Total
		}
		if m.ProviderBudget != nil {
			data["provider_budget"] = m.ProviderBudget
		}
		if m.CollectionRate != nil {
			data["collection_rate"] = m.CollectionRate
		}
		if m.ProviderWait != nil {
			data["provider_wait"] = m.ProviderWait
		}
		if m.AnswerDrift != nil {
			data["answer_drift"] = m.AnswerDrift
		}
		s.note("run.progress_reported", m.Stream, data)
		s.untold = s.untold || m.Stream == ""
	}
	s.observe(Update{Stream: m.Stream, Message: message, Count: m.Count, Total: m.Total, Rate: m.CollectionRate})
	return nil
}

func (s *session) skip(m *protocol.SkipResult) error {
	var st *stream
	if m.Stream != "" {
		if st = s.streams[m.Stream]; st == nil {
			return s.undeclared(protocol.UndeclaredStream, m.Type(), m.Stream)
		}
	}
	if st != nil && m.Reason == protocol.ReasonBlobTooLarge {
		st.tooLarge += int64(max(len(m.ResourceIDs), 1))
		return nil
	}
	s.holed(st)
	g := s.knownSkip(m, st)
	if len(s.skips) < maxKnownGaps {
		s.skips = append(s.skips, g)
	}
	if st != nil {
		if l := lastingOf(m, g.RecoveryHint); l >= st.lasts {
			st.lasts = l
			st.skipped = &SkippedFact{Reason: g.Reason, RecoveryAction: g.RecoveryHint.Action, Continuation: m.Continuation}
		}
		st.certified = st.certified || m.Reason == protocol.StreamCollectionFailed
	}
	s.note("run.stream_skipped", m.Stream, map[string]any{"reason": g.Reason, "recovery_action": g.RecoveryHint.Action})
	return nil
}

// observe completes the update with the counters and passes it on.
func (s *session) observe(u Update) {
	if s.opts.Observe == nil {
		return
	}
	u.Records, u.Gaps, u.Committed = s.records, s.gapCount, s.committer.records.Load()
	s.opts.Observe(u)
}

// committed runs on the committer's goroutine, so it touches only what the committer owns.
func (s *session) committed(done *slice.Slice) {
	for i := range done.Records {
		for _, b := range done.Records[i].Blobs {
			s.workdir.remove(b.Path)
		}
	}
	if s.opts.Observe != nil {
		s.opts.Observe(Update{Committed: s.committer.records.Load()})
	}
}

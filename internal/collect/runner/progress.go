package runner

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// progressInterval is the least time between progress entries of the timeline, which people read.
	progressInterval = 2 * time.Second
	// maxProviderWait bounds the pause that a connector may request for its provider.
	maxProviderWait = 31 * 24 * time.Hour
)

// progressLog holds the reported collection rates and the time of the last progress entry.
type progressLog struct {
	lastEntry time.Time
	rate      *protocol.CollectionRate
	rates     RateSeries
}

func (s *session) onProgress(ctx context.Context, m *protocol.Progress) error {
	if m.Stream != "" && s.streams.byName[m.Stream] == nil {
		return s.streams.undeclared(protocol.UndeclaredProgress, m.Type(), m.Stream)
	}
	now := time.Now()
	if w := m.ProviderWait; w != nil {
		w.Sender = s.secrets.line(w.Sender)
		wait := ProviderWait{Sender: w.Sender, For: min(secondsDuration(w.WaitMS/1000), maxProviderWait), Reason: w.Reason}
		if err := s.sink.NoteWait(ctx, wait); err != nil {
			return s.secrets.storageFailure(err)
		}
	}
	if d := m.AnswerDrift; d != nil {
		s.streams.byName[m.Stream].drift = d // the last report counts
		if !d.Any() {
			return nil
		}
	}
	if m.CollectionRate != nil {
		s.progress.rate = m.CollectionRate
		s.progress.rates.Observe(now.Sub(s.conv.began), m.CollectionRate)
	}
	due := now.Sub(s.progress.lastEntry) >= progressInterval || m.ProviderBudget != nil || m.ProviderWait != nil ||
		m.AnswerDrift != nil
	if !due && s.opts.Observe == nil {
		return nil
	}
	message := s.secrets.line(m.Message)
	if due {
		s.progress.lastEntry = now
		s.timeline.note("run.progress_reported", m.Stream, progressData(m, message))
		s.commits.eventsPending = s.commits.eventsPending || m.Stream == ""
	}
	s.observe(Update{Stream: m.Stream, Message: message, Count: m.Count, Total: m.Total, Rate: m.CollectionRate})
	return nil
}

// progressData returns the members of a progress entry that the message has.
func progressData(m *protocol.Progress, message string) map[string]any {
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
	return data
}

func (s *session) onSkip(m *protocol.SkipResult) error {
	var st *stream
	if m.Stream != "" {
		var err error
		if st, err = s.streamNamed(m, m.Stream); err != nil {
			return err
		}
	}
	if st != nil && m.Reason == protocol.ReasonBlobTooLarge {
		st.tooLarge += int64(max(len(m.ResourceIDs), 1))
		return nil
	}
	s.streams.markWalksIncomplete(st)
	g := s.knownSkip(m, st)
	s.summary.addSkip(g)
	if st != nil {
		if p := skipPermanenceOf(m, g.RecoveryHint); p >= st.permanence {
			st.permanence = p
			st.skipped = &SkippedFact{Reason: g.Reason, RecoveryAction: g.RecoveryHint.Action,
				Continuation: m.Continuation}
		}
		st.certified = st.certified || m.Reason == protocol.StreamCollectionFailed
	}
	s.timeline.note("run.stream_skipped", m.Stream,
		map[string]any{"reason": g.Reason, "recovery_action": g.RecoveryHint.Action})
	return nil
}

// observe adds the counters to the update and passes it to the observer.
func (s *session) observe(u Update) {
	if s.opts.Observe == nil {
		return
	}
	u.Records, u.Gaps = s.counters.records, s.counters.gaps
	u.Committed = s.commits.committer.records.Load()
	s.opts.Observe(u)
}

// onCommitted removes the files of stored records and reports the progress. It runs on the committer's goroutine and
// uses only what the committer owns.
func (s *session) onCommitted(done *slice.Slice) {
	for i := range done.Records {
		for _, b := range done.Records[i].Blobs {
			s.blobs.folder.RemoveFile(b.Path)
		}
	}
	if s.opts.Observe != nil {
		s.opts.Observe(Update{Committed: s.commits.committer.records.Load()})
	}
}

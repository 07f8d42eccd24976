package health

import "github.com/pdpp-go/pdpp/internal/judge/evidence"

// ReadLocalProgress sums the reports of trusted sources. It returns nil for a connection that no device feeds. Its
// counts are nil if no trusted source reported any.
func ReadLocalProgress(e *evidence.Evidence) *LocalProgress {
	if !e.LocalDevice() {
		return nil
	}
	p := &LocalProgress{}
	if e.Device == nil {
		return p
	}
	p.LastIngestAt = e.Device.LastIngestAt
	for i := range e.Device.Sources {
		s := &e.Device.Sources[i]
		if !s.Trusted() {
			continue
		}
		p.SourceCount++
		if s.Heartbeat != nil {
			p.add(s.Heartbeat)
		}
	}
	return p
}

func (p *LocalProgress) add(h *evidence.Heartbeat) {
	if p.LastHeartbeatAt == nil || h.At.After(*p.LastHeartbeatAt) {
		p.LastHeartbeatAt, p.LastHeartbeatStatus = &h.At, Text(h.Status)
	}
	if n := measured(h.Pending); n != nil {
		sum := *n
		if p.RecordsPending != nil {
			sum += *p.RecordsPending
		}
		p.RecordsPending = &sum
	}
	c := h.Outbox
	if c == nil || !countable(c) {
		return
	}
	if p.OutboxCounts == nil {
		p.OutboxCounts = &evidence.OutboxCounts{}
	}
	sum := p.OutboxCounts
	sum.Pending += c.Pending
	sum.Retrying += c.Retrying
	sum.StaleLeases += c.StaleLeases
	sum.DeadLetter += c.DeadLetter
	sum.BacklogOpen += c.BacklogOpen
	sum.Leased += c.Leased
	sum.Succeeded += c.Succeeded
	sum.Total += c.Total
	sum.OldestPendingAt = earlier(sum.OldestPendingAt, c.OldestPendingAt)
}

// countable reports whether no count is negative.
func countable(c *evidence.OutboxCounts) bool {
	return min(c.Pending, c.Retrying, c.StaleLeases, c.DeadLetter, c.BacklogOpen, c.Leased, c.Succeeded, c.Total) >= 0
}

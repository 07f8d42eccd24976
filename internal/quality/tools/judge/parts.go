package main

import (
	"cmp"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/protocol"
)

func judgeDisposition(l *line) (any, error) {
	var in struct {
		Coverage      health.Coverage         `json:"coverage"`
		Attention     *looseAttention         `json:"attention"`
		AttentionOpen bool                    `json:"attention_open"`
		Freshness     health.Freshness        `json:"freshness"`
		GapRetryable  bool                    `json:"gap_retryable"`
		ManualOnly    bool                    `json:"manual_only"`
		Refresh       *health.RefreshEvidence `json:"refresh"`
	}
	if err := decode(l.Disposition, &in); err != nil {
		return nil, err
	}
	input := health.DispositionInput{
		Coverage: cmp.Or(in.Coverage, health.CoverageUnknown), Freshness: cmp.Or(in.Freshness, health.FreshnessUnknown),
		Attention: in.AttentionOpen || in.Attention != nil && in.Attention.axis != "" &&
			in.Attention.axis != health.AttentionNone,
		ManualOnly: in.ManualOnly || in.Refresh.ManualOnly() || l.Refresh.ManualOnly(),
	}
	// A gap that a later run fills leaves a stream resumable, unless what is
	// missing can never arrive.
	without := input
	without.Attention = false
	if in.GapRetryable && health.DeriveDisposition(without) != health.DispositionTerminal {
		input.Coverage = health.RetryableGap
	}
	return map[string]any{"forward_disposition": health.DeriveDisposition(input)}, nil
}

// looseHeartbeat is a heartbeat under the names that its senders use.
type looseHeartbeat struct {
	Sources []looseHeartbeat `json:"sources"`

	EvidenceTrusted *bool                    `json:"evidence_trusted"`
	Trusted         *bool                    `json:"trusted"`
	RevokedAt       *time.Time               `json:"revoked_at"`
	LastHeartbeatAt *time.Time               `json:"last_heartbeat_at"`
	At              *time.Time               `json:"at"`
	LastStatus      evidence.HeartbeatStatus `json:"last_heartbeat_status"`
	Status          evidence.HeartbeatStatus `json:"status"`
	Pending         *int64                   `json:"records_pending"`
	Outbox          *evidence.OutboxCounts   `json:"outbox"`
	OutboxCounts    *evidence.OutboxCounts   `json:"outbox_counts"`
	DeadLetter      *int64                   `json:"dead_letter"`
}

func (h *looseHeartbeat) source() evidence.DeviceSource {
	s := evidence.DeviceSource{DeviceStatus: evidence.StatusActive, Status: evidence.StatusActive, RevokedAt: h.RevokedAt}
	if trusted := cmp.Or(h.EvidenceTrusted, h.Trusted); trusted != nil && !*trusted {
		s.Status = evidence.StatusRevoked
	}
	at := cmp.Or(h.LastHeartbeatAt, h.At)
	if at == nil {
		return s
	}
	s.Heartbeat = &evidence.Heartbeat{
		At: *at, Status: cmp.Or(h.LastStatus, h.Status), Pending: h.Pending, Outbox: cmp.Or(h.Outbox, h.OutboxCounts),
	}
	if h.DeadLetter != nil {
		if s.Heartbeat.Outbox == nil {
			s.Heartbeat.Outbox = &evidence.OutboxCounts{}
		}
		s.Heartbeat.Outbox.DeadLetter = max(s.Heartbeat.Outbox.DeadLetter, *h.DeadLetter)
	}
	return s
}

func judgeHeartbeat(l *line) (any, error) {
	now, err := l.now()
	if err != nil {
		return nil, err
	}
	var h looseHeartbeat
	if err := decode(l.Heartbeat, &h); err != nil {
		return nil, err
	}
	var reading health.OutboxReading
	if h.Sources == nil {
		source := h.source()
		reading = health.ReadHeartbeat(&source, now)
	} else {
		device := &evidence.Device{}
		for i := range h.Sources {
			device.Sources = append(device.Sources, h.Sources[i].source())
		}
		reading = health.ReadOutbox(device, now)
	}
	return struct {
		Axis       health.Outbox `json:"axis"`
		Cause      health.Text   `json:"cause"`
		Unreliable bool          `json:"unreliable"`
	}{reading.Axis, health.Text(reading.Cause), reading.Unreliable}, nil
}

// looseGap is one row of what is missing.
type looseGap struct {
	Stream           string             `json:"stream"`
	Reason           protocol.Reason    `json:"reason"`
	Status           protocol.GapStatus `json:"status"`
	AttemptCount     int64              `json:"attempt_count"`
	NextAttemptAfter *time.Time         `json:"next_attempt_after"`
	NextAttemptAt    *time.Time         `json:"next_attempt_at"`
}

// outstanding reports whether the gap still waits; one without a status does.
func (g *looseGap) outstanding() bool {
	return g.Status == "" || g.Status == protocol.GapPending || g.Status == protocol.GapInProgress
}

func judgeBacklog(body []byte) (any, error) {
	var in *struct {
		PendingGaps *[]looseGap `json:"pending_gaps"`
		ReadLimit   int         `json:"read_limit"`
		Recovered   *int64      `json:"recovered"`
		Terminal    *int64      `json:"terminal"`
	}
	if err := decode(body, &in); err != nil {
		return nil, err
	}
	var gaps *evidence.Gaps
	if in != nil && in.PendingGaps != nil {
		rows := *in.PendingGaps
		gaps = &evidence.Gaps{Recovered: in.Recovered, Terminal: in.Terminal, Floor: in.ReadLimit > 0 &&
			len(rows) >= in.ReadLimit}
		for i := range rows {
			if g := &rows[i]; g.outstanding() {
				gaps.Groups = append(gaps.Groups, evidence.GapGroup{
					Stream: g.Stream, Reason: g.Reason, Count: 1, MaxAttempts: g.AttemptCount,
					NotBefore: cmp.Or(g.NextAttemptAfter, g.NextAttemptAt),
				})
			}
		}
	}
	return map[string]any{"detail_gap_backlog": health.RollUpBacklog(gaps)}, nil
}

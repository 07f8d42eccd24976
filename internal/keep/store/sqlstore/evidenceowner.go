package sqlstore

import (
	"database/sql"

	"pdpp/internal/judge/evidence"
	"pdpp/protocol"
)

// take scans each row into the variables that into points at, and has keep put
// those of the page's connections into their evidence. A row that keep cannot
// read costs its connection the family.
func (p *page) take(rows *sql.Rows, f evidence.Family, id *string, into []any, keep func(e *evidence.Evidence) (readable bool)) error {
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if e, ok := p.find(*id); ok && !keep(e) {
			lose(e, f)
		}
	}
	return nil
}

func (p *page) schedules(rows *sql.Rows) error {
	var id, updated string
	var s evidence.Schedule
	return p.take(rows, evidence.FamilySchedule, &id, []any{&id, &s.Enabled, &s.IntervalSeconds, &s.JitterSeconds, &updated}, func(e *evidence.Evidence) bool {
		var times stamps
		own := s
		own.UpdatedAt = times.at(updated)
		e.Schedule = &own
		return !times.bad
	})
}

func (p *page) backoffs(rows *sql.Rows) error {
	var id, observed, next string
	var b evidence.Backoff
	return p.take(rows, evidence.FamilySchedule, &id, []any{&id, &b.Class, &b.Failures, &observed, &next}, func(e *evidence.Evidence) bool {
		var times stamps
		own := b
		own.ObservedAt, own.NextAttemptAt = times.at(observed), times.maybe(next)
		e.Backoff = &own
		return !times.bad
	})
}

func (p *page) credentials(rows *sql.Rows) error {
	var id, captured, rejected string
	var c evidence.Credential
	return p.take(rows, evidence.FamilyCredential, &id, []any{&id, &c.Status, &captured, &rejected, &c.Reason}, func(e *evidence.Evidence) bool {
		var times stamps
		own := c
		own.CapturedAt, own.RejectedAt = times.at(captured), times.maybe(rejected)
		e.Credential = &own
		return !times.bad
	})
}

func (p *page) probes(rows *sql.Rows) error {
	var id, observed, expires string
	var probe evidence.Probe
	into := []any{&id, &probe.Dimension, &probe.Name, &probe.Status, &probe.Reason, &observed, &expires}
	return p.take(rows, evidence.FamilyProbes, &id, into, func(e *evidence.Evidence) bool {
		var times stamps
		own := probe
		own.At, own.ExpiresAt = times.at(observed), times.maybe(expires)
		e.Probes = append(e.Probes, own)
		return !times.bad
	})
}

// What an open question asks for, in the words of an attention record.
const (
	needCredentials  = "credentials_required"
	needOTP          = "otp_required"
	needManualAction = "manual_action_required"
)

func (p *page) attention(rows *sql.Rows) error {
	var id, opened, expires string
	var kind protocol.InteractionKind
	var a evidence.Attention
	return p.take(rows, evidence.FamilyAttention, &id, []any{&id, &a.ID, &a.RunID, &kind, &opened, &expires}, func(e *evidence.Evidence) bool {
		var times stamps
		own := a
		own.Lifecycle, own.Reason, own.Sensitivity = evidence.AttentionOpen, needManualAction, "non_secret"
		switch kind {
		case protocol.AskCredentials, protocol.AskMissingCredentials:
			own.Reason = needCredentials
		case protocol.AskOTP:
			own.Reason = needOTP
		}
		if kind.Secret() {
			own.Sensitivity = "secret"
		}
		own.OpenedAt, own.ExpiresAt = times.at(opened), times.maybe(expires)
		e.Attention = append(e.Attention, own)
		return !times.bad
	})
}

package sqlstore

import (
	"database/sql"
	"time"

	"github.com/go-json-experiment/json"

	"pdpp/internal/judge/evidence"
)

// deviceSources reads the collectors of each connection. A connection of that
// kind has a Device even before a collector has enrolled.
func (p *page) deviceSources(rows *sql.Rows) error {
	for i := range p.list {
		if p.list[i].Connection.SourceKind == evidence.SourceLocalDevice {
			p.list[i].Device = &evidence.Device{}
		}
	}
	var (
		id, revoked, beat, outbox string
		status                    evidence.HeartbeatStatus
		pending                   sql.NullInt64
		s                         evidence.DeviceSource
	)
	into := []any{&id, &s.ID, &s.Host, &s.DeviceStatus, &s.Status, &revoked, &beat, &status, &pending, &outbox}
	return p.take(rows, evidence.FamilyDevice, &id, into, func(e *evidence.Evidence) bool {
		var times stamps
		own := s
		own.RevokedAt = times.maybe(revoked)
		if at := times.maybe(beat); at != nil {
			own.Heartbeat = &evidence.Heartbeat{At: *at, Status: status, Outbox: readOutbox(outbox)}
			if n := pending.Int64; pending.Valid && n >= 0 {
				own.Heartbeat.Pending = &n
			}
		}
		if e.Device == nil {
			e.Device = &evidence.Device{}
		}
		e.Device.Sources = append(e.Device.Sources, own)
		return !times.bad
	})
}

// storedOutbox is what a device reported. Every count but that of the open
// backlog is part of a report.
type storedOutbox struct {
	Pending         *int64 `json:"pending"`
	Retrying        *int64 `json:"retrying"`
	StaleLeases     *int64 `json:"stale_leases"`
	DeadLetter      *int64 `json:"dead_letter"`
	BacklogOpen     *int64 `json:"backlog_open"`
	Leased          *int64 `json:"leased"`
	Succeeded       *int64 `json:"succeeded"`
	Total           *int64 `json:"total"`
	OldestPendingAt string `json:"oldest_pending_at"`
}

// readOutbox gives nil for counts that are absent, negative or no whole
// numbers: what a device did not measure must not read as zero.
func readOutbox(report string) *evidence.OutboxCounts {
	if report == "" {
		return nil
	}
	var s storedOutbox
	if err := json.Unmarshal([]byte(report), &s); err != nil {
		return nil
	}
	if s.BacklogOpen == nil {
		s.BacklogOpen = new(int64)
	}
	for _, n := range []*int64{s.Pending, s.Retrying, s.StaleLeases, s.DeadLetter, s.BacklogOpen, s.Leased, s.Succeeded, s.Total} {
		if n == nil || *n < 0 {
			return nil
		}
	}
	counts := &evidence.OutboxCounts{
		Pending: *s.Pending, Retrying: *s.Retrying, StaleLeases: *s.StaleLeases, DeadLetter: *s.DeadLetter,
		BacklogOpen: *s.BacklogOpen, Leased: *s.Leased, Succeeded: *s.Succeeded, Total: *s.Total,
	}
	if oldest, err := time.Parse(time.RFC3339, s.OldestPendingAt); err == nil {
		counts.OldestPendingAt = &oldest
	}
	return counts
}

// coverageStores reads what collectors account for. A record that cannot be read
// names its store by its key and accounts for nothing.
func (p *page) coverageStores(rows *sql.Rows) error {
	var id, key string
	var data []byte
	into := []any{&id, &key, &data}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.find(id)
		if !ok || e.Device == nil {
			continue
		}
		var s evidence.CoverageStore
		if err := json.Unmarshal(data, &s); err != nil {
			s = evidence.CoverageStore{Store: key}
		}
		e.Device.Stores = append(e.Device.Stores, s)
	}
	return nil
}

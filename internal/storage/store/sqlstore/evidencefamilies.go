package sqlstore

import (
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// streams reads counts and facts. It counts a stream that the manifest does not declare as retained, and otherwise
// leaves it out. Without a manifest it lists every stored stream as required.
func (p *evidencePage) streams(rows *sql.Rows) error {
	totals := make([]evidence.Records, len(p.list))
	for i := range p.list {
		p.list[i].Records = &totals[i]
	}
	var (
		id, name, counted string
		facts             sql.RawBytes // nil when no run has measured the stream
		source            sql.NullString
		slab              []measuredFacts
		reader            factReader
	)
	into := []any{&id, &name, &counted, &facts, &source}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		seat, ok := p.position(id)
		if !ok {
			continue
		}
		var times timeParser
		number, changed, _ := strings.Cut(counted, " ")
		retained, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return err
		}
		total := &totals[seat]
		total.Retained += retained
		if newest := times.optional(changed); newest != nil && (total.ChangedAt == nil || newest.After(*total.ChangedAt)) {
			total.ChangedAt = newest
		}
		if s := p.stream(seat, name); s != nil {
			if len(slab) == cap(slab) {
				slab = make([]measuredFacts, 0, 128)
			}
			slab = append(slab, measuredFacts{retained: retained})
			m := &slab[len(slab)-1]
			s.Retained = &m.retained
			if facts != nil {
				if ok = reader.read(facts, source.String, &m.fact); ok {
					s.Fact = &m.fact
				}
			}
		}
		if times.bad || !ok {
			markUnreadable(&p.list[seat], evidence.FamilyRecords)
		}
	}
	return nil
}

// selections reads what owners chose. A stream outside the chosen profile, or one that the owner deleted, is treated
// like a deferred one: the owner accepts its absence. An unreadable or undeclared choice makes the next run fail,
// which reports it.
func (p *evidencePage) selections(rows *sql.Rows) error {
	for rows.Next() {
		var id string
		var body []byte
		var deleted string
		if err := rows.Scan(&id, &body, &deleted); err != nil {
			return err
		}
		seat, ok := p.position(id)
		if !ok {
			continue
		}
		if deleted != "" {
			p.dropStreams(seat, func(name string) bool { return name == deleted })
			p.made[seat].deleted = append(p.made[seat].deleted, deleted)
			continue
		}
		if p.made[seat].declared == nil {
			continue
		}
		chosen, err := store.ParseSelection(body)
		collected := p.made[seat].declared.profiles[chosen.Profile]
		if err != nil || collected == nil {
			continue
		}
		p.dropStreams(seat, func(name string) bool { return !collected[name] })
	}
	return nil
}

// dropStreams marks streams that are not to be collected.
func (p *evidencePage) dropStreams(seat int, is func(stream string) bool) {
	for i := range p.list[seat].Streams {
		s := &p.list[seat].Streams[i]
		if is(s.Name) && (s.Policy == "" || s.Policy == manifest.PolicyCollect) {
			s.Required, s.Policy = false, manifest.PolicyDeferred
		}
	}
}

// stream finds a stored stream in a connection's list.
func (p *evidencePage) stream(seat int, name string) *evidence.Stream {
	e := &p.list[seat]
	if d := p.made[seat].declared; d != nil {
		if i, declared := d.places[name]; declared {
			return &e.Streams[i]
		}
		return nil
	}
	e.Streams = append(e.Streams, evidence.Stream{Name: name, Required: true})
	return &e.Streams[len(e.Streams)-1]
}

// openGaps reads the open gaps, grouped, except those of deleted streams. A connection without a row has measured
// zero gaps.
func (p *evidencePage) openGaps(rows *sql.Rows) error {
	all := make([]struct {
		gaps                evidence.Gaps
		recovered, terminal int64
	}, len(p.list))
	for i := range p.list {
		g := &all[i]
		g.gaps.Recovered, g.gaps.Terminal = &g.recovered, &g.terminal
		p.list[i].Gaps = &g.gaps
	}
	var id, notBefore, earliest string
	var group evidence.GapGroup
	into := []any{&id, &group.Stream, &group.Reason, &group.Count, &group.MaxAttempts, &notBefore, &earliest}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		seat, ok := p.position(id)
		if !ok || p.list[seat].Gaps == nil || slices.Contains(p.made[seat].deleted, group.Stream) {
			continue
		}
		e := &p.list[seat]
		var times timeParser
		own := group
		own.NotBefore, own.Earliest = times.optional(notBefore), times.optional(earliest)
		e.Gaps.Groups = append(e.Gaps.Groups, own)
		if times.bad {
			e.Gaps = nil
		}
	}
	return nil
}

func (p *evidencePage) closedGaps(rows *sql.Rows) error {
	var id, status string
	var count int64
	into := []any{&id, &status, &count}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.evidenceOf(id)
		if !ok || e.Gaps == nil {
			continue
		}
		if status == "terminal" {
			*e.Gaps.Terminal = count
		} else {
			*e.Gaps.Recovered = count
		}
	}
	return nil
}

// deviceSources reads the collectors of each connection. A device connection has a Device even before a collector has
// enrolled.
func (p *evidencePage) deviceSources(rows *sql.Rows) error {
	for i := range p.list {
		if p.list[i].Connection.SourceKind == evidence.SourceLocalDevice {
			p.list[i].Device = &evidence.Device{}
		}
	}
	var (
		id, revoked, beat, outbox string
		doubled                   string
		status                    evidence.HeartbeatStatus
		pending                   sql.NullInt64
		s                         evidence.DeviceSource
	)
	into := []any{&id, &s.ID, &s.Host, &s.DeviceStatus, &s.Status, &revoked, &beat, &status, &pending, &outbox, &doubled}
	return p.addRow(rows, evidence.FamilyDevice, &id, into, func(e *evidence.Evidence) bool {
		var times timeParser
		own := s
		own.RevokedAt, own.DoubledAt = times.optional(revoked), times.optional(doubled)
		if at := times.optional(beat); at != nil {
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

// storedOutbox is what a device reported. Every count but that of the open backlog is part of a report.
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

// readOutbox returns nil for counts that are missing, negative or not integers: what a device did not measure must
// not read as zero.
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
	for _, n := range []*int64{s.Pending, s.Retrying, s.StaleLeases, s.DeadLetter, s.BacklogOpen, s.Leased, s.Succeeded,
		s.Total} {
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

// coverageStores reads the stores that collectors report. An unreadable record names its store by its key, without
// counts.
func (p *evidencePage) coverageStores(rows *sql.Rows) error {
	var id, key string
	var data []byte
	into := []any{&id, &key, &data}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.evidenceOf(id)
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

// addRow scans each row into the variables of into, and calls keep with the evidence of the row's connection. If keep
// reports that the row is unreadable, the family is marked unreadable for that connection.
func (p *evidencePage) addRow(
	rows *sql.Rows, f evidence.Family, id *string, into []any, keep func(e *evidence.Evidence) (readable bool),
) error {
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if e, ok := p.evidenceOf(*id); ok && !keep(e) {
			markUnreadable(e, f)
		}
	}
	return nil
}

func (p *evidencePage) schedules(rows *sql.Rows) error {
	var id, updated string
	var s evidence.Schedule
	return p.addRow(rows, evidence.FamilySchedule, &id, []any{&id, &s.Enabled, &s.IntervalSeconds, &s.JitterSeconds,
		&updated}, func(e *evidence.Evidence) bool {
		var times timeParser
		own := s
		own.UpdatedAt = times.required(updated)
		e.Schedule = &own
		return !times.bad
	})
}

func (p *evidencePage) backoffs(rows *sql.Rows) error {
	var id, observed, next string
	var b evidence.Backoff
	return p.addRow(rows, evidence.FamilySchedule, &id, []any{&id, &b.Class, &b.Failures, &observed, &next},
		func(e *evidence.Evidence) bool {
			var times timeParser
			own := b
			own.ObservedAt, own.NextAttemptAt = times.required(observed), times.optional(next)
			e.Backoff = &own
			return !times.bad
		})
}

func (p *evidencePage) credentials(rows *sql.Rows) error {
	var id, captured, rejected, ends string
	var c evidence.Credential
	return p.addRow(rows, evidence.FamilyCredential, &id, []any{&id, &c.Status, &captured, &rejected, &c.Reason, &ends},
		func(e *evidence.Evidence) bool {
			var times timeParser
			own := c
			own.CapturedAt, own.RejectedAt, own.EndsAt = times.required(captured), times.optional(rejected), times.optional(ends)
			e.Credential = &own
			return !times.bad
		})
}

func (p *evidencePage) probes(rows *sql.Rows) error {
	var id, observed, expires string
	var probe evidence.Probe
	into := []any{&id, &probe.Dimension, &probe.Name, &probe.Status, &probe.Reason, &observed, &expires}
	return p.addRow(rows, evidence.FamilyProbes, &id, into, func(e *evidence.Evidence) bool {
		var times timeParser
		own := probe
		own.At, own.ExpiresAt = times.required(observed), times.optional(expires)
		e.Probes = append(e.Probes, own)
		return !times.bad
	})
}

// What an open question asks for, in the terms of an attention record.
const (
	needCredentials  = "credentials_required"
	needOTP          = "otp_required"
	needManualAction = "manual_action_required"
)

func (p *evidencePage) attention(rows *sql.Rows) error {
	var id, opened, expires string
	var kind protocol.InteractionKind
	var a evidence.Attention
	return p.addRow(rows, evidence.FamilyAttention, &id, []any{&id, &a.ID, &a.RunID, &kind, &opened, &expires},
		func(e *evidence.Evidence) bool {
			var times timeParser
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
			own.OpenedAt, own.ExpiresAt = times.required(opened), times.optional(expires)
			e.Attention = append(e.Attention, own)
			return !times.bad
		})
}

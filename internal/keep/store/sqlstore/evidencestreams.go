package sqlstore

import (
	"database/sql"
	"strconv"
	"strings"

	"pdpp/internal/judge/evidence"
)

// streams reads counts and facts. A stream that the manifest does not declare
// counts as retained and is otherwise left out; without a manifest every stored
// stream is listed, as a required one.
func (p *page) streams(rows *sql.Rows) error {
	totals := make([]evidence.Records, len(p.list))
	for i := range p.list {
		p.list[i].Records = &totals[i]
	}
	var (
		id, name, counted string
		facts             sql.RawBytes // nil when no run has measured the stream
		source            sql.NullString
		slab              []measured
		reader            factReader
	)
	into := []any{&id, &name, &counted, &facts, &source}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		seat, ok := p.seat(id)
		if !ok {
			continue
		}
		var times stamps
		number, changed, _ := strings.Cut(counted, " ")
		retained, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return err
		}
		total := &totals[seat]
		total.Retained += retained
		if newest := times.maybe(changed); newest != nil && (total.ChangedAt == nil || newest.After(*total.ChangedAt)) {
			total.ChangedAt = newest
		}
		if s := p.stream(seat, name); s != nil {
			if len(slab) == cap(slab) {
				slab = make([]measured, 0, 128)
			}
			slab = append(slab, measured{retained: retained})
			m := &slab[len(slab)-1]
			s.Retained = &m.retained
			if facts != nil {
				if ok = reader.read(facts, source.String, &m.fact); ok {
					s.Fact = &m.fact
				}
			}
		}
		if times.bad || !ok {
			lose(&p.list[seat], evidence.FamilyRecords)
		}
	}
	return nil
}

// stream finds the place of a stored stream in a connection's list.
func (p *page) stream(seat int, name string) *evidence.Stream {
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

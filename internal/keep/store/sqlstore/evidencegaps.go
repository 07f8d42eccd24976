package sqlstore

import (
	"database/sql"

	"pdpp/internal/judge/evidence"
)

// openGaps reads the outstanding gaps, grouped. A connection without a row has
// none, which is measured too.
func (p *page) openGaps(rows *sql.Rows) error {
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
		e, ok := p.find(id)
		if !ok || e.Gaps == nil {
			continue
		}
		var times stamps
		own := group
		own.NotBefore, own.Earliest = times.maybe(notBefore), times.maybe(earliest)
		e.Gaps.Groups = append(e.Gaps.Groups, own)
		if times.bad {
			e.Gaps = nil
		}
	}
	return nil
}

func (p *page) closedGaps(rows *sql.Rows) error {
	var id, status string
	var count int64
	into := []any{&id, &status, &count}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.find(id)
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

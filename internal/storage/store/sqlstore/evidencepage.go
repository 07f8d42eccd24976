package sqlstore

import (
	"database/sql"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// evidencePage is a page of evidence under construction.
type evidencePage struct {
	list  []evidence.Evidence
	made  []connectionManifest // the manifest of each connection, parallel to list
	seats map[string]int
	size  int // the largest possible number of connections
	near  int // the position that was looked up last
	known *declarations
}

// connectionManifest identifies the manifest of a connection, and holds its declaration once it is known.
type connectionManifest struct {
	of       manifestID
	declared *declaration
	deleted  []string // streams
}

func (p *evidencePage) connections(rows *sql.Rows) error {
	var (
		e       evidence.Evidence
		of      manifestID
		created string
	)
	c := &e.Connection
	into := []any{&c.ID, &c.ConnectorID, &c.DisplayName, &c.Status, &c.SourceKind, &of.number, &created}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		var err error
		if c.CreatedAt, err = parseTime(created); err != nil {
			return err
		}
		of.connectorID = c.ConnectorID
		if p.list == nil {
			p.list, p.made = make([]evidence.Evidence, 0, p.size), make([]connectionManifest, 0, p.size)
		}
		p.list = append(p.list, e)
		p.made = append(p.made, connectionManifest{of: of})
	}
	p.seats = make(map[string]int, len(p.list))
	for i := range p.list {
		p.seats[p.list[i].Connection.ID] = i
	}
	return nil
}

// setRange limits the following statements to the connections of the page.
func (p *evidencePage) setRange(in *pageScope) (err error) {
	in.last = p.list[len(p.list)-1].Connection.ID
	if in.named == nil {
		return nil
	}
	ids := make([]string, len(p.list))
	for i := range p.list {
		ids[i] = p.list[i].Connection.ID
	}
	in.named, err = in.db.dialect.ListArgument(ids)
	return err
}

// position finds a connection of the page. Rows mostly come in the page's order, so the position is usually the last
// one or the next.
func (p *evidencePage) position(id string) (int, bool) {
	for i := p.near; i < min(p.near+2, len(p.list)); i++ {
		if p.list[i].Connection.ID == id {
			p.near = i
			return i, true
		}
	}
	i, ok := p.seats[id]
	if ok {
		p.near = i
	}
	return i, ok
}

func (p *evidencePage) evidenceOf(id string) (*evidence.Evidence, bool) {
	i, ok := p.position(id)
	if !ok {
		return nil, false
	}
	return &p.list[i], true
}

// markAllUnreadable marks a family as unreadable for all connections. Manifests are marked per connection.
func (p *evidencePage) markAllUnreadable(f evidence.Family) {
	if f == "" || f == evidence.FamilyManifest {
		return
	}
	for i := range p.list {
		markUnreadable(&p.list[i], f)
	}
}

// markUnreadable marks a family as unreadable for one connection.
func markUnreadable(e *evidence.Evidence, f evidence.Family) {
	if !slices.Contains(e.Unreadable, f) {
		e.Unreadable = append(e.Unreadable, f)
	}
}

// finish adds what follows from several families.
func (p *evidencePage) finish() {
	for i := range p.list {
		e := &p.list[i]
		// A connection of generation 0 has no manifest yet: there is nothing to read.
		if p.made[i].declared == nil && p.made[i].of.number != 0 {
			markUnreadable(e, evidence.FamilyManifest)
		}
		if e.Device != nil && e.Connection.SourceKind == evidence.SourceLocalDevice && e.Records != nil {
			e.Device.LastIngestAt = e.Records.ChangedAt
		}
		if len(e.Unreadable) > 1 {
			slices.SortFunc(e.Unreadable, func(a, b evidence.Family) int {
				return slices.Index(evidence.Families, a) - slices.Index(evidence.Families, b)
			})
		}
	}
}

// timeParser parses the times of one row and remembers whether one was unreadable.
type timeParser struct{ bad bool }

func (s *timeParser) required(text string) time.Time {
	t, err := parseTime(text)
	s.bad = s.bad || err != nil
	return t
}

// optional parses a time that may be empty.
func (s *timeParser) optional(text string) *time.Time {
	if text == "" {
		return nil
	}
	t := s.required(text)
	return &t
}

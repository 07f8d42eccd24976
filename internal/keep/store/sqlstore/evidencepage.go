package sqlstore

import (
	"database/sql"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// page is a page of evidence in the making.
type page struct {
	list  []evidence.Evidence
	made  []made // what each manifest is, as list
	seats map[string]int
	size  int // how many connections there may be
	near  int // the seat that was asked for last
	known *declarations
}

// made names the manifest of a connection, and what it declares once that is known.
type made struct {
	of       generation
	declared *declaration
	deleted  []string // streams
}

func (p *page) connections(rows *sql.Rows) error {
	var (
		e       evidence.Evidence
		of      generation
		created string
	)
	c := &e.Connection
	into := []any{&c.ID, &c.ConnectorID, &c.DisplayName, &c.Status, &c.SourceKind, &of.number, &created}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		var err error
		if c.CreatedAt, err = readStamp(created); err != nil {
			return err
		}
		of.connectorID = c.ConnectorID
		if p.list == nil {
			p.list, p.made = make([]evidence.Evidence, 0, p.size), make([]made, 0, p.size)
		}
		p.list = append(p.list, e)
		p.made = append(p.made, made{of: of})
	}
	p.seats = make(map[string]int, len(p.list))
	for i := range p.list {
		p.seats[p.list[i].Connection.ID] = i
	}
	return nil
}

// span narrows the statements that follow to the connections that there are.
func (p *page) span(in *within) (err error) {
	in.last = p.list[len(p.list)-1].Connection.ID
	if in.named == nil {
		return nil
	}
	ids := make([]string, len(p.list))
	for i := range p.list {
		ids[i] = p.list[i].Connection.ID
	}
	in.named, err = in.db.dialect.List(ids)
	return err
}

// seat finds a connection of the page. Rows mostly come in the page's own
// order, so the seat is nearly always the one of the row before or the next.
func (p *page) seat(id string) (int, bool) {
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

func (p *page) find(id string) (*evidence.Evidence, bool) {
	i, ok := p.seat(id)
	if !ok {
		return nil, false
	}
	return &p.list[i], true
}

// loseAll says that a family could not be read of any connection. What became of
// manifests shows in each connection.
func (p *page) loseAll(f evidence.Family) {
	if f == "" || f == evidence.FamilyManifest {
		return
	}
	for i := range p.list {
		lose(&p.list[i], f)
	}
}

// lose says that a family could not be read of one connection.
func lose(e *evidence.Evidence, f evidence.Family) {
	if !slices.Contains(e.Unreadable, f) {
		e.Unreadable = append(e.Unreadable, f)
	}
}

// finish adds what follows from several families.
func (p *page) finish() {
	for i := range p.list {
		e := &p.list[i]
		// A connection of generation 0 has no manifest yet: there is nothing to read.
		if p.made[i].declared == nil && p.made[i].of.number != 0 {
			lose(e, evidence.FamilyManifest)
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

// stamps reads the times of one row and remembers whether one could not be read.
type stamps struct{ bad bool }

func (s *stamps) at(text string) time.Time {
	t, err := readStamp(text)
	s.bad = s.bad || err != nil
	return t
}

// maybe reads a time that may be absent.
func (s *stamps) maybe(text string) *time.Time {
	if text == "" {
		return nil
	}
	t := s.at(text)
	return &t
}

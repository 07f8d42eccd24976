package sample

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/pdpp-go/pdpp/providersim"
)

// tokenPosition is what an events cursor or a since token holds.
type tokenPosition struct {
	List string `json:"l"`
	Pos  int    `json:"p"`
	// Floor hides the tombstones of notes that were deleted before the walk
	// that this place belongs to began.
	Floor int `json:"f,omitempty"`
	// Empty counts empty pages, so that their cursors differ.
	Empty int `json:"e,omitempty"`
}

// positionOf reads the token in parameter name, or returns first without one.
func (l *Lumen) positionOf(q url.Values, name string, first tokenPosition, head int) (tokenPosition, *apiRefusal) {
	if !q.Has(name) {
		return first, nil
	}
	var p tokenPosition
	if !l.signer.Open(q.Get(name), &p) || p.List != first.List || p.Pos > head {
		return tokenPosition{}, badRequest("invalid_cursor")
	}
	return p, nil
}

// positionAfter returns the place behind a page that ended at pos.
func (p tokenPosition) positionAfter(pos, delivered int) tokenPosition {
	p.Pos = pos
	if delivered == 0 {
		p.Empty++
	} else {
		p.Empty = 0
	}
	return p
}

func (l *Lumen) serveEvents(r *http.Request) (any, *apiRefusal) {
	q := r.URL.Query()
	limit, refusal := limitParameter(q)
	if refusal != nil {
		return nil, refusal
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, refusal := l.positionOf(q, "cursor", tokenPosition{List: "events"}, len(l.events))
	if refusal != nil {
		return nil, refusal
	}
	fault := providersim.PageFaultFrom(r.Context())
	end := min(at.Pos+fault.Size(limit), len(l.events))
	out := nonNilItems(end - at.Pos)
	for i := at.Pos; i < end; i++ {
		out = append(out, l.renderEvent(i))
	}
	more := end < len(l.events)
	next := at
	if more || len(out) > 0 {
		next = at.positionAfter(end, len(out))
	}
	cursor, more := fault.Next(l.signer.Seal(at), l.signer.Seal(next), more)
	return struct {
		Events     []json.RawMessage `json:"events"`
		NextCursor string            `json:"next_cursor"`
		HasMore    bool              `json:"has_more"`
	}{out, cursor, more}, nil
}

func (l *Lumen) serveChanges(r *http.Request) (any, *apiRefusal) {
	q := r.URL.Query()
	limit, refusal := limitParameter(q)
	if refusal != nil {
		return nil, refusal
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, refusal := l.positionOf(q, "since", tokenPosition{List: "notes", Floor: len(l.changes)}, len(l.changes))
	if refusal != nil {
		return nil, refusal
	}
	fault := providersim.PageFaultFrom(r.Context())
	size := fault.Size(limit)
	out := nonNilItems(size)
	pos, more := at.Pos, false
	for ; pos < len(l.changes); pos++ {
		i, seq := int(l.changes[pos]), pos+1
		if int(l.notes[i].seq) != seq || l.notes[i].deleted && seq <= at.Floor {
			continue
		}
		if len(out) == size {
			more = true
			break
		}
		out = append(out, l.renderNote(i))
	}
	next := at
	if more || pos > at.Pos {
		next = at.positionAfter(pos, len(out))
	}
	since, more := fault.Next(l.signer.Seal(at), l.signer.Seal(next), more)
	return struct {
		Notes     []json.RawMessage `json:"notes"`
		NextSince string            `json:"next_since"`
		HasMore   bool              `json:"has_more"`
	}{out, since, more}, nil
}

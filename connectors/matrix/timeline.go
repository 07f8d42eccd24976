package matrix

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

const (
	perPage = 100
	// perSync is how much of each room comes with the news; the rest is asked for backwards.
	perSync = 20
)

// kind is what is made of the events that people send.
type kind interface {
	// record makes a record of an event; nil when it is of no concern.
	record(ctx context.Context, room string, e event) (*connectorkit.Record, error)
	// types are those that are asked for.
	types() []string
	// edits says that an event which replaces another one changes that one's record.
	edits() bool
}

// timeline goes through what people send. A server tells what is new in all rooms since a moment, in
// the order in which it came to know it, and leaves out what is too much. That, and what was before
// the first such moment, is read backwards, room by room.
type timeline struct {
	*account
	kind kind
	walk *walk // nil before the first page of a run
}

// place is what the bookmark holds of a room.
type place struct {
	Last  string `json:"l,omitzero"` // the newest event that came with the news
	Spans []span `json:"s,omitzero"` // what is to be read backwards
	// Edits are the last events that replace others, which are still to be read backwards, by those and by
	// who sent them.
	Edits map[string]edit `json:"e,omitzero"`
}

// span is a part of what was said in a room.
type span struct {
	From  string `json:"f"`          // where to go on
	Until string `json:"u,omitzero"` // the event that is known already; empty reads from the room's beginning
}

// walk is one run's way.
type walk struct {
	since  string
	rooms  map[string]*place
	synced bool
	again  bool             // everything is read a second time, so that what is gone may be stored
	step   int              // tells bookmarks apart
	near   map[string]event // events of the page at hand and edits of this run, by id
}

func (t *timeline) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if t.walk == nil || len(at) == 0 && t.walk.since != "" {
		if err := t.begin(ctx, at); err != nil {
			return connectorkit.Page{}, err
		}
	}
	w := t.walk
	var records []connectorkit.Record
	var err error
	switch room := w.open(); {
	case room == "":
		records, err = t.news(ctx)
	case len(w.rooms[room].Spans) > 0:
		records, err = t.before(ctx, room)
	default:
		records, err = t.settle(ctx, room)
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	more := !w.synced || w.open() != ""
	return connectorkit.Page{Records: records, Next: t.bookmark(more), More: more}, nil
}

func (t *timeline) begin(ctx context.Context, at connectorkit.Cursor) error {
	if err := t.know(ctx); err != nil {
		return err
	}
	w := &walk{since: at["since"], rooms: map[string]*place{}, near: map[string]event{}, again: at["again"] != "" ||
		t.walk != nil || t.anew}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	if at["account"] != t.user || json.Unmarshal([]byte(at["rooms"]), &w.rooms) != nil || w.rooms == nil {
		w.since, w.rooms = "", map[string]*place{}
	}
	maps.DeleteFunc(w.rooms, func(_ string, p *place) bool { return p == nil })
	t.walk = w
	return nil
}

// open is a room of which something is still to be read; empty when there is none.
func (w *walk) open() string {
	for _, room := range slices.Sorted(maps.Keys(w.rooms)) {
		if p := w.rooms[room]; len(p.Spans) > 0 || len(p.Edits) > 0 {
			return room
		}
	}
	return ""
}

func (t *timeline) bookmark(more bool) connectorkit.Cursor {
	text, err := json.Marshal(t.walk.rooms, json.Deterministic(true))
	if err != nil {
		panic(err) // strings have a form
	}
	c := connectorkit.Cursor{"account": t.user, "since": t.walk.since, "rooms": string(text)}
	if more {
		t.walk.step++
		c["step"] = strconv.Itoa(t.walk.step)
		if t.walk.again {
			c["again"] = "yes"
		}
	}
	return c
}

// news reads what happened since the moment of the bookmark.
func (t *timeline) news(ctx context.Context) ([]connectorkit.Record, error) {
	w := t.walk
	got, err := t.sync(ctx, w.since, nil, t.kind.types(), perSync)
	if err != nil {
		return nil, err
	}
	var records []connectorkit.Record
	for _, section := range []map[string]update{got.Rooms.Join, got.Rooms.Leave} {
		for _, room := range slices.Sorted(maps.Keys(section)) {
			u := section[room]
			p := w.rooms[room]
			if p == nil {
				p = &place{}
				w.rooms[room] = p
			}
			if u.Timeline.Limited && u.Timeline.Before != "" {
				p.Spans = append(p.Spans, span{From: u.Timeline.Before, Until: p.Last})
			}
			some, err := t.said(ctx, room, u.Timeline.Events, way{unstored: w.since == "" && !w.again})
			if err != nil {
				return nil, err
			}
			records = append(records, some...)
		}
	}
	w.since, w.synced = got.Next, true
	return records, nil
}

// before reads one page backwards.
func (t *timeline) before(ctx context.Context, room string) ([]connectorkit.Record, error) {
	p := t.walk.rooms[room]
	here := &p.Spans[0]
	filter, err := json.Marshal(map[string]any{"types": t.kind.types()})
	if err != nil {
		return nil, err
	}
	var got struct {
		Chunk []jsontext.Value `json:"chunk"`
		End   string           `json:"end"`
	}
	err = t.get(ctx, roomPath(room)+"/messages", url.Values{"dir": {"b"}, "limit": {strconv.Itoa(perPage)}, "from": {here.From}, "filter": {string(filter)}}, &got)
	var records []connectorkit.Record
	switch class := classOf(err); {
	case class == connectorkit.Forbidden || class == connectorkit.NotFound:
		// The person may no longer read here: what was not read is missing.
		records, got.End = []connectorkit.Record{connectorkit.Unreadable(room, nil)}, ""
	case err != nil:
		return nil, err
	case got.Chunk == nil:
		return nil, connectorkit.Fail(connectorkit.Malformed, errForm)
	default:
		if records, err = t.said(ctx, room, got.Chunk, way{backwards: true, unstored: here.Until == "" && !t.walk.again}); err != nil {
			return nil, err
		}
	}
	met := here.Until != "" && slices.ContainsFunc(got.Chunk, func(raw jsontext.Value) bool {
		e, _ := read(raw) // what cannot be read is not the one
		return e.ID == here.Until
	})
	if met || got.End == "" || got.End == here.From {
		p.Spans = p.Spans[1:]
		return records, nil
	}
	here.From = got.End
	return records, nil
}

// way is how events are read.
type way struct {
	backwards bool // newest first
	unstored  bool // nothing of before can be stored, so that nothing needs to be deleted
}

// said makes records of events.
func (t *timeline) said(ctx context.Context, room string, raws []jsontext.Value, how way) ([]connectorkit.Record, error) {
	w := t.walk
	p := w.rooms[room]
	all := make([]event, 0, len(raws))
	var records []connectorkit.Record
	for _, raw := range raws {
		e, err := read(raw)
		if err != nil {
			records = append(records, connectorkit.Unreadable("", err))
			continue
		}
		w.near[e.ID] = e
		all = append(all, e)
	}
	for _, e := range all {
		if !how.backwards {
			p.Last = e.ID
		}
		record, err := t.one(ctx, room, e, how)
		if err != nil {
			return nil, err
		}
		if record != nil {
			records = append(records, *record)
		}
	}
	for _, e := range all {
		if original(e) == "" {
			delete(w.near, e.ID) // an edit may be asked for on a page that follows
		}
	}
	return records, nil
}

// one makes a record of an event.
func (t *timeline) one(ctx context.Context, room string, e event, how way) (*connectorkit.Record, error) {
	switch gone := e.redacts(); {
	case e.Type == "m.room.redaction" || e.redacted():
		if e.redacted() {
			gone = e.ID
		}
		if how.unstored || gone == "" {
			return nil, nil
		}
		deleted := connectorkit.Delete(gone)
		return &deleted, nil
	case t.kind.edits() && original(e) != "":
		return t.edited(ctx, room, e, how.backwards)
	case original(e) != "":
		return nil, nil
	}
	p := t.walk.rooms[room]
	if by, known := p.Edits[concerns(e.ID, e.Sender)]; known {
		last, err := t.event(ctx, room, by.ID)
		if err != nil {
			return nil, err
		}
		e, _ = replaced(e, last)
		if how.backwards {
			delete(p.Edits, concerns(e.ID, e.Sender))
		}
	}
	return t.kind.record(ctx, room, e)
}

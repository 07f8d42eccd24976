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
	eventsPerPage = 100
	// eventsPerSync is how many events of each room a sync returns; the rest is requested backwards.
	eventsPerSync = 20
)

// timelineKind maps timeline events to the records of a stream.
type timelineKind interface {
	// recordOf makes a record of an event; nil when it is of no concern.
	recordOf(ctx context.Context, room string, e roomEvent) (*connectorkit.Record, error)
	// eventTypes returns the requested event types.
	eventTypes() []string
	// appliesEdits reports whether a replacement changes the record of the replaced event.
	appliesEdits() bool
}

// roomTimeline reads the timeline events of all rooms. A sync returns new events in the server's order and omits some
// when there are many. Omitted events, and those before the first sync, are read backwards, room by room.
type roomTimeline struct {
	*matrixAccount
	kind timelineKind
	walk *timelineWalk // nil before the first page of a run
}

// roomBookmark is what the bookmark holds of a room.
type roomBookmark struct {
	Last  string         `json:"l,omitzero"` // the newest event that came with the news
	Spans []timelineSpan `json:"s,omitzero"` // what is to be read backwards
	// Edits are the last events that replace others, which are still to be read backwards, by those and by
	// who sent them.
	Edits map[string]replacementEvent `json:"e,omitzero"`
}

// timelineSpan is a part of a room's timeline.
type timelineSpan struct {
	From  string `json:"f"`          // where to go on
	Until string `json:"u,omitzero"` // the event that is known already; empty reads from the room's beginning
}

// timelineWalk is one run's way.
type timelineWalk struct {
	since  string
	rooms  map[string]*roomBookmark
	synced bool
	again  bool                 // everything is read a second time, so that what is gone may be stored
	step   int                  // makes each bookmark different
	near   map[string]roomEvent // events of the page at hand and edits of this run, by id
}

func (t *roomTimeline) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if t.walk == nil || len(at) == 0 && t.walk.since != "" {
		if err := t.startWalk(ctx, at); err != nil {
			return connectorkit.Page{}, err
		}
	}
	w := t.walk
	var records []connectorkit.Record
	var err error
	switch room := w.unfinishedRoom(); {
	case room == "":
		records, err = t.readNewEvents(ctx)
	case len(w.rooms[room].Spans) > 0:
		records, err = t.readOlderEvents(ctx, room)
	default:
		records, err = t.applyPendingEdits(ctx, room)
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	more := !w.synced || w.unfinishedRoom() != ""
	return connectorkit.Page{Records: records, Next: t.nextCursor(more), More: more}, nil
}

func (t *roomTimeline) startWalk(ctx context.Context, at connectorkit.Cursor) error {
	if err := t.fetchAccount(ctx); err != nil {
		return err
	}
	w := &timelineWalk{since: at["since"], rooms: map[string]*roomBookmark{}, near: map[string]roomEvent{},
		again: at["again"] != "" ||
			t.walk != nil || t.anew}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	if at["account"] != t.user || json.Unmarshal([]byte(at["rooms"]), &w.rooms) != nil || w.rooms == nil {
		w.since, w.rooms = "", map[string]*roomBookmark{}
	}
	maps.DeleteFunc(w.rooms, func(_ string, p *roomBookmark) bool { return p == nil })
	t.walk = w
	return nil
}

// unfinishedRoom returns a room with unread events; empty when there is none.
func (w *timelineWalk) unfinishedRoom() string {
	for _, room := range slices.Sorted(maps.Keys(w.rooms)) {
		if p := w.rooms[room]; len(p.Spans) > 0 || len(p.Edits) > 0 {
			return room
		}
	}
	return ""
}

func (t *roomTimeline) nextCursor(more bool) connectorkit.Cursor {
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

// readNewEvents reads what happened since the moment of the bookmark.
func (t *roomTimeline) readNewEvents(ctx context.Context) ([]connectorkit.Record, error) {
	w := t.walk
	got, err := t.syncSince(ctx, w.since, nil, t.kind.eventTypes(), eventsPerSync)
	if err != nil {
		return nil, err
	}
	var records []connectorkit.Record
	for _, section := range []map[string]roomUpdate{got.Rooms.Join, got.Rooms.Leave} {
		for _, room := range slices.Sorted(maps.Keys(section)) {
			u := section[room]
			p := w.rooms[room]
			if p == nil {
				p = &roomBookmark{}
				w.rooms[room] = p
			}
			if u.Timeline.Limited && u.Timeline.Before != "" {
				p.Spans = append(p.Spans, timelineSpan{From: u.Timeline.Before, Until: p.Last})
			}
			some, err := t.recordsOfEvents(ctx, room, u.Timeline.Events, readDirection{unstored: w.since == "" && !w.again})
			if err != nil {
				return nil, err
			}
			records = append(records, some...)
		}
	}
	w.since, w.synced = got.Next, true
	return records, nil
}

// readOlderEvents reads one page backwards.
func (t *roomTimeline) readOlderEvents(ctx context.Context, room string) ([]connectorkit.Record, error) {
	p := t.walk.rooms[room]
	here := &p.Spans[0]
	filter, err := json.Marshal(map[string]any{"types": t.kind.eventTypes()})
	if err != nil {
		return nil, err
	}
	var got struct {
		Chunk []jsontext.Value `json:"chunk"`
		End   string           `json:"end"`
	}
	err = t.getJSON(ctx, roomEndpoint(room)+"/messages",
		url.Values{"dir": {"b"}, "limit": {strconv.Itoa(eventsPerPage)}, "from": {here.From}, "filter": {string(filter)}},
		&got)
	var records []connectorkit.Record
	switch class := classOf(err); {
	case class == connectorkit.Forbidden || class == connectorkit.NotFound:
		// The person may no longer read here: the unread events become a gap.
		records, got.End = []connectorkit.Record{connectorkit.Unreadable(room, nil)}, ""
	case err != nil:
		return nil, err
	case got.Chunk == nil:
		return nil, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	default:
		if records, err = t.recordsOfEvents(ctx, room, got.Chunk,
			readDirection{backwards: true, unstored: here.Until == "" && !t.walk.again}); err != nil {
			return nil, err
		}
	}
	met := here.Until != "" && slices.ContainsFunc(got.Chunk, func(raw jsontext.Value) bool {
		e, _ := decodeEvent(raw) // what cannot be read is not the one
		return e.ID == here.Until
	})
	if met || got.End == "" || got.End == here.From {
		p.Spans = p.Spans[1:]
		return records, nil
	}
	here.From = got.End
	return records, nil
}

// readDirection is how events are read.
type readDirection struct {
	backwards bool // newest first
	unstored  bool // nothing of before can be stored, so that nothing needs to be deleted
}

// recordsOfEvents returns the records of events.
func (t *roomTimeline) recordsOfEvents(ctx context.Context, room string, raws []jsontext.Value,
	how readDirection) ([]connectorkit.Record,
	error) {
	w := t.walk
	p := w.rooms[room]
	all := make([]roomEvent, 0, len(raws))
	var records []connectorkit.Record
	for _, raw := range raws {
		e, err := decodeEvent(raw)
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
		record, err := t.recordOfEvent(ctx, room, e, how)
		if err != nil {
			return nil, err
		}
		if record != nil {
			records = append(records, *record)
		}
	}
	for _, e := range all {
		if replacedEventID(e) == "" {
			delete(w.near, e.ID) // an edit may be asked for on a page that follows
		}
	}
	return records, nil
}

// recordOfEvent makes a record of an event.
func (t *roomTimeline) recordOfEvent(ctx context.Context, room string, e roomEvent,
	how readDirection) (*connectorkit.Record, error) {
	switch gone := e.redactedEventID(); {
	case e.Type == "m.room.redaction" || e.isRedacted():
		if e.isRedacted() {
			gone = e.ID
		}
		if how.unstored || gone == "" {
			return nil, nil
		}
		deleted := connectorkit.Delete(gone)
		return &deleted, nil
	case t.kind.appliesEdits() && replacedEventID(e) != "":
		return t.recordOfEdited(ctx, room, e, how.backwards)
	case replacedEventID(e) != "":
		return nil, nil
	}
	p := t.walk.rooms[room]
	if by, known := p.Edits[editKey(e.ID, e.Sender)]; known {
		last, err := t.fetchEvent(ctx, room, by.ID)
		if err != nil {
			return nil, err
		}
		e, _ = withReplacement(e, last)
		if how.backwards {
			delete(p.Edits, editKey(e.ID, e.Sender))
		}
	}
	return t.kind.recordOf(ctx, room, e)
}

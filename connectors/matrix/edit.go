package matrix

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// replacedEventID returns the event that an event replaces; empty when it replaces none.
func replacedEventID(e roomEvent) string {
	var c struct {
		Relates struct {
			Kind  string `json:"rel_type"`
			Event string `json:"event_id"`
		} `json:"m.relates_to"`
	}
	if json.Unmarshal(e.Content, &c) != nil || c.Relates.Kind != "m.replace" || c.Relates.Event == e.ID {
		return ""
	}
	return c.Relates.Event
}

// replacementEvent is an event that replaces another one. The last one counts, by the time of its sender.
type replacementEvent struct {
	ID     string `json:"i"`
	SentMS int64  `json:"t"`
}

// editKey returns the key under which an edit is remembered. Only the sender of an event can replace it.
func editKey(id, sender string) string { return id + " " + sender }

// recordOfEdited makes a record of the event that another one replaces. Backwards the original is still to
// come, or is stored: then settle asks for it.
func (t *roomTimeline) recordOfEdited(ctx context.Context, room string, e roomEvent,
	backwards bool) (*connectorkit.Record, error) {
	p, id := t.walk.rooms[room], replacedEventID(e)
	if backwards || len(p.Spans) > 0 {
		if p.Edits == nil {
			p.Edits = map[string]replacementEvent{}
		}
		if known := p.Edits[editKey(id, e.Sender)]; known.SentMS < e.SentMS || known.SentMS == e.SentMS && known.ID < e.ID {
			p.Edits[editKey(id, e.Sender)] = replacementEvent{e.ID, e.SentMS}
		}
	}
	if backwards {
		return nil, nil
	}
	return t.applyReplacement(ctx, room, id, e)
}

// applyReplacement makes a record of an event as another one has it; nil when it cannot be seen or is not its sender's.
func (t *roomTimeline) applyReplacement(ctx context.Context, room, id string, by roomEvent) (*connectorkit.Record,
	error) {
	first, err := t.fetchEvent(ctx, room, id)
	if err != nil || first.ID == "" || first.isRedacted() || replacedEventID(first) != "" {
		return nil, err
	}
	if e, ok := withReplacement(first, by); ok {
		return t.kind.recordOf(ctx, room, e)
	}
	return nil, nil
}

// perSettling is how many edits are settled at once.
const perSettling = 20

// applyPendingEdits makes records of events that were stored before edits of them were read backwards.
func (t *roomTimeline) applyPendingEdits(ctx context.Context, room string) (records []connectorkit.Record, err error) {
	p := t.walk.rooms[room]
	for _, which := range slices.Sorted(maps.Keys(p.Edits)) {
		if len(records) == perSettling {
			break
		}
		last, err := t.fetchEvent(ctx, room, p.Edits[which].ID)
		if err != nil {
			return nil, err
		}
		id, _, _ := strings.Cut(which, " ")
		if last.ID != "" {
			record, err := t.applyReplacement(ctx, room, id, last)
			if err != nil {
				return nil, err
			}
			if record != nil {
				records = append(records, *record)
			}
		}
		delete(p.Edits, which)
	}
	return records, nil
}

// fetchEvent returns an event by its id; an empty one when it is not visible.
func (t *roomTimeline) fetchEvent(ctx context.Context, room, id string) (roomEvent, error) {
	if e, near := t.walk.near[id]; near {
		return e, nil
	}
	var raw jsontext.Value
	err := t.getJSON(ctx, roomEndpoint(room)+"/event/"+url.PathEscape(id), nil, &raw)
	if class := classOf(err); class == connectorkit.NotFound || class == connectorkit.Forbidden {
		return roomEvent{}, nil
	}
	if err != nil {
		return roomEvent{}, err
	}
	e, err := decodeEvent(raw)
	if err != nil {
		return roomEvent{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	return e, nil
}

// withReplacement returns an event with the content of its replacement. It ignores replacements by other senders and
// of redacted events.
func withReplacement(e, by roomEvent) (roomEvent, bool) {
	var c struct {
		New jsontext.Value `json:"m.new_content"`
	}
	if by.Sender != e.Sender || by.Type != e.Type || by.isRedacted() || json.Unmarshal(by.Content, &c) != nil ||
		c.New.Kind() != '{' {
		return e, false
	}
	e.new, e.editedMS = c.New, by.SentMS
	return e, true
}

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

// original is the event that an event replaces; empty when it replaces none.
func original(e event) string {
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

// edit is an event that replaces another one. The last one counts, by the time of its sender.
type edit struct {
	ID     string `json:"i"`
	SentMS int64  `json:"t"`
}

// concerns is what an edit is remembered by: only whoever sent an event can replace it.
func concerns(id, sender string) string { return id + " " + sender }

// edited makes a record of the event that another one replaces. Backwards the original is still to
// come, or is stored: then settle asks for it.
func (t *timeline) edited(ctx context.Context, room string, e event, backwards bool) (*connectorkit.Record, error) {
	p, id := t.walk.rooms[room], original(e)
	if backwards || len(p.Spans) > 0 {
		if p.Edits == nil {
			p.Edits = map[string]edit{}
		}
		if known := p.Edits[concerns(id, e.Sender)]; known.SentMS < e.SentMS || known.SentMS == e.SentMS && known.ID < e.ID {
			p.Edits[concerns(id, e.Sender)] = edit{e.ID, e.SentMS}
		}
	}
	if backwards {
		return nil, nil
	}
	return t.apply(ctx, room, id, e)
}

// apply makes a record of an event as another one has it; nil when it cannot be seen or is not its sender's.
func (t *timeline) apply(ctx context.Context, room, id string, by event) (*connectorkit.Record, error) {
	first, err := t.event(ctx, room, id)
	if err != nil || first.ID == "" || first.redacted() || original(first) != "" {
		return nil, err
	}
	if e, ok := replaced(first, by); ok {
		return t.kind.record(ctx, room, e)
	}
	return nil, nil
}

// perSettling is how many edits are settled at once.
const perSettling = 20

// settle makes records of events that were stored before edits of them were read backwards.
func (t *timeline) settle(ctx context.Context, room string) (records []connectorkit.Record, err error) {
	p := t.walk.rooms[room]
	for _, which := range slices.Sorted(maps.Keys(p.Edits)) {
		if len(records) == perSettling {
			break
		}
		last, err := t.event(ctx, room, p.Edits[which].ID)
		if err != nil {
			return nil, err
		}
		id, _, _ := strings.Cut(which, " ")
		if last.ID != "" {
			record, err := t.apply(ctx, room, id, last)
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

// event gives an event by its id; an empty one when it cannot be seen.
func (t *timeline) event(ctx context.Context, room, id string) (event, error) {
	if e, near := t.walk.near[id]; near {
		return e, nil
	}
	var raw jsontext.Value
	err := t.get(ctx, roomPath(room)+"/event/"+url.PathEscape(id), nil, &raw)
	if class := classOf(err); class == connectorkit.NotFound || class == connectorkit.Forbidden {
		return event{}, nil
	}
	if err != nil {
		return event{}, err
	}
	e, err := read(raw)
	if err != nil {
		return event{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	return e, nil
}

// replaced is an event with the content of its replacement, unless somebody else sent that, or its
// content was taken away.
func replaced(e, by event) (event, bool) {
	var c struct {
		New jsontext.Value `json:"m.new_content"`
	}
	if by.Sender != e.Sender || by.Type != e.Type || by.redacted() || json.Unmarshal(by.Content, &c) != nil || c.New.Kind() != '{' {
		return e, false
	}
	e.new, e.editedMS = c.New, by.SentMS
	return e, true
}

package matrix

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// described are the types of events that say what a room is.
var described = []string{"m.room.create", "m.room.name", "m.room.topic", "m.room.canonical_alias", "m.room.encryption", "m.room.tombstone"}

// rooms are those that the person is in or was in. What changed in one does not say how the rest of
// it is, so that such a room is asked for. The bookmark holds
//
//	since   the moment up to which everything is known
//	todo    rooms that are to be asked for, each with a sign of whether the person has left it
type rooms struct {
	*account
	since  string
	todo   []string
	begun  bool
	synced bool
	step   int
}

type roomRecord struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitzero"`
	Topic      string `json:"topic,omitzero"`
	Alias      string `json:"alias,omitzero"`
	Encrypted  bool   `json:"encrypted"`
	Creator    string `json:"creator,omitzero"`
	CreatedAt  string `json:"created_at,omitzero"`
	Version    string `json:"room_version,omitzero"`
	Type       string `json:"room_type,omitzero"`
	ReplacedBy string `json:"replaced_by,omitzero"`
	Membership string `json:"membership"`
}

func (r *rooms) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if !r.begun || len(at) == 0 && r.since != "" {
		if err := r.know(ctx); err != nil {
			return connectorkit.Page{}, err
		}
		r.begun, r.synced, r.since, r.todo = true, false, "", nil
		if at["account"] == r.user && json.Unmarshal([]byte(at["todo"]), &r.todo) == nil {
			r.since = at["since"]
		}
		r.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	}
	var records []connectorkit.Record
	var err error
	if len(r.todo) > 0 {
		records, err = r.ask(ctx)
	} else {
		records, err = r.news(ctx)
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	todo, err := json.Marshal(r.todo)
	if err != nil {
		panic(err) // strings have a form
	}
	page := connectorkit.Page{Records: records, More: !r.synced || len(r.todo) > 0}
	page.Next = connectorkit.Cursor{"account": r.user, "since": r.since, "todo": string(todo)}
	if page.More {
		r.step++
		page.Next["step"] = strconv.Itoa(r.step)
	}
	return page, nil
}

// news reads what changed. The first time everything comes at once.
func (r *rooms) news(ctx context.Context) ([]connectorkit.Record, error) {
	mine := []string{"m.room.member"}
	got, err := r.sync(ctx, r.since, append(mine, described...), append(mine, described...), perSync)
	if err != nil {
		return nil, err
	}
	var records []connectorkit.Record
	for _, id := range slices.Sorted(maps.Keys(got.Rooms.Join)) {
		u := got.Rooms.Join[id]
		all := append(slices.Clone(u.State.Events), u.Timeline.Events...)
		switch {
		case r.since == "" && !u.Timeline.Limited:
			records = append(records, room(id, "join", all))
		case u.Timeline.Limited || slices.ContainsFunc(all, r.tells):
			r.todo = append(r.todo, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(got.Rooms.Leave)) {
		r.todo = append(r.todo, "-"+id)
	}
	r.since, r.synced = got.Next, true
	return records, nil
}

// tells reports whether an event changes what is said of a room.
func (r *rooms) tells(raw jsontext.Value) bool {
	e, err := read(raw)
	return err != nil || slices.Contains(described, e.Type) || e.StateKey != nil && *e.StateKey == r.user
}

// ask reads a room as it is, or as it was when the person left.
func (r *rooms) ask(ctx context.Context) ([]connectorkit.Record, error) {
	id, membership := r.todo[0], "join"
	if id != "" && id[0] == '-' {
		id, membership = id[1:], "leave"
	}
	var all []jsontext.Value
	err := r.get(ctx, roomPath(id)+"/state", nil, &all)
	class := classOf(err)
	if err != nil && class != connectorkit.Forbidden && class != connectorkit.NotFound {
		return nil, err
	}
	r.todo = r.todo[1:]
	if err != nil { // it has been forgotten since
		return []connectorkit.Record{connectorkit.Delete(id)}, nil
	}
	return []connectorkit.Record{room(id, membership, all)}, nil
}

// room makes a record of the events that say what a room is, in order.
func room(id, membership string, all []jsontext.Value) connectorkit.Record {
	out := roomRecord{ID: id, Membership: membership}
	for _, raw := range all {
		e, err := read(raw)
		if err != nil {
			return connectorkit.Unreadable(id, err)
		}
		if e.StateKey == nil || *e.StateKey != "" {
			continue
		}
		var c struct {
			Name        string `json:"name"`
			Topic       string `json:"topic"`
			Alias       string `json:"alias"`
			Type        string `json:"type"`
			Version     string `json:"room_version"`
			Replacement string `json:"replacement_room"`
		}
		if err := json.Unmarshal(e.Content, &c); err != nil {
			return connectorkit.Unreadable(id, err)
		}
		switch e.Type {
		case "m.room.create":
			out.Creator, out.CreatedAt, out.Version, out.Type = e.Sender, moment(e.SentMS), c.Version, c.Type
		case "m.room.name":
			out.Name = c.Name
		case "m.room.topic":
			out.Topic = c.Topic
		case "m.room.canonical_alias":
			out.Alias = c.Alias
		case "m.room.encryption":
			out.Encrypted = true
		case "m.room.tombstone":
			out.ReplacedBy = c.Replacement
		}
	}
	return connectorkit.Upsert(out)
}

// members are the people in the rooms: every event says all of one of them.
type members struct {
	*account
}

type memberRecord struct {
	ID         string `json:"id"`
	Room       string `json:"room_id"`
	User       string `json:"user_id"`
	Name       string `json:"display_name,omitzero"`
	Membership string `json:"membership"`
	ChangedAt  string `json:"changed_at"`
}

func (m *members) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if err := m.know(ctx); err != nil {
		return connectorkit.Page{}, err
	}
	since := at["since"]
	if at["account"] != m.user {
		since = ""
	}
	types := []string{"m.room.member"}
	got, err := m.sync(ctx, since, types, types, perSync)
	if err != nil {
		return connectorkit.Page{}, err
	}
	page := connectorkit.Page{Next: connectorkit.Cursor{"account": m.user, "since": got.Next}}
	for _, section := range []map[string]update{got.Rooms.Join, got.Rooms.Leave} {
		for _, id := range slices.Sorted(maps.Keys(section)) {
			for _, raw := range append(slices.Clone(section[id].State.Events), section[id].Timeline.Events...) {
				page.Records = append(page.Records, member(id, raw))
			}
		}
	}
	return page, nil
}

func member(room string, raw jsontext.Value) connectorkit.Record {
	e, err := read(raw)
	if err != nil || e.StateKey == nil {
		return connectorkit.Unreadable("", err)
	}
	var c struct {
		Membership string `json:"membership"`
		Name       string `json:"displayname"`
	}
	id := room + " " + *e.StateKey
	if err := json.Unmarshal(e.Content, &c); err != nil || c.Membership == "" {
		return connectorkit.Unreadable(id, err)
	}
	return connectorkit.Upsert(memberRecord{id, room, *e.StateKey, c.Name, c.Membership, moment(e.SentMS)})
}

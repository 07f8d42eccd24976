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

// roomStateTypes are the types of events that describe a room.
var roomStateTypes = []string{"m.room.create", "m.room.name", "m.room.topic", "m.room.canonical_alias",
	"m.room.encryption",
	"m.room.tombstone"}

// roomCollector reads the rooms that the person is in or was in. A change does not include the rest of a room's
// state, so a changed room is requested. The bookmark holds
//
//	since   the sync token up to which everything is known
//	todo    rooms to request, each with a flag for rooms that the person has left
type roomCollector struct {
	*matrixAccount
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

func (r *roomCollector) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if !r.begun || len(at) == 0 && r.since != "" {
		if err := r.fetchAccount(ctx); err != nil {
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
		records, err = r.fetchRoomState(ctx)
	} else {
		records, err = r.readRoomChanges(ctx)
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

// readRoomChanges reads what changed. The first time everything comes at once.
func (r *roomCollector) readRoomChanges(ctx context.Context) ([]connectorkit.Record, error) {
	mine := []string{"m.room.member"}
	got, err := r.syncSince(ctx, r.since, append(mine, roomStateTypes...), append(mine, roomStateTypes...), eventsPerSync)
	if err != nil {
		return nil, err
	}
	var records []connectorkit.Record
	for _, id := range slices.Sorted(maps.Keys(got.Rooms.Join)) {
		u := got.Rooms.Join[id]
		all := append(slices.Clone(u.State.Events), u.Timeline.Events...)
		switch {
		case r.since == "" && !u.Timeline.Limited:
			records = append(records, roomRecordOf(id, "join", all))
		case u.Timeline.Limited || slices.ContainsFunc(all, r.changesRoom):
			r.todo = append(r.todo, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(got.Rooms.Leave)) {
		r.todo = append(r.todo, "-"+id)
	}
	r.since, r.synced = got.Next, true
	return records, nil
}

// changesRoom reports whether an event changes the description of a room.
func (r *roomCollector) changesRoom(raw jsontext.Value) bool {
	e, err := decodeEvent(raw)
	return err != nil || slices.Contains(roomStateTypes, e.Type) || e.StateKey != nil && *e.StateKey == r.user
}

// fetchRoomState reads a room as it is, or as it was when the person left.
func (r *roomCollector) fetchRoomState(ctx context.Context) ([]connectorkit.Record, error) {
	id, membership := r.todo[0], "join"
	if id != "" && id[0] == '-' {
		id, membership = id[1:], "leave"
	}
	var all []jsontext.Value
	err := r.getJSON(ctx, roomEndpoint(id)+"/state", nil, &all)
	class := classOf(err)
	if err != nil && class != connectorkit.Forbidden && class != connectorkit.NotFound {
		return nil, err
	}
	r.todo = r.todo[1:]
	if err != nil { // it has been forgotten since
		return []connectorkit.Record{connectorkit.Delete(id)}, nil
	}
	return []connectorkit.Record{roomRecordOf(id, membership, all)}, nil
}

// roomRecordOf returns the record of a room from its state events, in order.
func roomRecordOf(id, membership string, all []jsontext.Value) connectorkit.Record {
	out := roomRecord{ID: id, Membership: membership}
	for _, raw := range all {
		e, err := decodeEvent(raw)
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
			out.Creator, out.CreatedAt, out.Version, out.Type = e.Sender, formatMillis(e.SentMS), c.Version, c.Type
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

// memberCollector reads the members of the rooms. Every event describes one member completely.
type memberCollector struct {
	*matrixAccount
}

type memberRecord struct {
	ID         string `json:"id"`
	Room       string `json:"room_id"`
	User       string `json:"user_id"`
	Name       string `json:"display_name,omitzero"`
	Membership string `json:"membership"`
	ChangedAt  string `json:"changed_at"`
}

func (m *memberCollector) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if err := m.fetchAccount(ctx); err != nil {
		return connectorkit.Page{}, err
	}
	since := at["since"]
	if at["account"] != m.user {
		since = ""
	}
	types := []string{"m.room.member"}
	got, err := m.syncSince(ctx, since, types, types, eventsPerSync)
	if err != nil {
		return connectorkit.Page{}, err
	}
	page := connectorkit.Page{Next: connectorkit.Cursor{"account": m.user, "since": got.Next}}
	for _, section := range []map[string]roomUpdate{got.Rooms.Join, got.Rooms.Leave} {
		for _, id := range slices.Sorted(maps.Keys(section)) {
			joined := map[string]bool{}
			for _, raw := range append(slices.Clone(section[id].State.Events), section[id].Timeline.Events...) {
				page.Records = append(page.Records, memberRecordOf(id, raw, joined))
			}
			announced, err := strconv.ParseInt(string(section[id].Summary.Joined), 10, 64)
			if err == nil && since == "" {
				m.setup.CompareCount("members", "GET _matrix/client/v3/sync", "rooms/join/*/summary/m.joined_member_count",
					announced, int64(len(joined)))
			}
		}
	}
	return page, nil
}

// memberRecordOf returns the record of a member, and adds to joined who is in the room after the event.
func memberRecordOf(room string, raw jsontext.Value, joined map[string]bool) connectorkit.Record {
	e, err := decodeEvent(raw)
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
	if delete(joined, *e.StateKey); c.Membership == "join" {
		joined[*e.StateKey] = true
	}
	return connectorkit.Upsert(memberRecord{id, room, *e.StateKey, c.Name, c.Membership, formatMillis(e.SentMS)})
}

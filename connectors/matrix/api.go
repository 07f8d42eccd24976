package matrix

import (
	"context"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// account is a person on a homeserver. None of its methods waits or retries.
type account struct {
	client, files *governhttp.Client
	setup         *connectorkit.Setup
	anew          bool // the run reads everything again

	user string // whose token it is; empty until asked
}

// know finds out whose token it is, once in a run.
func (a *account) know(ctx context.Context) error {
	if a.user != "" {
		return nil
	}
	var me struct {
		UserID string `json:"user_id"`
	}
	if err := a.get(ctx, "/_matrix/client/v3/account/whoami", nil, &me); err != nil {
		return err
	}
	if me.UserID == "" {
		return connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	a.user = me.UserID
	return nil
}

// get asks for one thing and reads the answer.
func (a *account) get(ctx context.Context, path string, query url.Values, into any) error {
	resp, err := a.client.Get(ctx, path, query)
	if err != nil {
		return err
	}
	if json.Unmarshal(resp.Body, into) != nil {
		return connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	return nil
}

// roomPath is where what a room has is asked for.
func roomPath(room string) string { return "/_matrix/client/v3/rooms/" + url.PathEscape(room) }

// event is one of a room.
type event struct {
	ID       string         `json:"event_id"`
	Type     string         `json:"type"`
	Sender   string         `json:"sender"`
	SentMS   int64          `json:"origin_server_ts"`
	StateKey *string        `json:"state_key"`
	Content  jsontext.Value `json:"content"`
	Redacts  string         `json:"redacts"`
	Unsigned struct {
		RedactedBecause jsontext.Value `json:"redacted_because"`
	} `json:"unsigned"`

	// new is the content that replaces this one, and when it did.
	new      jsontext.Value
	editedMS int64
}

// moment spells a time as records do.
func moment(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// redacted tells whether its content was taken away.
func (e event) redacted() bool { return len(e.Unsigned.RedactedBecause) > 0 }

// redacts is the event that this one takes the content of; rooms of newer versions have it in the
// content.
func (e event) redacts() string {
	if e.Redacts != "" {
		return e.Redacts
	}
	var c struct {
		Redacts string `json:"redacts"`
	}
	_ = json.Unmarshal(e.Content, &c) // without one it takes nothing
	return c.Redacts
}

// read decodes an event; what came as one and is none has no id.
func read(raw jsontext.Value) (e event, err error) {
	if err = json.Unmarshal(raw, &e); err == nil && (e.ID == "" || e.Type == "" || e.Sender == "" || e.SentMS <= 0 || e.Content.Kind() != '{') {
		err = errForm
	}
	if err != nil {
		e.ID = ""
	}
	return e, err
}

// list is what a room has of some kind; things stay raw, so that a malformed one spoils itself alone.
type list struct {
	Events []jsontext.Value `json:"events"`
}

// update is what happened in a room since a moment.
type update struct {
	State    list `json:"state"`
	Timeline struct {
		list
		// Limited says that there is more between that moment and the first of these events, which is
		// asked for from Before backwards.
		Limited bool   `json:"limited"`
		Before  string `json:"prev_batch"`
	} `json:"timeline"`
}

// updates is what happened in all rooms.
type updates struct {
	Next  string `json:"next_batch"`
	Rooms struct {
		Join  map[string]update `json:"join"`
		Leave map[string]update `json:"leave"`
	} `json:"rooms"`
}

// sync asks for what happened since a moment, or how everything is when that is empty: events of
// these types alone, of state and of what is said.
func (a *account) sync(ctx context.Context, since string, state, said []string, limit int) (updates, error) {
	type filter struct {
		Types    []string `json:"types,omitzero"`
		NotTypes []string `json:"not_types,omitzero"`
		Limit    int      `json:"limit,omitzero"`
	}
	nothing := filter{NotTypes: []string{"*"}}
	states := nothing
	if len(state) > 0 {
		states = filter{Types: state}
	}
	text, err := json.Marshal(map[string]any{
		"room":     map[string]any{"state": states, "timeline": filter{Types: said, Limit: limit}, "ephemeral": nothing, "account_data": nothing, "include_leave": since != ""},
		"presence": nothing, "account_data": nothing,
	}, json.Deterministic(true))
	if err != nil {
		return updates{}, err
	}
	query := url.Values{"timeout": {"0"}, "filter": {string(text)}}
	if since != "" {
		query.Set("since", since)
	}
	var u updates
	if err := a.get(ctx, "/_matrix/client/v3/sync", query, &u); err != nil {
		return updates{}, err
	}
	if u.Next == "" {
		return updates{}, connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	return u, nil
}

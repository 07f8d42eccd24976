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

// matrixAccount is a person on a homeserver. None of its methods waits or retries.
type matrixAccount struct {
	client, files *governhttp.Client
	setup         *connectorkit.Setup
	anew          bool // the run reads everything again

	user string // owner of the token; empty until requested
}

// fetchAccount requests the owner of the token, once per run.
func (a *matrixAccount) fetchAccount(ctx context.Context) error {
	if a.user != "" {
		return nil
	}
	var me struct {
		UserID string `json:"user_id"`
	}
	if err := a.getJSON(ctx, "/_matrix/client/v3/account/whoami", nil, &me); err != nil {
		return err
	}
	if me.UserID == "" {
		return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	a.user = me.UserID
	return nil
}

// getJSON requests a path and decodes the answer.
func (a *matrixAccount) getJSON(ctx context.Context, path string, query url.Values, into any) error {
	resp, err := a.client.Get(ctx, path, query)
	if err != nil {
		return err
	}
	if json.Unmarshal(resp.Body, into) != nil {
		return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	return nil
}

// roomEndpoint returns the path of a room's endpoints.
func roomEndpoint(room string) string { return "/_matrix/client/v3/rooms/" + url.PathEscape(room) }

// roomEvent is one of a room.
type roomEvent struct {
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

// formatMillis spells a time as records do.
func formatMillis(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// isRedacted reports whether the content of the event was removed.
func (e roomEvent) isRedacted() bool { return len(e.Unsigned.RedactedBecause) > 0 }

// redactedEventID returns the event that this one redacts; newer room versions have it in the content.
func (e roomEvent) redactedEventID() string {
	if e.Redacts != "" {
		return e.Redacts
	}
	var c struct {
		Redacts string `json:"redacts"`
	}
	_ = json.Unmarshal(e.Content, &c) // without one it takes nothing
	return c.Redacts
}

// decodeEvent decodes an event; an invalid event has no id.
func decodeEvent(raw jsontext.Value) (e roomEvent, err error) {
	if err = json.Unmarshal(raw, &e); err == nil && (e.ID == "" || e.Type == "" || e.Sender == "" || e.SentMS <= 0 ||
		e.Content.Kind() != '{') {
		err = errUnexpectedShape
	}
	if err != nil {
		e.ID = ""
	}
	return e, err
}

// rawEventList holds the events of one kind in a room. They stay raw, so that a malformed event does not spoil the
// others.
type rawEventList struct {
	Events []jsontext.Value `json:"events"`
}

// roomUpdate is what happened in a room since a moment.
type roomUpdate struct {
	State   rawEventList `json:"state"`
	Summary struct {
		Joined jsontext.Value `json:"m.joined_member_count"` // raw: of another type it spoils nothing
	} `json:"summary"`
	Timeline struct {
		rawEventList
		// Limited is set when there are more events between that time and the first of these. They are requested backwards
		// from Before.
		Limited bool   `json:"limited"`
		Before  string `json:"prev_batch"`
	} `json:"timeline"`
}

// syncUpdates is what happened in all rooms.
type syncUpdates struct {
	Next  string `json:"next_batch"`
	Rooms struct {
		Join  map[string]roomUpdate `json:"join"`
		Leave map[string]roomUpdate `json:"leave"`
	} `json:"rooms"`
}

// syncSince requests what happened since a token, or the whole state when it is empty. It asks only for these types
// of state and timeline events.
func (a *matrixAccount) syncSince(ctx context.Context, since string, state, texts []string, limit int) (syncUpdates,
	error) {
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
		"room": map[string]any{"state": states, "timeline": filter{Types: texts, Limit: limit}, "ephemeral": nothing,
			"account_data": nothing, "include_leave": since != ""},
		"presence": nothing, "account_data": nothing,
	}, json.Deterministic(true))
	if err != nil {
		return syncUpdates{}, err
	}
	query := url.Values{"timeout": {"0"}, "filter": {string(text)}}
	if since != "" {
		query.Set("since", since)
	}
	var u syncUpdates
	if err := a.getJSON(ctx, "/_matrix/client/v3/sync", query, &u); err != nil {
		return syncUpdates{}, err
	}
	if u.Next == "" {
		return syncUpdates{}, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	return u, nil
}

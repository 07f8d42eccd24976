package slack

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

type membershipRecord struct {
	ID      string `json:"id"`
	Channel string `json:"channel_id"`
	User    string `json:"user_id"`
}

type statRecord struct {
	ID      string `json:"id"`
	Channel string `json:"channel_id"`
	Day     string `json:"observed_on"`
	Members int64  `json:"member_count"`
}

type readStateRecord struct {
	ID       string `json:"id"`
	User     string `json:"user_id,omitzero"`
	LastRead stamp  `json:"last_read,omitzero"`
	ReadAt   string `json:"last_read_at,omitzero"`
}

type groupRecord struct {
	ID          string   `json:"id"`
	Team        *string  `json:"team_id,omitzero"`
	Name        *string  `json:"name,omitzero"`
	Handle      *string  `json:"handle,omitzero"`
	Description *string  `json:"description,omitzero"`
	External    *bool    `json:"is_external,omitzero"`
	CreatedBy   *string  `json:"created_by,omitzero"`
	UpdatedBy   *string  `json:"updated_by,omitzero"`
	DeletedBy   *string  `json:"deleted_by,omitzero"`
	CreatedAt   string   `json:"created_at,omitzero"`
	UpdatedAt   string   `json:"updated_at,omitzero"`
	DisabledAt  string   `json:"disabled_at,omitzero"`
	Users       []string `json:"user_ids,omitzero"`
	Channels    []string `json:"channel_ids,omitzero"`
}

func readGroup(raw jsontext.Value) connectorkit.ListItem {
	var wire struct {
		groupRecord
		Created *int64   `json:"date_create"`
		Updated *int64   `json:"date_update"`
		Deleted *int64   `json:"date_delete"`
		Members []string `json:"users"`
		Prefs   struct {
			Channels []string `json:"channels"`
			Groups   []string `json:"groups"`
		} `json:"prefs"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil || wire.ID == "" {
		return connectorkit.ListItem{Record: connectorkit.Unreadable(wire.ID, err)}
	}
	r := wire.groupRecord
	r.CreatedAt, r.UpdatedAt, r.DisabledAt = moment(wire.Created), moment(wire.Updated), moment(wire.Deleted)
	r.Users, r.Channels = wire.Members, append(wire.Prefs.Channels, wire.Prefs.Groups...)
	return connectorkit.ListItem{Key: r.ID, Record: connectorkit.Upsert(r)}
}

type reminderRecord struct {
	ID          string         `json:"id"`
	Creator     *string        `json:"creator_id,omitzero"`
	User        *string        `json:"user_id,omitzero"`
	Channel     *string        `json:"channel_id,omitzero"`
	Text        *string        `json:"text,omitzero"`
	Recurring   *bool          `json:"recurring,omitzero"`
	Recurrence  jsontext.Value `json:"recurrence,omitzero"`
	DueAt       string         `json:"due_at,omitzero"`
	CompletedAt string         `json:"completed_at,omitzero"`
}

func readReminder(raw jsontext.Value) connectorkit.ListItem {
	var wire struct {
		ID         string         `json:"id"`
		Creator    *string        `json:"creator"`
		User       *string        `json:"user"`
		Channel    *string        `json:"channel"`
		Text       *string        `json:"text"`
		Recurring  *bool          `json:"recurring"`
		Recurrence jsontext.Value `json:"recurrence"`
		Time       *int64         `json:"time"`
		Complete   *int64         `json:"complete_ts"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil || wire.ID == "" {
		return connectorkit.ListItem{Record: connectorkit.Unreadable(wire.ID, err)}
	}
	r := reminderRecord{ID: wire.ID, Creator: wire.Creator, User: wire.User, Channel: wire.Channel, Text: wire.Text,
		Recurring: wire.Recurring, DueAt: moment(wire.Time), CompletedAt: moment(wire.Complete)}
	if wire.Recurrence.Kind() == '{' {
		r.Recurrence = wire.Recurrence
	}
	return connectorkit.ListItem{Key: r.ID, Record: connectorkit.Upsert(r)}
}

type starRecord struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Channel   string `json:"channel_id,omitzero"`
	Message   stamp  `json:"message_ts,omitzero"`
	File      string `json:"file_id,omitzero"`
	Text      string `json:"text,omitzero"`
	StarredAt string `json:"starred_at,omitzero"`
}

// readStar names a star by what it is on: Slack has no id for it.
func readStar(raw jsontext.Value) connectorkit.ListItem {
	var wire struct {
		Type    string `json:"type"`
		Channel string `json:"channel"`
		Created *int64 `json:"date_create"`
		Message struct {
			TS   stamp  `json:"ts"`
			Text string `json:"text"`
		} `json:"message"`
		File struct {
			ID string `json:"id"`
		} `json:"file"`
		Comment struct {
			ID   string `json:"id"`
			Text string `json:"comment"`
		} `json:"comment"`
	}
	err := json.Unmarshal(raw, &wire)
	parts := []string{wire.Type}
	for _, part := range []string{wire.Channel, string(wire.Message.TS), wire.File.ID, wire.Comment.ID} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if err != nil || wire.Type == "" || len(parts) == 1 {
		return connectorkit.ListItem{Record: connectorkit.Unreadable("", err)}
	}
	r := starRecord{
		ID: strings.Join(parts, ":"), Type: wire.Type, Channel: wire.Channel, Message: wire.Message.TS, File: wire.File.ID,
		Text: wire.Message.Text + wire.Comment.Text, StarredAt: moment(wire.Created),
	}
	return connectorkit.ListItem{Key: r.ID, Record: connectorkit.Upsert(r)}
}

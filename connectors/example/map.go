package example

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// The types below are the records, as the manifest's schemas describe them.
// Members of the provider's answer that they do not name are left out.

type eventRecord struct {
	ID     string `json:"id"`
	At     string `json:"at"`
	Kind   string `json:"kind"`
	NoteID string `json:"note_id,omitzero"`
	Device string `json:"device,omitzero"`
}

type noteRecord struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Body      string   `json:"body"`
	Tags      []string `json:"tags"`
	UpdatedAt string   `json:"updated_at"`
}

type threadRecord struct {
	ID           string `json:"id"`
	Title        string `json:"title"`
	UpdatedAt    string `json:"updated_at"`
	MessageCount int    `json:"message_count"`
}

type messageRecord struct {
	ID       string `json:"id"`
	ThreadID string `json:"thread_id"`
	Author   string `json:"author"`
	Text     string `json:"text"`
	SentAt   string `json:"sent_at"`
}

func event(raw jsontext.Value) connectorkit.Record {
	var e eventRecord
	if err := json.Unmarshal(raw, &e); err != nil {
		return connectorkit.Unreadable(idOf(raw), err)
	}
	return connectorkit.Upsert(e)
}

func note(raw jsontext.Value) connectorkit.Record {
	var n struct {
		noteRecord
		Deleted bool `json:"deleted"`
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return connectorkit.Unreadable(idOf(raw), err)
	}
	if n.Deleted && n.ID != "" {
		return connectorkit.Delete(n.ID)
	}
	return connectorkit.Upsert(n.noteRecord)
}

// threadItem is a thread's place in the list. A thread without a readable time
// has no place, so it is declared unreadable and its messages cannot be asked for.
func threadItem(raw jsontext.Value) connectorkit.Item {
	var t threadRecord
	err := json.Unmarshal(raw, &t)
	at, badTime := time.Parse(time.RFC3339Nano, t.UpdatedAt)
	if err == nil {
		err = badTime
	}
	if err != nil || t.ID == "" {
		return connectorkit.Item{Record: connectorkit.Unreadable(idOf(raw), err)}
	}
	return connectorkit.Item{Key: t.ID, Time: at, Record: connectorkit.Upsert(t)}
}

func message(thread string, raw jsontext.Value) connectorkit.Record {
	m := messageRecord{ThreadID: thread}
	if err := json.Unmarshal(raw, &m); err != nil {
		return connectorkit.Unreadable(idOf(raw), err)
	}
	return connectorkit.Upsert(m)
}

// idOf finds the id of something that is otherwise unreadable, so that what is
// missing can be named. Empty when there is none.
func idOf(raw jsontext.Value) string {
	var named struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &named) != nil {
		return ""
	}
	return named.ID
}

package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// heldOwner is an owner with streams and records in memory.
type heldOwner struct {
	api.Owner
	streams []api.Stream
	records []api.Record
	exports []api.ExportQuery
	broken  string // the export of this stream breaks off
}

var changed = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func (o *heldOwner) Streams(_ context.Context, connection string) (all []api.Stream, err error) {
	for _, s := range o.streams {
		if connection == "" || s.ConnectionID == connection {
			all = append(all, s)
		}
	}
	return all, nil
}

func (o *heldOwner) Export(_ context.Context, w io.Writer, q api.ExportQuery) error {
	o.exports = append(o.exports, q)
	for _, r := range o.records {
		if r.ConnectionID != q.ConnectionID || r.Stream != q.Stream || r.Deleted {
			continue
		}
		body, err := json.Marshal(r)
		if err != nil {
			return err
		}
		for _, piece := range [][]byte{body[:7], body[7:], {'\n'}} {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		if q.Stream == o.broken {
			return api.Invalid("", "The server is gone.", "Try again.")
		}
	}
	return nil
}

func (o *heldOwner) Records(_ context.Context, q api.RecordQuery) (page api.RecordPage, err error) {
	for _, r := range o.records {
		if r.ConnectionID == q.ConnectionID && r.Stream == q.Stream && slices.Contains(q.Keys, r.Key) {
			page.Records = append(page.Records, r)
		}
	}
	return page, nil
}

// hold adds a stream of a connection with records as JSON objects, each with its key in id.
func (o *heldOwner) hold(s api.Stream, records ...string) api.Stream {
	if s.ConnectionID == "" {
		s.ConnectionID = "cin_one"
	}
	if s.Display.Roles == nil {
		s.Display.Roles = map[string]string{}
	}
	for i, data := range records {
		var key struct{ ID string }
		if err := json.Unmarshal([]byte(data), &key); err != nil {
			panic(fmt.Sprintf("%s: %v", data, err))
		}
		o.records = append(o.records, api.Record{ConnectionID: s.ConnectionID, Stream: s.Name, Key: key.ID,
			Data: json.RawMessage(data), EmittedAt: changed, ChangedAt: changed, Version: 1, Seq: int64(i + 1)})
	}
	s.Records, s.LastSeq, s.UpdatedAt = int64(len(records)), int64(len(records)), &changed
	o.streams = append(o.streams, s)
	return s
}

func fieldsOf(pairs ...string) (names []string, kinds map[string]string) {
	kinds = map[string]string{}
	for _, pair := range pairs {
		name, kind, _ := strings.Cut(pair, ":")
		names, kinds[name] = append(names, name), kind
	}
	return names, kinds
}

// garden holds a stream of every kind.
func garden() *heldOwner {
	o := &heldOwner{}
	s := api.Stream{Name: "beds", Search: []string{"name"}, Label: "Beds"}
	s.Fields, s.FieldKinds = fieldsOf("id:text", "name:text", "size:number", "count:integer", "sunny:boolean",
		"dug_on:date", "seen_at:time", "soil:json", "_key:text")
	o.hold(s,
		`{"id":"b1","name":"Rose, \"red\"\nbed","size":-3.5,"count":7,"sunny":true,"dug_on":"2026-02-03",`+
			`"seen_at":"2026-02-03T04:05:06.5Z","soil":{"ph":6.5},"_key":"mine","moss":[1]}`,
		`{"id":"=b2","name":"=1+1","size":"big","count":99999999999999999999,"sunny":null,"dug_on":"spring"}`)
	s = api.Stream{Name: "messages", Display: api.Display{Kind: "message", Roles: map[string]string{"title": "subject",
		"time": "received_at", "author": "from_name", "thread": "thread_id"}, Related: map[string]string{}}}
	s.Fields, s.FieldKinds = fieldsOf("id:text", "subject:text", "from_name:text", "from_address:text", "to:json",
		"received_at:time", "thread_id:text", "message_id:text")
	o.hold(s,
		`{"id":"m2","subject":"Re: Plums\r\nBcc: x@example.org","from_name":"Möhre","from_address":"m@example.org",`+
			`"to":["Ada <ada@example.org>"],"received_at":"2026-03-02T10:00:00Z","thread_id":"t1","message_id":"<2@x>"}`,
		`{"id":"m1","subject":"Plums","from_name":"Ada","from_address":"ada@example.org","to":["m@example.org"],`+
			`"received_at":"2026-03-01T10:00:00Z","thread_id":"t1","message_id":"<1@x>"}`)
	s = api.Stream{Name: "bodies", Display: api.Display{Roles: map[string]string{"part_of": "id", "text": "text"},
		Related: map[string]string{"part_of": "messages"}}}
	s.Fields, s.FieldKinds = fieldsOf("id:text", "text:text")
	o.hold(s, `{"id":"m1","text":"Dear Möhre,\nFrom now on plums.\n"}`, `{"id":"m2","text":"Thank you."}`)
	s = api.Stream{Name: "events", Display: api.Display{Kind: "event", Roles: map[string]string{"title": "summary",
		"time": "start", "end": "end"}}}
	s.Fields, s.FieldKinds = fieldsOf("id:text", "uid:text", "summary:text", "start:text", "end:text", "rrule:text",
		"time_zone:text", "exdates:json", "attendees:json")
	o.hold(s,
		`{"id":"e1","uid":"one@x","summary":"Prune; the, tree\nEND:VEVENT","start":"2026-03-05","end":"2026-03-06"}`,
		`{"id":"e2","uid":"two@x","summary":"Water","start":"2026-03-05T10:00:00+01:00","time_zone":"Europe/Madrid",`+
			`"rrule":"FREQ=WEEKLY","exdates":["2026-03-12T10:00:00+01:00"],`+
			`"attendees":[{"email":"ada@example.org","name":"Ada \"A\""}]}`)
	s = api.Stream{Name: "contacts", Display: api.Display{Roles: map[string]string{"title": "full_name", "text": "note"}}}
	s.Fields, s.FieldKinds = fieldsOf("id:text", "full_name:text", "emails:json", "birthday:text", "note:text")
	o.hold(s, `{"id":"c1","full_name":"Ada Möhre, Jr","emails":[{"value":"ada@example.org","types":["home"]}],`+
		`"birthday":"1990-04-05","note":"Likes plums,\nand `+strings.Repeat("long ", 30)+`lines."}`)
	return o
}

package dendrite

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// queryTables reads the server's tables.
func (s *Server) queryTables(statement string, args []any, each func(*sql.Rows) error) (err error) {
	rows, err := s.database.Query(statement, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// waitUntilVisible waits until the part of the server that clients read from knows of something.
func (s *Server) waitUntilVisible(count string, args ...any) error {
	for until := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		n := 0
		err := s.queryTables(count, args, func(r *sql.Rows) error { return r.Scan(&n) })
		if err != nil || n > 0 {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("the server does not come to know %v", args)
		}
	}
}

// storedEvent is an event as the server keeps it.
type storedEvent struct {
	id, room string
	body     struct {
		Type    string         `json:"type"`
		Sender  string         `json:"sender"`
		TS      int64          `json:"origin_server_ts"`
		Key     *string        `json:"state_key"`
		Content map[string]any `json:"content"`
	}
}

// contentText returns a string within the content.
func (e storedEvent) contentText(path ...string) string {
	var at any = e.body.Content
	for _, name := range path {
		object, _ := at.(map[string]any)
		at = object[name]
	}
	text, _ := at.(string)
	return text
}

func (e storedEvent) eventTime() string {
	return time.UnixMilli(e.body.TS).UTC().Format("2006-01-02T15:04:05.000Z")
}

// Record is what a collection has to have of something; nil when it is gone.
type Record = map[string]any

// Records are what exists for the person, by stream and key, in the form that a collection of ours has.
func (a *Account) Records() (map[string]map[string]Record, error) {
	out := map[string]map[string]Record{"rooms": {}, "members": {}, "messages": {}, "media": {}}
	in := map[string]bool{}
	if err := a.readRooms(out, in); err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	err := a.server.queryTables(`SELECT redacts_event_id FROM roomserver_redactions WHERE validated`, nil,
		func(r *sql.Rows) error {
			var id string
			err := r.Scan(&id)
			gone[id] = true
			return err
		})
	if err != nil {
		return nil, err
	}
	var all []storedEvent
	err = a.server.queryTables(`SELECT e.event_id, r.room_id, j.event_json FROM roomserver_events e
		JOIN roomserver_rooms r USING (room_nid)
		JOIN roomserver_event_json j USING (event_nid) WHERE NOT e.is_rejected ORDER BY e.depth, e.event_nid`, nil,
		func(r *sql.Rows) error {
			var e storedEvent
			var text []byte
			if err := r.Scan(&e.id, &e.room, &text); err != nil || !in[e.room] {
				return err
			}
			all = append(all, e)
			return json.Unmarshal(text, &all[len(all)-1].body)
		})
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if err := a.readMessage(out, all, e, gone); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readRooms reads which rooms the person is in or was in, how they are, and who is there.
func (a *Account) readRooms(out map[string]map[string]Record, in map[string]bool) error {
	var all []storedEvent
	err := a.server.queryTables(`SELECT room_id, headered_event_json FROM syncapi_current_room_state`, nil,
		func(r *sql.Rows) error {
			var e storedEvent
			var text []byte
			if err := r.Scan(&e.room, &text); err != nil {
				return err
			}
			if err := json.Unmarshal(text, &e.body); err != nil {
				return err
			}
			all = append(all, e)
			return nil
		})
	for _, e := range all {
		if m := e.contentText("membership"); e.body.Type == "m.room.member" && *e.body.Key == a.User &&
			(m == "join" || m == "leave") {
			in[e.room] = true
			out["rooms"][e.room] = Record{"id": e.room, "encrypted": false, "membership": m}
		}
	}
	for _, e := range all {
		room := out["rooms"][e.room]
		if room == nil {
			continue
		}
		switch e.body.Type {
		case "m.room.member":
			key := e.room + " " + *e.body.Key
			out["members"][key] = Record{"id": key, "room_id": e.room, "user_id": *e.body.Key,
				"membership": e.contentText("membership"), "changed_at": e.eventTime()}
			putText(out["members"][key], "display_name", e.contentText("displayname"))
		case "m.room.create":
			room["creator"], room["created_at"] = e.body.Sender, e.eventTime()
			putText(room, "room_version", e.contentText("room_version"))
		case "m.room.name":
			putText(room, "name", e.contentText("name"))
		case "m.room.topic":
			putText(room, "topic", e.contentText("topic"))
		case "m.room.encryption":
			room["encrypted"] = true
		}
	}
	return err
}

func putText(r Record, name, text string) {
	if text != "" {
		r[name] = text
	}
}

// readMessage adds the records of a message and of its file.
func (a *Account) readMessage(out map[string]map[string]Record, all []storedEvent, e storedEvent,
	gone map[string]bool) error {
	encrypted := e.body.Type == "m.room.encrypted"
	if e.body.Type != "m.room.message" && !encrypted || e.contentText("m.relates_to", "rel_type") == "m.replace" {
		return nil
	}
	if gone[e.id] {
		out["messages"][e.id], out["media"][e.id] = nil, nil
		return nil
	}
	r := Record{"id": e.id, "room_id": e.room, "sender": e.body.Sender, "mine": e.body.Sender == a.User,
		"sent_at":   e.eventTime(),
		"encrypted": encrypted}
	out["messages"][e.id] = r
	if encrypted {
		return nil
	}
	putText(r, "reply_to", e.contentText("m.relates_to", "m.in_reply_to", "event_id"))
	from := []string{}
	shown := e
	for _, other := range all {
		if !gone[other.id] && other.contentText("m.relates_to", "rel_type") == "m.replace" &&
			other.contentText("m.relates_to", "event_id") == e.id && other.body.Sender == e.body.Sender {
			shown, from = other, []string{"m.new_content"}
			r["edited_at"] = other.eventTime()
		}
	}
	text := func(name string) string { return shown.contentText(append(slices.Clone(from), name)...) }
	putText(r, "message_type", text("msgtype"))
	putText(r, "text", text("body"))
	if text("format") != "" {
		putText(r, "html", text("formatted_body"))
	}
	if text("msgtype") != "m.image" {
		return nil
	}
	r["file_name"] = text("body")
	return a.readFile(out["media"], e)
}

// readFile adds the record of a file. Its bytes are in the server's folder.
func (a *Account) readFile(out map[string]Record, e storedEvent) error {
	uri := e.contentText("url")
	var hash, kind string
	err := a.server.queryTables(`SELECT base64hash, content_type FROM mediaapi_media_repository WHERE media_id = $1`,
		[]any{uri[strings.LastIndexByte(uri, '/')+1:]},
		func(r *sql.Rows) error { return r.Scan(&hash, &kind) })
	if err != nil || len(hash) < 3 {
		return errors.Join(err, errors.New("the server has no file "+uri))
	}
	f, err := os.Open(filepath.Join(a.server.dir, "media", hash[:1], hash[1:2], hash[2:], "file"))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	out[e.id] = Record{
		"id": e.id, "room_id": e.room, "sender": e.body.Sender, "sent_at": e.eventTime(), "name": e.contentText("body"),
		"mime_type":  kind,
		"size_bytes": n, "url": uri,
		"blob_ref": Record{"blob_id": digest, "sha256": digest, "size_bytes": n, "mime_type": kind},
	}
	return nil
}

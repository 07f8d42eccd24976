package files

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// Messages makes a folder as Messages keeps it on a Mac.
func Messages(dir string, c Config) (World, error) { return newDatabase(dir, c, &messagesProgram{}) }

type messagesProgram struct {
	chats   []string
	handles []string
}

func (*messagesProgram) databaseFile() string { return "chat.db" }

func (*messagesProgram) createStatements() []string {
	return []string{
		`CREATE TABLE message (ROWID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, guid TEXT, text TEXT, attributedBody BLOB,
		subject TEXT, handle_id INTEGER DEFAULT 0,
			service TEXT, account TEXT, date INTEGER, date_read INTEGER DEFAULT 0, date_delivered INTEGER DEFAULT 0,
			is_from_me INTEGER DEFAULT 0, is_read INTEGER DEFAULT 0,
			cache_has_attachments INTEGER DEFAULT 0, item_type INTEGER DEFAULT 0, group_title TEXT,
			group_action_type INTEGER DEFAULT 0, associated_message_guid TEXT,
			associated_message_type INTEGER DEFAULT 0, associated_message_emoji TEXT, thread_originator_guid TEXT,
			thread_originator_part TEXT, date_edited INTEGER DEFAULT 0,
			date_retracted INTEGER DEFAULT 0, message_summary_info BLOB, balloon_bundle_id TEXT, payload_data BLOB)`,
		`CREATE INDEX message_idx_date ON message(date)`,
		`CREATE TABLE handle (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, country TEXT, service TEXT, ` +
			`person_centric_id TEXT)`,
		`CREATE TABLE chat (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT UNIQUE, style INTEGER, chat_identifier ` +
			`TEXT, service_name TEXT, room_name TEXT, display_name TEXT, is_archived INTEGER DEFAULT 0)`,
		`CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER, message_date INTEGER DEFAULT 0, PRIMARY ` +
			`KEY (chat_id, message_id))`,
		`CREATE INDEX chat_message_join_idx_message_id ON chat_message_join(message_id)`,
		`CREATE TABLE chat_handle_join (chat_id INTEGER, handle_id INTEGER)`,
		`CREATE TABLE attachment (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT UNIQUE,
		created_date INTEGER DEFAULT 0, filename TEXT, uti TEXT, mime_type TEXT, transfer_state INTEGER,
			transfer_name TEXT, total_bytes INTEGER DEFAULT 0, is_sticker INTEGER DEFAULT 0, hide_attachment INTEGER DEFAULT 0)`,
		`CREATE TABLE message_attachment_join (message_id INTEGER, attachment_id INTEGER, UNIQUE(message_id, attachment_id))`,
		`CREATE INDEX message_attachment_join_idx_attachment_id ON message_attachment_join(attachment_id)`,
		`CREATE TABLE chat_recoverable_message_join (chat_id INTEGER, message_id INTEGER, delete_date INTEGER)`,
		`CREATE TABLE deleted_messages (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT)`,
	}
}

func (m *messagesProgram) insertBaseRows(d *Database) error {
	for i := range 6 {
		id := fmt.Sprintf("+1555010%d", i)
		if i%3 == 2 {
			id = fmt.Sprintf("%s%d@example.org", sampleWords[i], i)
		}
		m.handles = append(m.handles, id)
		if err := d.execStatement("INSERT INTO handle (id, country, service) VALUES (?, 'us', 'iMessage')", id); err != nil {
			return err
		}
	}
	for i := range 5 {
		guid, style, people := "iMessage;-;"+m.handles[i], 45, []int{i}
		if i >= 3 {
			guid, style, people = fmt.Sprintf("iMessage;+;chat%d", 9000+i), 43, []int{0, i, 5}
		}
		m.chats = append(m.chats, guid)
		if err := d.execStatement("INSERT INTO chat (guid, style, chat_identifier, service_name, display_name) VALUES (?, "+
			"?, ?, 'iMessage', '')", guid, style, guid[11:]); err != nil {
			return err
		}
		d.expectItem(Item{Stream: "chats", Key: guid, Fields: map[string]any{"is_group": style == 43, "service": "iMessage"}})
		for _, p := range people {
			if err := d.execStatement("INSERT INTO chat_handle_join VALUES (?, ?)", i+1, p+1); err != nil {
				return err
			}
			d.expectItem(Item{Stream: "participants", Key: guid + ":" + m.handles[p],
				Fields: map[string]any{"chat_id": guid, "handle": m.handles[p], "country": "us"}})
		}
	}
	for rel, content := range map[string]string{
		"com.apple.messages.geometrycache_v8.plist": "bplist00", "Attachments/aa/10/leaf/leaf.heic": "picture",
		"NickNameCache/x.db": "x", "something/else.bin": "?",
	} {
		to := filepath.Join(d.dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// encodeAppleTime counts in seconds or in nanoseconds, as older and newer systems do.
func (m *messagesProgram) encodeAppleTime(d *Database, at time.Time) (int64, time.Time) {
	since := at.Sub(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC))
	if d.rng.IntN(5) == 0 {
		return int64(since / time.Second), at.Truncate(time.Second)
	}
	return int64(since), at
}

func (m *messagesProgram) addMessage(d *Database, at time.Time) error {
	d.serial++
	guid := fmt.Sprintf("%08X-0000-4000-8000-%012X", d.rng.Uint32(), d.serial)
	chat, person, mine := d.rng.IntN(len(m.chats)), d.rng.IntN(len(m.handles)), d.rng.IntN(3) == 0
	count, at := m.encodeAppleTime(d, at)
	text := d.text.randomSentence()
	fields := map[string]any{"chat_id": m.chats[chat], "is_from_me": mine, "date": formatTimestamp(at), "text": text,
		"kind": "message", "service": "iMessage"}
	if !mine {
		fields["handle"] = m.handles[person]
	}
	var plain, body, target, emoji, title, reply any
	code, item, action, attached := 0, 0, 0, 0
	switch d.rng.IntN(4) {
	case 0:
		plain = text
	case 1:
		plain, body = text, Body(text, true)
	default:
		body = Body(text, d.rng.IntN(2) == 0)
	}
	switch d.rng.IntN(12) {
	case 0, 1: // a tapback, or one that is taken back
		if len(d.databaseMessages) > 0 {
			about := d.databaseMessages[d.rng.IntN(len(d.databaseMessages))].key
			code = 2000 + 1000*d.rng.IntN(2) + d.rng.IntN(7)
			target, plain, body = fmt.Sprintf("p:%d/%s", d.rng.IntN(2), about), "Loved “"+text+"”", nil
			fields = map[string]any{"kind": "tapback", "tapback_target_id": about, "date": formatTimestamp(at),
				"chat_id": m.chats[chat],
				"tapback": []string{"loved", "liked", "disliked", "laughed", "emphasized", "questioned", "emoji"}[code%1000]}
			if code >= 3000 {
				fields["tapback_removed"] = true
			}
			if code%1000 == 6 {
				emoji, fields["tapback_emoji"] = "🪁", "🪁"
			}
		}
	case 2:
		item, title, plain, body = 2, "The "+sampleWords[d.rng.IntN(len(sampleWords))], nil, nil
		delete(fields, "service")
		fields["kind"], fields["event"], fields["text"] = "event", "renamed", title
	case 3:
		attached = 1
		fields["has_attachments"] = true
		plain, body = nil, Body("\ufffc"+text, true)
	case 4:
		if len(d.databaseMessages) > 0 {
			about := d.databaseMessages[d.rng.IntN(len(d.databaseMessages))].key
			reply, fields["reply_to_id"] = about, about
		}
	}
	row, err := d.insertRow(`INSERT INTO message (guid, text, attributedBody, handle_id, service, date, is_from_me,
		cache_has_attachments, item_type, group_title, group_action_type,
		associated_message_guid, associated_message_type, associated_message_emoji, thread_originator_guid) VALUES (?, ?,
		?, ?, 'iMessage', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		guid, plain, body, person+1, count, mine, attached, item, title, action, target, code, emoji, reply)
	if err != nil {
		return err
	}
	if err := d.execStatement("INSERT INTO chat_message_join VALUES (?, ?, ?)", chat+1, row, count); err != nil {
		return err
	}
	if attached == 1 {
		if err := m.addAttachment(d, row, guid, chat); err != nil {
			return err
		}
	}
	one := &databaseMessage{row: row, key: guid, at: at, chat: chat, fields: fields}
	d.databaseMessages = append(d.databaseMessages, one)
	d.expectItem(Item{Stream: "messages", Key: guid, Fields: fields})
	return nil
}

func (m *messagesProgram) addAttachment(d *Database, row int64, guid string, chat int) error {
	id := "at_0_" + guid
	place, status := "~/Library/Messages/Attachments/aa/10/leaf/leaf.heic", "deferred"
	if d.rng.IntN(2) == 0 {
		place, status = "~/Library/Messages/Attachments/bb/11/gone/leaf.heic", "missing"
	}
	size := 1 + d.rng.IntN(1<<20)
	at, err := d.insertRow("INSERT INTO attachment (guid, filename, mime_type, transfer_name, total_bytes) VALUES (?, "+
		"?, 'image/heic', 'leaf.heic', ?)", id, place, size)
	if err != nil {
		return err
	}
	d.expectItem(Item{Stream: "attachments", Key: id, Fields: map[string]any{
		"message_id": guid, "chat_id": m.chats[chat], "filename": "leaf.heic", "content_type": "image/heic",
		"size_bytes": float64(size), "hydration_status": status,
	}})
	return d.execStatement("INSERT INTO message_attachment_join VALUES (?, ?)", row, at)
}

// changeMessage edits a message, takes it back, or marks it as read.
func (m *messagesProgram) changeMessage(d *Database, one *databaseMessage) error {
	now, at := m.encodeAppleTime(d, time.Now().Truncate(time.Millisecond))
	fields := maps.Clone(one.fields)
	edited := fields["kind"] == "message" && fields["retracted"] == nil
	switch kind := d.rng.IntN(4); {
	case edited && kind == 0:
		text := d.text.randomSentence()
		fields["text"], fields["edited_at"] = text, formatTimestamp(at)
		if err := d.execStatement("UPDATE message SET text = NULL, attributedBody = ?, date_edited = ? WHERE ROWID = ?",
			Body(text, true), now, one.row); err != nil {
			return err
		}
	case edited && kind == 1: // some versions keep the text only in the edit history
		text := d.text.randomSentence()
		fields["text"], fields["edited_at"] = text, formatTimestamp(at)
		history := Plist(map[string]any{"amc": 1, "ec": map[string]any{"0": []any{
			map[string]any{"d": float64(1), "t": Body("before", false)}, map[string]any{"d": float64(2), "t": Body(text, false)},
		}}})
		if err := d.execStatement("UPDATE message SET text = NULL, attributedBody = NULL, message_summary_info = ?, "+
			"date_edited = ? WHERE ROWID = ?", history, now, one.row); err != nil {
			return err
		}
	case edited && kind == 2:
		delete(fields, "text")
		fields["retracted"], fields["edited_at"] = true, formatTimestamp(at)
		if err := d.execStatement("UPDATE message SET text = NULL, attributedBody = NULL, message_summary_info = ?, "+
			"date_edited = ? WHERE ROWID = ?",
			Plist(map[string]any{"rp": []any{0}, "otr": map[string]any{"0": map[string]any{"lo": 0, "le": 4}}}), now,
			one.row); err != nil {
			return err
		}
	default:
		fields["date_read"] = formatTimestamp(at)
		if err := d.execStatement("UPDATE message SET date_read = ?, is_read = 1 WHERE ROWID = ?", now, one.row); err != nil {
			return err
		}
	}
	one.fields = fields
	d.expectItem(Item{Stream: "messages", Key: one.key, Fields: fields})
	return nil
}

func (m *messagesProgram) deleteMessage(d *Database, one *databaseMessage) error {
	if d.rng.IntN(3) == 0 && time.Since(one.at) < 28*24*time.Hour { // into the bin, where it stays for a month
		fields := maps.Clone(one.fields)
		fields["recently_deleted"] = true
		d.expectItem(Item{Stream: "messages", Key: one.key, Fields: fields})
		if err := d.execStatement("DELETE FROM chat_message_join WHERE message_id = ?", one.row); err != nil {
			return err
		}
		return d.execStatement("INSERT INTO chat_recoverable_message_join VALUES (?, ?, 1)", one.chat+1, one.row)
	}
	for _, text := range []string{
		"DELETE FROM message WHERE ROWID = ?", "DELETE FROM chat_message_join WHERE message_id = ?",
		"DELETE FROM attachment WHERE ROWID IN (SELECT attachment_id FROM message_attachment_join WHERE message_id = ?)",
		"DELETE FROM message_attachment_join WHERE message_id = ?",
	} {
		if err := d.execStatement(text, one.row); err != nil {
			return err
		}
	}
	d.expectGone("messages", one.key)
	d.expectGone("attachments", "at_0_"+one.key)
	return d.execStatement("INSERT INTO deleted_messages (guid) VALUES (?)", one.key)
}

func (m *messagesProgram) renameChat(d *Database) error {
	i, name := 3+d.rng.IntN(2), "The "+sampleWords[d.rng.IntN(len(sampleWords))]
	d.expectItem(Item{Stream: "chats", Key: m.chats[i], Fields: map[string]any{"is_group": true, "service": "iMessage",
		"display_name": name, "title": name}})
	return d.execStatement("UPDATE chat SET display_name = ? WHERE ROWID = ?", name, i+1)
}

func (m *messagesProgram) insertHostileRows(d *Database) error {
	whole := Body("never seen", true)
	for i, row := range []struct {
		guid, text, body any
		date             any
		fields           map[string]any
	}{
		{"H0", "without a date", nil, 0, nil},
		{"H1", "with an impossible date", nil, "never", nil},
		{"H2", "far in the future", nil, int64(9e18), nil},
		{nil, "without an id", nil, 794000000000000000, map[string]any{"text": "without an id"}},
		{"H4", nil, whole[:len(whole)/2], 794000000000000001, map[string]any{"kind": "message"}},
		{"H5", nil, []byte("nothing of the kind"), 794000000, map[string]any{"kind": "message"}},
		{"H6", []byte("broken \xff\xfe text"), nil, 794000000000000002, map[string]any{"kind": "message"}},
		{"H7", nil, nil, 794000000000000003, map[string]any{"kind": "message"}},
	} {
		at, err := d.insertRow("INSERT INTO message (guid, text, attributedBody, date) VALUES (?, ?, ?, ?)", row.guid,
			row.text,
			row.body, row.date)
		if err != nil {
			return err
		}
		if row.fields == nil {
			continue
		}
		key := fmt.Sprintf("H%d", i)
		if row.guid == nil {
			key = fmt.Sprintf("rowid:%d", at)
		}
		d.expectItem(Item{Stream: "messages", Key: key, Fields: row.fields})
	}
	d.expectItem(Item{Stream: "attachments", Key: "loose",
		Fields: map[string]any{"filename": "passwd", "hydration_status": "missing"}})
	for _, text := range []string{
		"INSERT INTO chat_message_join VALUES (99, 1, 0)", "INSERT INTO chat_handle_join VALUES (1, 99)",
		"INSERT INTO message_attachment_join VALUES (1, 99)",
		"INSERT INTO attachment (guid, filename) VALUES ('loose', '~/Library/Messages/Attachments/../../../etc/passwd')",
		"INSERT INTO chat (guid) VALUES (NULL)",
	} {
		if err := d.execStatement(text); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{"loop": d.dir, "chat.db-link": "/etc/hostname"} {
		if err := os.Symlink(to, filepath.Join(d.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

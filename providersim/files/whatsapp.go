package files

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// WhatsApp makes a folder as WhatsApp keeps it on a Mac.
func WhatsApp(dir string, c Config) (World, error) { return newDatabase(dir, c, &whatsAppProgram{}) }

type whatsAppProgram struct {
	chats   []string
	members []string
}

func (*whatsAppProgram) databaseFile() string { return "ChatStorage.sqlite" }

func (*whatsAppProgram) createStatements() []string {
	return []string{
		`CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)`,
		`INSERT INTO Z_PRIMARYKEY VALUES (9, 'WAMessage', 0, 0)`,
		`CREATE TABLE ZWAMESSAGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHATSESSION INTEGER,
		ZGROUPMEMBER INTEGER, ZISFROMME INTEGER, ZMEDIAITEM INTEGER,
			ZMESSAGETYPE INTEGER, ZSTARRED INTEGER, ZMESSAGEDATE TIMESTAMP, ZSENTDATE TIMESTAMP, ZFROMJID VARCHAR,
			ZTOJID VARCHAR, ZPUSHNAME VARCHAR, ZSTANZAID VARCHAR, ZTEXT VARCHAR)`,
		`CREATE INDEX Z_WAMessage_byDate ON ZWAMESSAGE (ZMESSAGEDATE)`,
		`CREATE TABLE ZWACHATSESSION (Z_PK INTEGER PRIMARY KEY, ZCONTACTJID VARCHAR, ZPARTNERNAME VARCHAR, ZSESSIONTYPE ` +
			`INTEGER, ZARCHIVED INTEGER)`,
		`CREATE TABLE ZWAGROUPMEMBER (Z_PK INTEGER PRIMARY KEY, ZCHATSESSION INTEGER, ZMEMBERJID VARCHAR, ZCONTACTNAME ` +
			`VARCHAR, ZISACTIVE INTEGER)`,
		`CREATE TABLE ZWAMEDIAITEM (Z_PK INTEGER PRIMARY KEY, ZMESSAGE INTEGER, ZFILESIZE INTEGER, ZMEDIALOCALPATH ` +
			`VARCHAR, ZTITLE VARCHAR, ZVCARDSTRING VARCHAR)`,
	}
}

func (w *whatsAppProgram) insertBaseRows(d *Database) error {
	for i := range 4 {
		jid, name := fmt.Sprintf("1555020%d@s.whatsapp.net", i), "The "+sampleWords[i]
		if i == 3 {
			jid = "120363000000000001@g.us"
		}
		w.chats = append(w.chats, jid)
		if err := d.execStatement("INSERT INTO ZWACHATSESSION (ZCONTACTJID, ZPARTNERNAME, ZSESSIONTYPE) VALUES (?, ?, ?)",
			jid, name,
			i/3); err != nil {
			return err
		}
		d.expectItem(Item{Stream: "chats", Key: jid,
			Fields: map[string]any{"title": name, "is_group": i == 3, "source": "mac"}})
	}
	for i := range 3 {
		jid := fmt.Sprintf("1555030%d@s.whatsapp.net", i)
		w.members = append(w.members, jid)
		if err := d.execStatement("INSERT INTO ZWAGROUPMEMBER (ZCHATSESSION, ZMEMBERJID, ZCONTACTNAME, ZISACTIVE) VALUES "+
			"(4, ?, ?, 1)",
			jid, sampleWords[10+i]); err != nil {
			return err
		}
	}
	for rel, content := range map[string]string{"ContactsV2.sqlite": "x", "Message/Media/1/a.jpg": "picture",
		"current_wallpaper.jpg": "?"} {
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

func (w *whatsAppProgram) addMessage(d *Database, at time.Time) error {
	d.serial++
	stanza := fmt.Sprintf("3EB0%08X%04X", d.rng.Uint32(), d.serial)
	chat, mine := d.rng.IntN(len(w.chats)), d.rng.IntN(3) == 0
	jid, text := w.chats[chat], d.text.randomSentence()
	fields := map[string]any{"chat_id": jid, "is_from_me": mine, "sent_at": formatTimestamp(at), "content": text,
		"kind":   "message",
		"source": "mac"}
	seconds := at.Sub(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)).Seconds()
	var member, from any
	switch {
	case mine:
	case chat == 3:
		i := d.rng.IntN(len(w.members))
		member, from = i+1, jid
		fields["author_id"], fields["author"] = w.members[i], sampleWords[10+i]
	default:
		from = jid
		fields["author_id"] = jid
	}
	kind := 0
	var media any
	switch d.rng.IntN(8) {
	case 0:
		kind, fields["kind"], fields["has_attachment"] = 1, "image", true
		size := 1 + d.rng.IntN(1<<20)
		place := fmt.Sprintf("Media/%s/%s.jpg", jid, stanza)
		item, err := d.insertRow("INSERT INTO ZWAMEDIAITEM (ZFILESIZE, ZMEDIALOCALPATH, ZVCARDSTRING) VALUES (?, ?, "+
			"'image/jpeg')", size, place)
		if err != nil {
			return err
		}
		media = item
		d.expectItem(Item{Stream: "attachments", Key: jid + ":" + stanza + ":file", Fields: map[string]any{
			"message_id": jid + ":" + stanza, "filename": stanza + ".jpg", "content_type": "image/jpeg",
			"size_bytes": float64(size),
		}})
	case 1:
		kind, fields["kind"] = 6, "event"
	}
	// A number is never used twice: the program counts them, not the database.
	if err := d.execStatement("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = 9"); err != nil {
		return err
	}
	row, err := d.insertRow(`INSERT INTO ZWAMESSAGE (Z_PK, ZCHATSESSION, ZGROUPMEMBER, ZISFROMME, ZMEDIAITEM,
		ZMESSAGETYPE, ZMESSAGEDATE, ZFROMJID, ZSTANZAID, ZTEXT)
		VALUES ((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 9), ?, ?, ?, ?, ?, ?, ?, ?, ?)`, chat+1, member, mine, media,
		kind, seconds, from, stanza, text)
	if err != nil {
		return err
	}
	d.databaseMessages = append(d.databaseMessages, &databaseMessage{row: row, key: jid + ":" + stanza, at: at, chat: chat,
		fields: fields})
	d.expectItem(Item{Stream: "messages", Key: jid + ":" + stanza, Fields: fields})
	return nil
}

// changeMessage edits a message or takes it back.
func (w *whatsAppProgram) changeMessage(d *Database, one *databaseMessage) error {
	fields := maps.Clone(one.fields)
	if d.rng.IntN(2) == 0 {
		fields["content"] = d.text.randomSentence()
		if err := d.execStatement("UPDATE ZWAMESSAGE SET ZTEXT = ? WHERE Z_PK = ?", fields["content"], one.row); err != nil {
			return err
		}
	} else {
		delete(fields, "content")
		fields["kind"] = "deleted"
		if err := d.execStatement("UPDATE ZWAMESSAGE SET ZTEXT = NULL, ZMESSAGETYPE = 14 WHERE Z_PK = ?",
			one.row); err != nil {
			return err
		}
	}
	one.fields = fields
	d.expectItem(Item{Stream: "messages", Key: one.key, Fields: fields})
	return nil
}

func (w *whatsAppProgram) deleteMessage(d *Database, one *databaseMessage) error {
	d.expectGone("messages", one.key)
	d.expectGone("attachments", one.key+":file")
	return d.execStatement("DELETE FROM ZWAMESSAGE WHERE Z_PK = ?", one.row)
}

func (w *whatsAppProgram) renameChat(d *Database) error {
	i, name := d.rng.IntN(len(w.chats)), "The "+sampleWords[d.rng.IntN(len(sampleWords))]
	d.expectItem(Item{Stream: "chats", Key: w.chats[i],
		Fields: map[string]any{"title": name, "is_group": i == 3, "source": "mac"}})
	return d.execStatement("UPDATE ZWACHATSESSION SET ZPARTNERNAME = ? WHERE Z_PK = ?", name, i+1)
}

func (w *whatsAppProgram) insertHostileRows(d *Database) error {
	for i, row := range []struct {
		stanza, date, text, chat any
		key                      string
	}{
		{"H0", 0, "without a date", 1, ""},
		{"H1", "never", "with an impossible date", 1, ""},
		{"H2", 794000000.5, []byte("broken \xff text"), 1, w.chats[0] + ":H2"},
		{"H3", 794000001, "of a chat that is gone", 99, "none:H3"},
		{nil, 794000002, "without an id", 1, "row"},
	} {
		at, err := d.insertRow("INSERT INTO ZWAMESSAGE (ZSTANZAID, ZMESSAGEDATE, ZTEXT, ZCHATSESSION) VALUES (?, ?, ?, ?)",
			row.stanza, row.date, row.text, row.chat)
		if err != nil {
			return err
		}
		if row.key == "row" {
			row.key = fmt.Sprintf("%s:row-%d", w.chats[0], at)
		}
		if row.key != "" {
			d.expectItem(Item{Stream: "messages", Key: row.key, Fields: map[string]any{"kind": "message", "source": "mac"}})
		}
		if i == 4 {
			if err := d.execStatement("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = 9", at); err != nil {
				return err
			}
		}
	}
	return os.Symlink(d.dir, filepath.Join(d.dir, "loop"))
}

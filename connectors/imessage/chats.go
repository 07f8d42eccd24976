package imessage

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/connectorkit/localdb"
)

// chatRecord is a conversation.
type chatRecord struct {
	ID          string   `json:"id"`
	Identifier  string   `json:"identifier,omitzero"`
	Title       string   `json:"title"`
	DisplayName string   `json:"display_name,omitzero"`
	Service     string   `json:"service,omitzero"`
	IsGroup     bool     `json:"is_group"`
	IsArchived  bool     `json:"is_archived,omitzero"`
	Handles     []string `json:"handles"`
}

// participant is a member of a chat.
type participant struct {
	ID      string `json:"id"`
	ChatID  string `json:"chat_id"`
	Handle  string `json:"handle,omitzero"`
	Service string `json:"service,omitzero"`
	Country string `json:"country,omitzero"`
}

// groupChatStyle is the style of a chat of several people.
const groupChatStyle = 43

// readChats emits all chats and their members when any of them changed.
func (p *databasePass) readChats(ctx context.Context) error {
	if !p.hasColumn("chat", "guid") {
		p.declareMissingPart("chats", reasonNoChats)
		return nil
	}
	byID := map[int64]*chatRecord{}
	var list []*chatRecord
	text := "SELECT c.ROWID, c.guid"
	for _, name := range []string{"chat_identifier", "display_name", "service_name", "style", "is_archived"} {
		text += ", " + p.schema.Column("chat", "c", name)
	}
	err := localdb.Query(ctx, p.db, func(v []any) {
		c := &chatRecord{
			ID: localdb.ValueText(
				v[1],
			),
			Identifier:  localdb.ValueText(v[2]),
			DisplayName: localdb.ValueText(v[3]),
			Service:     localdb.ValueText(v[4]),
			IsGroup:     localdb.Number(v[5]) == groupChatStyle,
			IsArchived:  localdb.Number(v[6]) != 0,
			Handles:     []string{},
		}
		if c.ID == "" {
			return
		}
		byID[localdb.Number(v[0])] = c
		list = append(list, c)
	}, text+" FROM chat c ORDER BY c.ROWID")
	if err != nil {
		return fmt.Errorf("read chats: %w", err)
	}
	people, err := p.participants(ctx, byID)
	if err != nil {
		return err
	}
	var records []localdb.Record
	for _, c := range list {
		c.Title = chatTitle(c)
		records = append(records, localdb.Record{Stream: "chats", Data: c})
	}
	return p.emitFullList(ctx, append(records, people...), &p.state.Chats)
}

// chatTitle is what a chat is called: its name, else who is in it.
func chatTitle(c *chatRecord) string {
	switch {
	case c.DisplayName != "":
		return c.DisplayName
	case len(c.Handles) == 1:
		return c.Handles[0]
	case len(c.Handles) > 1:
		return fmt.Sprintf("%s and %d more", c.Handles[0], len(c.Handles)-1)
	case c.Identifier != "":
		return c.Identifier
	}
	return c.ID
}

func (p *databasePass) participants(ctx context.Context, chats map[int64]*chatRecord) ([]localdb.Record, error) {
	if !p.hasColumn("chat_handle_join", "handle_id") || !p.hasColumn("handle", "id") {
		p.declareMissingPart("participants", reasonNoChats)
		return nil, nil
	}
	var list []localdb.Record
	seen := map[string]bool{}
	err := localdb.Query(ctx, p.db, func(v []any) {
		c, handle := chats[localdb.Number(v[0])], localdb.ValueText(v[1])
		if c == nil || handle == "" || seen[c.ID+":"+handle] {
			return // of a chat or a handle that is gone; or the same person by another service
		}
		seen[c.ID+":"+handle] = true
		c.Handles = append(c.Handles, handle)
		list = append(list, localdb.Record{Stream: "participants", Data: &participant{
			ID:      c.ID + ":" + handle,
			ChatID:  c.ID,
			Handle:  handle,
			Service: localdb.ValueText(v[2]),
			Country: localdb.ValueText(v[3]),
		}})
	}, "SELECT j.chat_id, h.id, "+p.schema.Column("handle", "h", "service")+", "+p.schema.Column("handle", "h", "country")+
		" FROM chat_handle_join j JOIN handle h ON h.ROWID = j.handle_id ORDER BY j.chat_id, h.ROWID")
	if err != nil {
		return nil, fmt.Errorf("read participants: %w", err)
	}
	return list, nil
}

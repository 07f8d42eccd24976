// Package whatsapp collects chats of WhatsApp: from exports that a person makes on a phone,
// from the database that WhatsApp keeps on a Mac, and from a decrypted one of an Android
// phone. WhatsApp documents none of them.
//
//	stores.go    which files there are, and what is done with them
//	archive.go   one exported chat to records
//	export.go    the text of an export to messages
//	stamp.go     the beginning of a message, in the forms of all languages
//	marks.go     what the app writes in place of content
//	database.go  one pass over a database
//	mac.go       the tables of a Mac
//	android.go   the tables of a phone
package whatsapp

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // so that a zone is known on a machine that has no database of them

	"github.com/pdpp-go/pdpp/connectorkit"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the WhatsApp connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	s.MaskSecrets(s.Env("PDPP_WHATSAPP_REDACT"))
	settings := ownerSettings{zone: time.Local}
	if name := s.Env("PDPP_WHATSAPP_TIME_ZONE"); name != "" {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return nil, &connectorkit.Error{Class: connectorkit.Malformed,
				Err:          fmt.Errorf("read PDPP_WHATSAPP_TIME_ZONE: %w", err),
				OwnerMessage: "PDPP_WHATSAPP_TIME_ZONE is no name of a time zone; write it like Europe/Lisbon"}
		}
		settings.zone = zone
	}
	switch strings.ToLower(s.Env("PDPP_WHATSAPP_DATE_ORDER")) {
	case "dmy":
		settings.order = orderDayFirst
	case "mdy":
		settings.order = monthFirst
	}
	source := fileSource(s.Env("WHATSAPP_EXPORT_DIR"), s.Env("WHATSAPP_DB_DIR"), settings)
	return []connectorkit.Collector{source.Collector()}, nil
}

// ownerSettings hold what an export does not contain and its owner configures.
type ownerSettings struct {
	zone  *time.Location
	order dayMonthOrder
}

// messageRecord is a message, or an event in a chat.
type messageRecord struct {
	ID            string `json:"id"`
	ChatID        string `json:"chat_id"`
	Author        string `json:"author,omitzero"`
	AuthorID      string `json:"author_id,omitzero"`
	IsFromMe      *bool  `json:"is_from_me,omitzero"`
	Kind          string `json:"kind"`
	Content       string `json:"content,omitzero"`
	ContentCut    bool   `json:"content_cut,omitzero"`
	HasAttachment bool   `json:"has_attachment"`
	Edited        bool   `json:"edited,omitzero"`
	SentAt        string `json:"sent_at"`
	SentAtLocal   string `json:"sent_at_local,omitzero"`
	Source        string `json:"source"`
}

// chatRecord is a conversation.
type chatRecord struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Participants []string `json:"participants"`
	IsGroup      *bool    `json:"is_group,omitzero"`
	MessageCount *int     `json:"message_count,omitzero"`
	First        string   `json:"first_message_date,omitzero"`
	Last         string   `json:"last_message_date,omitzero"`
	Source       string   `json:"source"`
}

// attachment describes a sent file.
type attachment struct {
	ID          string `json:"id"`
	ChatID      string `json:"chat_id"`
	MessageID   string `json:"message_id"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	SizeBytes   *int64 `json:"size_bytes,omitzero"`
	Hydration   string `json:"hydration_status"`
	Source      string `json:"source"`
}

// maxTextBytes is the longest stored text.
const maxTextBytes = 256 << 10

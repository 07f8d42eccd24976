// Package imessage collects what Messages keeps on a Mac, or in a copy of its folder:
// messages with their edits and tapbacks, chats, who takes part in them, and what was
// attached. Apple documents none of it. The reader of local files is
// connectorkit/localfile, and connectorkit/localdb follows the table of messages.
//
//	stores.go       which files there are, and what is done with them
//	database.go     one pass over the database
//	message.go      a row to a message
//	typedstream.go  the text of a body
//	summary.go      what was edited or taken back (plist.go reads its form)
//	attachment.go   what is attached to messages
//	chats.go        chats and who takes part in them
package imessage

import (
	"context"
	_ "embed"
	"os"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the iMessage connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	place, attachments := s.Env("IMESSAGE_DB_PATH"), s.Env("IMESSAGE_ATTACHMENTS_ROOT")
	s.MaskSecrets(s.Env("PDPP_IMESSAGE_REDACT"))
	info, err := os.Stat(place)
	single := err == nil && !info.IsDir()
	source := localfile.Source{
		Streams: []string{"messages", "chats", "participants", "attachments"},
		Roots:   []localfile.Root{{Name: messagesRoot, Path: place}, {Name: attachmentsRoot, Path: attachments}},
		Stores:  databaseStores(&databaseReader{attachments: attachments}, single),
	}
	return []connectorkit.Collector{source.Collector()}, nil
}

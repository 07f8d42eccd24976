// Package mail collects messages from Maildir folders and mbox files: those of mail programs, of
// Thunderbird, and of exports such as Google's. The reader of local files is
// connectorkit/localfile.
//
//	places.go   which folders and files there are
//	maildir.go  one message in a file of its own
//	mbox.go     many messages in one file
//
// connectorkit/message reads the content of a message.
package mail

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/connectorkit/message"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of mail.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	s.MaskSecrets(s.Env("PDPP_MAIL_REDACT"))
	roots, stores := findMailFolders(s.Env, messageOptions{localfile.ParseLimits(s.Env("PDPP_MAIL_TEXT")).Text, s.NewBlob})
	source := localfile.Source{Streams: []string{"messages", "attachments"}, Roots: roots, Stores: stores,
		Settings: fmt.Sprintf("2; files up to %d", s.BlobLimit())}
	return []connectorkit.Collector{source.Collector()}, nil
}

// messageOptions set how much text of a message is stored, and where attachments are written.
type messageOptions struct {
	text  int
	files func() (*connectorkit.BlobWriter, error)
}

// newMessage is a message of a file.
func (r messageOptions) newMessage(f *localfile.File) *message.Message {
	m := message.New(r.text)
	if f.Wants([]string{"attachments"}) {
		m.Files = r.files
	}
	return m
}

// emitMessage emits a message and its attachments.
func emitMessage(f *localfile.File, m *message.Message) {
	f.Emit("messages", connectorkit.Upsert(&m.Record))
	for _, a := range m.KeyedAttachments() {
		f.Emit("attachments", a.Record(a))
	}
}

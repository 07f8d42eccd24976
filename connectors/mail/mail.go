// Package mail collects messages from Maildir folders and mbox files: those of mail programs, of
// Thunderbird, and of exports such as Google's. The reader of local files is
// connectorkit/localfile.
//
//	places.go   which folders and files there are
//	maildir.go  one message in a file of its own
//	mbox.go     many messages in one file
//
// What a message says is read by connectorkit/message.
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
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, open) }

func open(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	s.Mask(s.Env("PDPP_MAIL_REDACT"))
	roots, stores := found(s.Env, reading{localfile.LimitsOf(s.Env("PDPP_MAIL_TEXT")).Text, s.NewBlob})
	source := localfile.Source{Streams: []string{"messages", "attachments"}, Roots: roots, Stores: stores,
		Settings: fmt.Sprintf("2; files up to %d", s.BlobLimit())}
	return []connectorkit.Collector{source.Collector()}, nil
}

// reading is how messages are read: how much of their text is kept, and where the contents of what
// came with them go.
type reading struct {
	text  int
	files func() (*connectorkit.BlobWriter, error)
}

// begin is a message of a file.
func (r reading) begin(f *localfile.File) *message.Message {
	m := message.New(r.text)
	if f.Wants([]string{"attachments"}) {
		m.Files = r.files
	}
	return m
}

// emit brings a message and what came with it.
func emit(f *localfile.File, m *message.Message) {
	f.Emit("messages", connectorkit.Upsert(&m.Record))
	for _, a := range m.Attached() {
		f.Emit("attachments", a.Record(a))
	}
}

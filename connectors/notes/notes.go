// Package notes collects Markdown files: vaults of Obsidian and any other folders. The reader of
// local files is connectorkit/localfile.
//
//	places.go  which folders and files there are
//	note.go    a file to a record
//	markup.go  titles, tags and links of a text
//	index.go   which note is which, so that a renamed one stays the same record
package notes

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strconv"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of notes.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	s.MaskSecrets(s.Env("PDPP_NOTES_REDACT"))
	x := newNoteIndex(s.Env("PDPP_NOTES_DELETE") == "on")
	keep := localfile.ParseLimits(s.Env("PDPP_NOTES_TEXT"))
	roots, stores := findNoteFolders(s.Env, func(f *localfile.File, content []byte) error {
		n := x.readNote(f, content, keep.Text)
		sum := sha256.Sum256([]byte(n.ID + "\x00" + n.ModifiedAt + "\x00" + n.Hash))
		if form := hex.EncodeToString(sum[:8]); string(f.State()) != strconv.Quote(form) { // else it was sent
			f.SetState(form)
			f.Emit("notes", connectorkit.Upsert(n))
		}
		return nil
	})
	source := localfile.Source{Streams: []string{"notes"}, Roots: roots, Stores: stores, Memory: x}
	if x.deletes {
		source.Mirror = "notes"
	}
	return []connectorkit.Collector{source.Collector()}, nil
}

// Package archive writes everything that an owner has into one folder or zip file that needs no program of ours, and
// verifies it.
package archive

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// Files of an archive that the manifest does not list: the manifest and its signature.
const (
	manifestFile  = "manifest.json"
	signatureFile = "manifest.note"
)

// noteHeading is the first line of the signed text.
const noteHeading = "pdpp archive 1"

// Manifest lists what is in an archive.
type Manifest struct {
	Version int           `json:"version"`
	Signer  string        `json:"signer"` // the key that verifies the signature
	Records int64         `json:"records"`
	Streams []StreamEntry `json:"streams"`
	Files   []FileEntry   `json:"files"`
}

// StreamEntry describes one stream.
type StreamEntry struct {
	ConnectionID   string `json:"connection_id"`
	ConnectionName string `json:"connection_name"`
	Stream         string `json:"stream"`
	Label          string `json:"label"`
	Path           string `json:"path"`
	Records        int64  `json:"records"`
	Through        int64  `json:"last_change_seq"`
	// Root is the Merkle root over the records in their order in the file. A leaf is the RFC 8785 form of a line.
	Root         string            `json:"root"`
	Completeness *api.Completeness `json:"completeness"`
}

// FileEntry is one file with its hash.
type FileEntry struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// parts are the folders of an archive, each with the format of its files.
var parts = []struct{ folder, format string }{
	{"records", "jsonl"}, {"texts", "markdown"}, {"calendars", "icalendar"}, {"contacts", "vcard"}, {"mail", "mbox"},
}

// Maker writes archives.
type Maker struct {
	Owner api.Owner
	Key   ed25519.PrivateKey // signs the manifest
	// Note is called after every record and every file, with the part that it belongs to. It may be nil.
	Note func(part string)
}

func (m Maker) note(part string) {
	if m.Note != nil {
		m.Note(part)
	}
}

// Make writes an archive, as a zip file if the name ends so, otherwise as a folder. It appears whole. Equal records and
// equal keys make equal bytes. What an interrupted call has written is used by the next one.
func (m Maker) Make(ctx context.Context, place string) (Manifest, error) {
	part := place + ".part"
	made, err := m.fill(ctx, part)
	if err != nil {
		return made, err
	}
	if !isZip(place) {
		return made, os.Rename(part, place)
	}
	packed := place + ".zip.part"
	if err := pack(part, packed, m.note); err != nil {
		return made, errors.Join(err, os.Remove(packed))
	}
	return made, errors.Join(os.Rename(packed, place), os.RemoveAll(part))
}

func isZip(place string) bool { return strings.EqualFold(filepath.Ext(place), ".zip") }

func (m Maker) fill(ctx context.Context, folder string) (made Manifest, err error) {
	streams, err := m.Owner.Streams(ctx, "")
	if err != nil {
		return made, err
	}
	made = Manifest{Version: 1, Streams: []StreamEntry{}}
	var texts []export.ReceiptFile
	kept := map[string]bool{} // files, and folders of texts
	for _, p := range parts {
		format, _ := export.FindFormat(p.format)
		held := slices.DeleteFunc(slices.Clone(streams), func(s api.Stream) bool { return !format.Holds(&s) })
		if len(held) == 0 {
			continue
		}
		job := export.Job{Owner: m.Owner, Format: format, Note: func(s *api.Stream, _ int64) { m.note(s.Name) }}
		receipt, _, err := job.Folder(ctx, filepath.Join(folder, p.folder), held)
		if err != nil {
			return made, err
		}
		kept[p.folder+"/"+export.ReceiptName] = true
		for _, f := range receipt.Files {
			kept[p.folder+"/"+f.Path] = true
		}
		switch p.format {
		case "jsonl":
			if err := m.describe(ctx, folder, p.folder, held, receipt, &made); err != nil {
				return made, err
			}
		case "markdown":
			texts = receipt.Files
		}
	}
	if err := m.copyFiles(ctx, folder, streams, made.Streams, kept); err != nil {
		return made, err
	}
	if err := sweep(folder, kept); err != nil {
		return made, err
	}
	if err := writeViewer(folder, streams, made.Streams, texts); err != nil {
		return made, err
	}
	return made, m.sign(folder, &made)
}

// sweep removes what an interrupted call has left and does not belong to the archive any more.
func sweep(folder string, kept map[string]bool) error {
	names, _, err := folderTree(folder).names()
	for _, name := range names {
		if strings.Contains(name, "/") && !kept[name] && !kept[path.Dir(name)] {
			err = errors.Join(err, os.Remove(filepath.Join(folder, filepath.FromSlash(name))))
		}
	}
	return err
}

// describe adds the streams to the manifest, with how complete each is and the root over its records.
func (m Maker) describe(ctx context.Context, folder, part string, streams []api.Stream, receipt export.Receipt,
	made *Manifest) error {
	for i, s := range streams {
		e := StreamEntry{ConnectionID: s.ConnectionID, ConnectionName: s.ConnectionName, Stream: s.Name, Label: s.Label,
			Path: part + "/" + receipt.Files[i].Path, Records: receipt.Files[i].Records, Through: receipt.Files[i].Through}
		page, err := m.Owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, Limit: 1,
			Completeness: true})
		if err != nil {
			return err
		}
		e.Completeness = page.Completeness
		var root merkle
		if err := eachLine(filepath.Join(folder, filepath.FromSlash(e.Path)), root.addLine); err != nil {
			return err
		}
		e.Root = root.sum()
		made.Streams, made.Records = append(made.Streams, e), made.Records+e.Records
	}
	return writeCompleteness(folder, made.Streams)
}

// sign writes the manifest over all files of the folder, and the signature over the manifest.
func (m Maker) sign(folder string, made *Manifest) error {
	t := folderTree(folder)
	names, _, err := t.names()
	if err != nil {
		return err
	}
	signer, verifier, err := newSigner(m.Key)
	if err != nil {
		return err
	}
	made.Files, made.Signer = []FileEntry{}, verifier
	for _, name := range names {
		if name == manifestFile || name == signatureFile {
			continue
		}
		bytes, sum, err := hashFile(t, name)
		if err != nil {
			return err
		}
		m.note(manifestFile)
		made.Files = append(made.Files, FileEntry{Path: name, Bytes: bytes, SHA256: sum})
	}
	body, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return err
	}
	body = append(body, '\n')
	signed, err := note.Sign(&note.Note{Text: noteText(body)}, signer)
	if err != nil {
		return fmt.Errorf("sign the manifest: %w", err)
	}
	return errors.Join(os.WriteFile(filepath.Join(folder, manifestFile), body, 0o600),
		os.WriteFile(filepath.Join(folder, signatureFile), signed, 0o600))
}

// noteText is the signed text of a manifest.
func noteText(manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return noteHeading + "\n" + manifestFile + " " + hex.EncodeToString(sum[:]) + "\n"
}

func hashFile(t tree, name string) (bytes int64, sum string, err error) {
	file, err := t.open(name)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	all := sha256.New()
	bytes, err = io.Copy(all, file)
	return bytes, hex.EncodeToString(all.Sum(nil)), err
}

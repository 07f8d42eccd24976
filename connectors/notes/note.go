package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// noteRecord is one file.
type noteRecord struct {
	ID         string         `json:"id"`
	Folder     string         `json:"folder"`
	Path       string         `json:"path"`
	Title      string         `json:"title"`
	Text       string         `json:"text"`
	Bytes      int64          `json:"text_bytes"`
	Cut        bool           `json:"text_cut,omitzero"`
	Tags       []string       `json:"tags,omitempty"`
	Links      []string       `json:"links,omitempty"`
	Aliases    []string       `json:"aliases,omitempty"`
	Properties jsontext.Value `json:"properties,omitzero"`
	CreatedAt  string         `json:"created_at,omitzero"`
	ModifiedAt string         `json:"modified_at,omitzero"`
	Hash       string         `json:"content_sha256"`
}

const (
	maxNoteIDBytes = 200
	maxTitleBytes  = 500
	maxProperties  = 16 << 10
	maxAliases     = 50
)

// readNote turns a file into a record.
func (x *noteIndex) readNote(f *localfile.File, content []byte, limit int) *noteRecord {
	head, body := localfile.FrontMatter(content)
	sum := sha256.New()
	_, _ = sum.Write(content) // a hash never fails
	if f.Cut {                // beyond the limit only the length counts
		_, _ = fmt.Fprintf(sum, "\x00%d", f.Size)
	}
	hash := sum.Sum(nil)
	own := localfile.ShortText(strings.TrimSpace(localfile.HeadText(head, "id")), maxNoteIDBytes)
	text := localfile.Excerpt{Limit: limit}
	text.Text(body)
	marks := scanMarkup(body)
	n := &noteRecord{
		ID: x.assignKey(f.Root, f.Rel, own, hash[:contentHashBytes]), Folder: f.Root, Path: f.Rel, Text: text.String(),
		Bytes: f.Size,
		Cut:   text.Cut() || f.Cut,
		Tags:  mergeTags(head, marks.tags), Links: marks.links, Aliases: headerList(head["aliases"], maxAliases),
		CreatedAt: createdTime(head), ModifiedAt: f.Modified.Format(time.RFC3339), Hash: hex.EncodeToString(hash),
	}
	for _, title := range []string{localfile.HeadText(head, "title"), marks.title,
		strings.TrimSuffix(path.Base(f.Rel), path.Ext(f.Rel))} {
		if n.Title == "" {
			n.Title = localfile.ShortText(strings.TrimSpace(title), maxTitleBytes)
		}
	}
	if len(head) > 0 {
		if raw, err := json.Marshal(head, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)); err == nil &&
			len(raw) <= maxProperties {
			n.Properties = raw
		}
	}
	return n
}

// createdTime returns the creation time in the note's front matter.
func createdTime(head map[string]any) string {
	for _, name := range []string{"created", "created_at", "date created", "date"} {
		text := strings.TrimSpace(localfile.HeadText(head, name))
		for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05",
			"2006-01-02 15:04", "2006-01-02"} {
			if at, err := time.Parse(form, text); err == nil && at.Year() >= 1 && at.Year() <= 9999 {
				return at.UTC().Format(time.RFC3339)
			}
		}
	}
	return ""
}

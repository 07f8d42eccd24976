package archive

import (
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

//go:embed index.html
var viewerPage []byte

const (
	// viewerRows is how many records a part of the viewer's data has.
	viewerRows = 200
	// viewerText bounds the text of a record in the viewer; the whole is in records/.
	viewerText = 2000
)

// viewerIndex is what the page loads first.
type viewerIndex struct {
	Streams []viewerStream      `json:"streams"`
	Days    map[string][][2]int `json:"days"` // by day: the number of a stream, and of a part of it
	Texts   []string            `json:"texts"`
}

type viewerStream struct {
	Source  string `json:"source"`
	Label   string `json:"label"`
	Path    string `json:"path"`
	Records int64  `json:"records"`
	Parts   int    `json:"parts"`
	Whole   string `json:"whole"`
	AsOf    string `json:"as_of"`
}

type viewerRow struct {
	Key    string `json:"k"`
	At     string `json:"t,omitempty"`
	Title  string `json:"h,omitempty"`
	Author string `json:"a,omitempty"`
	Text   string `json:"x,omitempty"`
}

// writeViewer writes a page that shows the archive without a network. Its data are scripts, because a page that is
// opened from a disk may not read other files.
func writeViewer(folder string, streams []api.Stream, entries []StreamEntry, texts []export.ReceiptFile) error {
	if err := os.RemoveAll(filepath.Join(folder, "viewer")); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, "viewer"), 0o700); err != nil {
		return err
	}
	index := viewerIndex{Streams: []viewerStream{}, Days: map[string][][2]int{}, Texts: []string{}}
	for i, e := range entries {
		v := viewerStream{Source: e.ConnectionName, Label: e.Label, Path: e.Path, Records: e.Records, Whole: "unknown"}
		if c := e.Completeness; c != nil {
			v.Whole = c.Whole
			if c.AsOf != nil {
				v.AsOf = c.AsOf.UTC().Format(time.DateOnly)
			}
		}
		at := slices.IndexFunc(streams, func(s api.Stream) bool {
			return s.ConnectionID == e.ConnectionID && s.Name == e.Stream
		})
		p := viewerParts{folder: folder, number: i, stream: &streams[at], days: index.Days}
		if err := eachLine(filepath.Join(folder, filepath.FromSlash(e.Path)), p.add); err != nil {
			return err
		}
		if err := p.flush(); err != nil {
			return err
		}
		v.Parts = p.parts
		index.Streams = append(index.Streams, v)
	}
	for _, f := range texts {
		all, err := fs.Glob(os.DirFS(filepath.Join(folder, "texts", filepath.FromSlash(f.Path))), "*.md")
		if err != nil {
			return err
		}
		for _, name := range all {
			index.Texts = append(index.Texts, "texts/"+f.Path+"/"+name)
		}
	}
	if err := writeScript(filepath.Join(folder, "viewer", "index.js"), "pdppIndex(", index); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "index.html"), viewerPage, 0o600)
}

// viewerParts writes the records of a stream in parts.
type viewerParts struct {
	folder string
	number int
	stream *api.Stream
	days   map[string][][2]int
	parts  int
	rows   []viewerRow
}

func (p *viewerParts) add(line []byte) error {
	var r export.Record
	if err := json.Unmarshal(line, &r.Record); err != nil {
		return fmt.Errorf("read a record: %w", err)
	}
	s := r.Summary(p.stream)
	row := viewerRow{Key: r.Key, Title: s.Title, Author: s.Author, Text: cutText(s.Text)}
	if !s.At.IsZero() {
		row.At = s.At.UTC().Format(time.RFC3339)
		place, day := [2]int{p.number, p.parts}, row.At[:len(time.DateOnly)]
		if of := p.days[day]; len(of) == 0 || of[len(of)-1] != place {
			p.days[day] = append(of, place)
		}
	}
	if p.rows = append(p.rows, row); len(p.rows) < viewerRows {
		return nil
	}
	return p.flush()
}

func cutText(text string) string {
	if len(text) <= viewerText {
		return text
	}
	return strings.ToValidUTF8(text[:viewerText], "") + " [...]"
}

func (p *viewerParts) flush() error {
	if len(p.rows) == 0 {
		return nil
	}
	name := fmt.Sprintf("%d-%d.js", p.number, p.parts)
	err := writeScript(filepath.Join(p.folder, "viewer", name), fmt.Sprintf("pdppPart(%d,%d,", p.number, p.parts), p.rows)
	p.rows, p.parts = p.rows[:0], p.parts+1
	return err
}

// writeScript writes a call of a function of the page with a value.
func writeScript(path, call string, value any) error {
	body, err := json.Marshal(value) // escapes < and >, and the line ends of scripts
	if err != nil {
		return err
	}
	return os.WriteFile(path, slices.Concat([]byte(call), body, []byte(");\n")), 0o600)
}

// Package export writes records in the formats of other programs.
//
// It reads through api.Owner, so that an export of this machine and one of another server have the same bytes.
package export

import (
	"io"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Writer writes records as one file. Records of one stream follow each other.
type Writer interface {
	Write(s *api.Stream, r *Record) error
	// Close writes the end of the file. The place that it goes to stays open.
	Close() error
}

// Format is a form in which records are written.
type Format struct {
	Name, Suffix, Media string
	Title               string // what people call the format
	Reader              string // what opens it
	// Single reports whether a file holds one stream only.
	Single bool

	holds  func(s *api.Stream) bool
	open   func(to io.Writer, streams []api.Stream) (Writer, error)
	reader bool // for people: texts are taken from the streams that hold them
}

// Formats lists every format.
var Formats = []Format{
	{Name: "jsonl", Suffix: ".jsonl", Media: "application/x-ndjson", Title: "JSON lines",
		Reader: "Every field, one record per line", open: newLines},
	{Name: "csv", Suffix: ".csv", Media: "text/csv; charset=utf-8", Title: "CSV",
		Reader: "Opens in a spreadsheet, nested fields as text", open: newTable},
	{Name: "parquet", Suffix: ".parquet", Media: "application/vnd.apache.parquet", Title: "Parquet", Single: true,
		Reader: "For DuckDB and pandas",
		open:   newParquet},
	{Name: "sqlite", Suffix: ".sqlite", Media: "application/vnd.sqlite3", Title: "SQLite",
		Reader: "A database with one table", open: newDatabase},
	{Name: "markdown", Suffix: ".md", Media: "text/markdown; charset=utf-8", Title: "Markdown",
		Reader: "One text to read", holds: isReadable,
		open: newMarkdown, reader: true},
	{Name: "icalendar", Suffix: ".ics", Media: "text/calendar; charset=utf-8", Title: "iCalendar",
		Reader: "For calendars", holds: isCalendar,
		open: newCalendar},
	{Name: "vcard", Suffix: ".vcf", Media: "text/vcard; charset=utf-8", Title: "vCard",
		Reader: "For address books", holds: isAddressBook,
		open: newCards},
	{Name: "mbox", Suffix: ".mbox", Media: "application/mbox", Title: "mbox",
		Reader: "For mail programs, without attachments", holds: isMail, open: newMailbox,
		reader: true},
}

// FormatNames lists the names of all formats.
func FormatNames() (names []string) {
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// FindFormat returns the format with a name.
func FindFormat(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// Holds reports whether a stream can be written in the format.
func (f Format) Holds(s *api.Stream) bool { return f.holds == nil || f.holds(s) }

// OpenChanges is Open for the changes of a stream, deletions included. It returns false for a format that has no place
// for them.
func (f Format) OpenChanges(to io.Writer, s api.Stream) (w Writer, possible bool, err error) {
	switch f.Name {
	case "jsonl":
		w, err = f.open(to, nil)
		return w, true, err
	case "parquet":
		w, err = openParquet(to, []api.Stream{s}, true)
		return w, true, err
	}
	return nil, false, nil
}

// Open returns a writer of the streams. Formats with columns take them from the streams.
func (f Format) Open(to io.Writer, streams []api.Stream) (Writer, error) { return f.open(to, streams) }

func isReadable(s *api.Stream) bool {
	switch s.Display.Kind {
	case "conversation", "message", "document":
		return true
	}
	return s.Display.Roles["text"] != ""
}

func isCalendar(s *api.Stream) bool {
	return s.Display.Kind == "event" && s.Display.Roles["time"] != ""
}

func isAddressBook(s *api.Stream) bool {
	return slices.Contains(s.Fields, "full_name") &&
		(slices.Contains(s.Fields, "emails") || slices.Contains(s.Fields, "phones"))
}

func isMail(s *api.Stream) bool {
	return s.Display.Kind == "message" && slices.Contains(s.Fields, "from_address") &&
		slices.Contains(s.Fields, "subject")
}

// singleLine keeps a value from beginning a line of its own.
func singleLine(text string) string { return strings.Join(strings.Fields(text), " ") }

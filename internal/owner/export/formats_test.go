package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-ical"
	"github.com/emersion/go-vcard"
	"github.com/parquet-go/parquet-go"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func (o *heldOwner) stream(t *testing.T, name string) api.Stream {
	t.Helper()
	i := slices.IndexFunc(o.streams, func(s api.Stream) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no stream %s", name)
	}
	return o.streams[i]
}

func exported(t *testing.T, o *heldOwner, format string, names ...string) []byte {
	t.Helper()
	f, known := FindFormat(format)
	if !known {
		t.Fatalf("no format %s", format)
	}
	var streams []api.Stream
	for _, name := range names {
		s := o.stream(t, name)
		if !f.Holds(&s) {
			t.Errorf("%s cannot hold %s", format, name)
		}
		streams = append(streams, s)
	}
	var out bytes.Buffer
	if _, err := (Job{Owner: o, Format: f}).Write(t.Context(), &out, streams); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// python runs a program with the exported file as its argument and returns its output.
func python(t *testing.T, file []byte, program string) string {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is not installed; make test installs it")
	}
	place := filepath.Join(t.TempDir(), "export")
	if err := os.WriteFile(place, file, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-I", "-X", "utf8", "-c", program, place)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestCSVIsReadElsewhere(t *testing.T) {
	t.Parallel()
	got := python(t, exported(t, garden(), "csv", "beds"), `
import csv, json, sys
print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline="")))))`)
	var rows []map[string]string
	if err := json.Unmarshal([]byte(got), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0]["name"] != "Rose, \"red\"\nbed" || rows[0]["_other"] != `{"moss":[1]}` ||
		rows[1]["name"] != "'=1+1" || rows[1]["count"] != "99999999999999999999" {
		t.Errorf("rows %q", rows)
	}
}

func TestMboxIsReadElsewhere(t *testing.T) {
	t.Parallel()
	got := python(t, exported(t, garden(), "mbox", "messages"), `
import mailbox, sys
from email.header import decode_header, make_header
for m in mailbox.mbox(sys.argv[1]):
    print([str(make_header(decode_header(m[h] or ""))) for h in ("From", "To", "Bcc", "Subject", "Message-ID")],
          m.get_payload(decode=True).decode())`)
	want := `['Möhre <m@example.org>', '"Ada" <ada@example.org>', '', 'Re: Plums Bcc: x@example.org', '<2@x>'] ` +
		"Thank you.\n\n" +
		`['"Ada" <ada@example.org>', '<m@example.org>', '', 'Plums', '<1@x>'] Dear Möhre,` + "\n" +
		"From now on plums.\n\n\n"
	if got != want {
		t.Errorf("read\n%q\nwant\n%q", got, want)
	}
}

func TestSQLiteIsReadElsewhere(t *testing.T) {
	t.Parallel()
	got := python(t, exported(t, garden(), "sqlite", "beds", "messages"), `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(json.dumps(db.execute("select * from beds order by _key desc").fetchall()))
print(json.dumps(db.execute("select _key from beds where rowid in (select rowid from beds_search('red'))").fetchall()))
print(json.dumps(db.execute("select table_name, stream from _about order by 1").fetchall()))
print(db.execute("pragma integrity_check").fetchone()[0], db.execute("select count(*) from messages").fetchone()[0])`)
	want := `[["b1", "b1", "Rose, \"red\"\nbed", -3.5, 7, 1, "2026-02-03", "2026-02-03T04:05:06.5Z", "{\"ph\":6.5}", ` +
		`"cin_one", "2026-03-04T05:06:07Z", "2026-03-04T05:06:07Z", 1, 0, "{\"_key\":\"mine\",\"moss\":[1]}"], ` +
		`["=b2", "=b2", "=1+1", "big", null, null, "spring", null, null, "cin_one", "2026-03-04T05:06:07Z", ` +
		`"2026-03-04T05:06:07Z", 1, 0, "{\"count\":99999999999999999999}"]]
[["b1"]]
[["beds", "beds"], ["messages", "messages"]]
ok 2
`
	if got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
}

func TestCalendarIsReadElsewhere(t *testing.T) {
	t.Parallel()
	file := exported(t, garden(), "icalendar", "events")
	cal, err := ical.NewDecoder(bytes.NewReader(file)).Decode()
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	events := cal.Events()
	if len(events) != 2 {
		t.Fatalf("%d events\n%s", len(events), file)
	}
	title, _ := events[0].Props.Text("SUMMARY")
	begins, err := events[1].DateTimeStart(time.UTC)
	if title != "Prune; the, tree\nEND:VEVENT" || err != nil ||
		!begins.Equal(time.Date(2026, 3, 5, 9, 0, 0, 0, time.UTC)) {
		t.Errorf("title %q, start %v %v", title, begins, err)
	}
	if day := events[0].Props.Get("DTSTART"); day.Value != "20260305" || day.Params.Get("VALUE") != "DATE" {
		t.Errorf("day %+v", day)
	}
	set, err := events[1].RecurrenceSet(time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	next := set.After(begins, false)
	if want := time.Date(2026, 3, 19, 9, 0, 0, 0, time.UTC); !next.Equal(want) { // the week between is left out
		t.Errorf("next %v, want %v", next, want)
	}
	for line := range strings.SplitSeq(string(file), "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("line %q", line)
		}
	}
	if !bytes.Contains(file, []byte("TZID:Europe/Madrid")) || !bytes.Contains(file, []byte("DTSTART:20260329T020000")) {
		t.Errorf("no change of clocks in %.300s", file)
	}
}

func TestCardIsReadElsewhere(t *testing.T) {
	t.Parallel()
	card, err := vcard.NewDecoder(bytes.NewReader(exported(t, garden(), "vcard", "contacts"))).Decode()
	if err != nil {
		t.Fatal(err)
	}
	if card.Value("FN") != "Ada Möhre, Jr" || card.Value("EMAIL") != "ada@example.org" ||
		card.Get("EMAIL").Params.Get("TYPE") != "HOME" || card.Value("BDAY") != "1990-04-05" ||
		!strings.HasPrefix(card.Value("NOTE"), "Likes plums,\nand long ") ||
		!strings.HasSuffix(card.Value("NOTE"), "lines.") {
		for name := range card {
			t.Errorf("%s is %q", name, card.Value(name))
		}
	}
}

func TestParquetHasTypes(t *testing.T) {
	t.Parallel()
	file := exported(t, garden(), "parquet", "beds")
	type row struct {
		Key   string     `parquet:"_key"`
		Name  *string    `parquet:"name,optional"`
		Size  *float64   `parquet:"size,optional"`
		Count *int64     `parquet:"count,optional"`
		Sunny *bool      `parquet:"sunny,optional"`
		Dug   *int32     `parquet:"dug_on,optional,date"`
		Seen  *time.Time `parquet:"seen_at,optional,timestamp(microsecond)"`
		Other *string    `parquet:"_other,optional,json"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	a, b := rows[0], rows[1]
	if a.Key != "b1" || *a.Size != -3.5 || *a.Count != 7 || !*a.Sunny || *a.Dug != 20487 ||
		!a.Seen.Equal(time.Date(2026, 2, 3, 4, 5, 6, 5e8, time.UTC)) || *a.Other != `{"_key":"mine","moss":[1]}` {
		t.Errorf("row %+v", a)
	}
	if b.Size != nil || b.Count != nil || b.Sunny != nil || b.Dug != nil ||
		*b.Other != `{"count":99999999999999999999,"dug_on":"spring","size":"big"}` {
		t.Errorf("row %+v, other %s", b, *b.Other)
	}
}

// A conversation is one text, in the order of time, with the texts of the other stream.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	got := string(exported(t, garden(), "markdown", "messages"))
	want := "# Plums\n\n## Ada, 2026-03-01 10:00 UTC\n\nDear Möhre,\nFrom now on plums.\n\n" +
		"## Möhre, 2026-03-02 10:00 UTC\n\nThank you.\n\n"
	if got != want {
		t.Errorf("got %q", got)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for _, name := range FormatNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := garden()
			f, _ := FindFormat(name)
			job := Job{Owner: o, Format: f}
			streams := slices.DeleteFunc(slices.Clone(o.streams), func(s api.Stream) bool { return !f.Holds(&s) })
			folder := t.TempDir()
			first, kept, err := job.Folder(t.Context(), folder, streams)
			if err != nil || kept != 0 || len(first.Files) != len(streams) {
				t.Fatalf("%+v, kept %d, %v", first, kept, err)
			}
			reads := len(o.exports)
			again, kept, err := job.Folder(t.Context(), folder, streams)
			if err != nil || kept != len(streams) || len(o.exports) != reads {
				t.Errorf("again kept %d of %d, %v", kept, len(streams), err)
			}
			if !slices.Equal(first.Files, again.Files) {
				t.Errorf("files %+v and %+v", first.Files, again.Files)
			}
			other, _, err := job.Folder(t.Context(), t.TempDir(), streams)
			if err != nil || !slices.Equal(first.Files, other.Files) {
				t.Errorf("equal records, other bytes: %+v, %+v, %v", first.Files, other.Files, err)
			}
			streams[0].LastSeq++
			if _, kept, err := job.Folder(t.Context(), folder, streams); err != nil || kept != len(streams)-1 {
				t.Errorf("after a change kept %d of %d, %v", kept, len(streams), err)
			}
		})
	}
}

// An export that breaks off leaves whole files, and continues behind them.
func TestBrokenFolder(t *testing.T) {
	t.Parallel()
	o := garden()
	f, _ := FindFormat("jsonl")
	folder := t.TempDir()
	o.broken = "events"
	if _, _, err := (Job{Owner: o, Format: f}).Folder(t.Context(), folder, o.streams); err == nil {
		t.Fatal("no error")
	}
	left, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil || len(left) != 3 {
		t.Errorf("left %q, %v", left, err)
	}
	for _, name := range left {
		if strings.HasSuffix(name, ".part") {
			t.Errorf("part %s is left", name)
		}
	}
	o.broken = ""
	r, kept, err := (Job{Owner: o, Format: f}).Folder(t.Context(), folder, o.streams)
	if err != nil || kept != len(left) || len(r.Files) != len(o.streams) {
		t.Errorf("kept %d of %d, %v", kept, len(left), err)
	}
}

func TestPlaceFails(t *testing.T) {
	t.Parallel()
	for _, f := range Formats {
		o := garden()
		streams := slices.DeleteFunc(slices.Clone(o.streams), func(s api.Stream) bool { return !f.Holds(&s) })[:1]
		_, err := (Job{Owner: o, Format: f}).Write(context.Background(), fullDisk{}, streams)
		if place := (*WriteError)(nil); !errors.As(err, &place) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// No text becomes a formula, and all of it is there.
func FuzzInert(f *testing.F) {
	for _, s := range []string{"", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "plain", "'quoted"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := EscapeFormula(text)
		if got != "" && strings.ContainsRune("=+-@\t\r\n", rune(got[0])) || !strings.HasSuffix(got, text) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

// What others wrote begins no property, no header and no message.
func FuzzLines(f *testing.F) {
	f.Add("plain")
	f.Add("a\r\nEND:VCARD\r\nBEGIN:VCARD")
	f.Add("x\n\nFrom me Thu\nSubject: y\xff")
	f.Fuzz(func(t *testing.T, text string) {
		data, err := json.Marshal(map[string]any{"id": text, "full_name": text, "note": text, "uid": text,
			"emails": []map[string]any{{"value": text, "types": []string{text}}}, "subject": text, "from_name": text,
			"from_address": text, "to": []string{text}, "message_id": text, "references": []string{text}, "text": text,
			"start": "2026-03-05", "summary": text, "rrule": text, "location": text,
			"attendees": []map[string]any{{"email": text, "name": text}}})
		if err != nil {
			return
		}
		s := api.Stream{Name: "s", Display: api.Display{Roles: map[string]string{"title": "summary", "time": "start",
			"text": "text"}}, Fields: []string{"uid"}}
		counts := map[string]string{"vcard": "BEGIN:VCARD", "icalendar": "BEGIN:VEVENT", "mbox": "From "}
		for name, begins := range counts {
			var out bytes.Buffer
			format, _ := FindFormat(name)
			w, err := format.Open(&out, []api.Stream{s})
			if err != nil {
				t.Fatal(err)
			}
			r := &Record{Record: api.Record{Stream: "s", Key: "k", Data: data, ChangedAt: changed, EmittedAt: changed}}
			if err := errors.Join(w.Write(&s, r), w.Close()); err != nil {
				t.Fatal(err)
			}
			n := 0
			for line := range strings.Lines(out.String()) {
				if strings.HasPrefix(line, begins) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s has %d records:\n%s", name, n, out.String())
			}
		}
	})
}

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	fastjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/parquet-go/parquet-go"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// exported is what one process that exports reports of itself.
type exported struct {
	Seconds float64 `json:"seconds"` // of the processor
	PeakRSS int64   `json:"peak_rss"`
	Bytes   int64   `json:"bytes"`
}

// madeRow has the members of a made record.
type madeRow struct {
	Key     string         `json:"-" parquet:"_key,zstd"`
	Changed time.Time      `json:"-" parquet:"_changed_at,zstd,timestamp(microsecond)"`
	ID      string         `json:"id" parquet:"id,zstd"`
	Subject string         `json:"subject" parquet:"subject,zstd"`
	From    string         `json:"from_address" parquet:"from_address,zstd"`
	Name    string         `json:"from_name" parquet:"from_name,zstd"`
	Text    string         `json:"text" parquet:"text,zstd"`
	At      time.Time      `json:"at" parquet:"at,zstd,timestamp(microsecond)"`
	Size    int64          `json:"size" parquet:"size,zstd"`
	Read    bool           `json:"read" parquet:"read,zstd"`
	Tags    jsontext.Value `json:"tags" parquet:"tags,zstd,json"`
	Thread  string         `json:"thread" parquet:"thread,zstd"`
	Full    string         `json:"full_name" parquet:"full_name,zstd"`
	Emails  jsontext.Value `json:"emails" parquet:"emails,zstd,json"`
}

// bareWriter decodes records into rows of a fixed type and hands them to a library.
type bareWriter struct {
	put   func(madeRow) error
	close func() error
}

func (b bareWriter) Write(_ *api.Stream, r *export.Record) error {
	row := madeRow{Key: r.Key, Changed: r.ChangedAt}
	if err := fastjson.Unmarshal(r.Data, &row); err != nil {
		return err
	}
	return b.put(row)
}
func (b bareWriter) Close() error { return b.close() }

// bareExport returns the writer that a format is compared with: the format's library without our work, or bare
// decoding.
func bareExport(format string, to io.Writer) (bareWriter, error) {
	nothing := func() error { return nil }
	switch format {
	case "parquet":
		w := parquet.NewGenericWriter[madeRow](to, parquet.MaxRowsPerRowGroup(20_000))
		return bareWriter{func(row madeRow) error { _, err := w.Write([]madeRow{row}); return err }, w.Close}, nil
	case "sqlite":
		return bareSQLiteExport()
	}
	return bareWriter{func(madeRow) error { return nil }, nothing}, nil
}

// bareSQLiteExport inserts rows into a table, and fills its full-text index at the end.
func bareSQLiteExport() (b bareWriter, err error) {
	place := filepath.Join(os.TempDir(), fmt.Sprintf("pdpp-bench-%d.sqlite", os.Getpid()))
	db, err := sql.Open("sqlite", "file:"+place+"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)")
	if err != nil {
		return b, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE made (_key TEXT PRIMARY KEY, changed TEXT, id TEXT, subject TEXT, from_address TEXT,
		from_name TEXT, text TEXT, at TEXT, size INTEGER, read INTEGER, tags TEXT, thread TEXT, full_name TEXT, emails TEXT);
		BEGIN`); err != nil {
		return b, err
	}
	insert, err := db.Prepare("INSERT INTO made VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return b, err
	}
	b.put = func(r madeRow) error {
		_, err := insert.Exec(r.Key, r.Changed.Format(time.RFC3339), r.ID, r.Subject, r.From, r.Name, r.Text,
			r.At.Format(time.RFC3339), r.Size, r.Read, string(r.Tags), r.Thread, r.Full, string(r.Emails))
		return err
	}
	b.close = func() error {
		_, err := db.Exec(`CREATE VIRTUAL TABLE made_search USING fts5(text, content=made);
			INSERT INTO made_search(made_search) VALUES ('rebuild'); COMMIT`)
		return errors.Join(err, db.Close(), os.Remove(place))
	}
	return b, nil
}

// exportMain exports made records in a format, or with its bare library.
func exportMain(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("export", flag.ContinueOnError)
	name, bare := f.String("format", "", "format"), f.Bool("bare", false, "only the library of the format")
	records := f.Int("records", 0, "records to export")
	if err := f.Parse(args); err != nil {
		return err
	}
	o, size, err := &madeRecords{n: *records}, &sizeWriter{}, error(nil)
	job, s := export.Job{Owner: o}, o.stream(*name)
	if *bare {
		var to bareWriter
		if to, err = bareExport(*name, size); err == nil {
			_, err = job.Copy(ctx, to, &s)
			err = errors.Join(err, to.Close())
		}
	} else {
		job.Format, _ = export.FindFormat(*name)
		_, err = job.Write(ctx, size, []api.Stream{s})
	}
	if err != nil {
		return err
	}
	peak, err := peakRSS()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(exported{processorTime().Seconds(), peak, size.n})
}

// exportLimits are the most time against the bare library, and the most memory in MiB, of formats that have targets.
var exportLimits = map[string]struct{ times, memory float64 }{"parquet": {2, 160}, "sqlite": {1.5, 160}}

// measureExport writes records of about 500 bytes in every format, each in a process of its own. The records come from
// memory, so that the figures are those of the formats.
func measureExport(ctx context.Context, c config, _ string, r *report) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	run := func(format string, bare bool) (e exported, err error) {
		cmd := exec.CommandContext(ctx, self, "export", "-format", format, "-records", strconv.Itoa(c.Records),
			fmt.Sprint("-bare=", bare))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return e, fmt.Errorf("export as %s: %w", format, err)
		}
		return e, json.Unmarshal(out, &e)
	}
	for _, format := range export.Formats {
		var times, ours, bares []float64
		var e, bare exported
		for range c.Rounds {
			if bare, err = run(format.Name, true); err == nil {
				e, err = run(format.Name, false)
			}
			if err != nil {
				return err
			}
			times = append(times, e.Seconds/bare.Seconds)
			ours, bares = append(ours, e.Seconds), append(bares, bare.Seconds)
		}
		limit, than := exportLimits[format.Name], "bare decoding"
		if limit.times > 0 {
			than = "its bare library"
		}
		r.tell(figure{Name: "export: " + format.Name + " against " + than, Value: median(times), Unit: "times",
			Below: limit.times, Note: fmt.Sprintf("%d records, %.1f and %.1f CPU-s, %.0f MB", c.Records, median(ours),
				median(bares), float64(e.Bytes)/1e6)})
		r.tell(figure{Name: "export: peak RSS of " + format.Name, Value: float64(e.PeakRSS) / (1 << 20), Unit: "MiB",
			Below: limit.memory})
	}
	return nil
}

type sizeWriter struct{ n int64 }

func (w *sizeWriter) Write(b []byte) (int, error) {
	w.n += int64(len(b))
	return len(b), nil
}

// madeRecords is an owner with one stream.
type madeRecords struct {
	api.Owner
	n int
}

// stream declares the records as what the format holds.
func (o *madeRecords) stream(format string) api.Stream {
	s := api.Stream{ConnectionID: "cin_made", Name: "made", Records: int64(o.n), Search: []string{"text"},
		Fields: []string{"id", "subject", "from_address", "from_name", "text", "at", "size", "read", "tags", "thread",
			"full_name", "emails"},
		FieldKinds: map[string]string{"size": api.FieldInteger, "read": api.FieldBoolean, "at": api.FieldTime,
			"tags": api.FieldJSON, "emails": api.FieldJSON},
		Display: api.Display{Kind: "message", Roles: map[string]string{"title": "subject", "text": "text", "time": "at",
			"thread": "thread", "author": "from_name"}},
	}
	for _, name := range s.Fields {
		if s.FieldKinds[name] == "" {
			s.FieldKinds[name] = api.FieldText
		}
	}
	if format == "icalendar" {
		s.Display.Kind = "event"
	}
	return s
}

func (o *madeRecords) Streams(context.Context, string) ([]api.Stream, error) { return nil, nil }

func (o *madeRecords) Export(_ context.Context, w io.Writer, _ api.ExportQuery) error {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	chance, line := rand.New(rand.NewPCG(1, 2)), []byte(nil)
	for i := range o.n {
		line = fmt.Appendf(line[:0], `{"connection_id":"cin_made","stream":"made","id":"m%07d","data":{"id":"m%07d",`+
			`"subject":"Plums %d","from_address":"ada@example.org","from_name":"Ada","text":"`, i, i, chance.IntN(1e6))
		for range 30 {
			line = append(strconv.AppendUint(line, chance.Uint64N(20_000), 36), ' ')
		}
		line = fmt.Appendf(line, `","at":%q,"size":%d,"read":%t,"tags":["garden"],"thread":"t%d","full_name":"Ada",`+
			`"emails":[{"value":"a@example.org"}]},"emitted_at":"2026-01-02T03:04:05Z","changed_at":"2026-01-02T03:04:05Z",`+
			`"version":1}`+"\n", at.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), i, i%3 == 0, i/20)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

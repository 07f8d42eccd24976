package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// measureExport writes records of about 500 bytes in every format. The records come from memory, so that the figures
// are those of the formats. Reading them as JSON lines, which every format does, is the first figure.
func measureExport(ctx context.Context, c config, _ string, r *report) error {
	for _, format := range export.Formats {
		o := &madeRecords{n: c.Records}
		s := o.stream(format.Name)
		var peak uint64
		job := export.Job{Owner: o, Format: format, Note: func(_ *api.Stream, n int64) {
			if n%10_000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse+m.StackInuse)
			}
		}}
		size := &sizeWriter{}
		runtime.GC()
		began := processorTime()
		if _, err := job.Write(ctx, size, []api.Stream{s}); err != nil {
			return fmt.Errorf("export as %s: %w", format.Name, err)
		}
		spent := processorTime() - began
		r.tell(figure{Name: "export: records as " + format.Name, Value: float64(c.Records) / spent.Seconds() / 1000,
			Unit: "k records/CPU-s", Note: fmt.Sprintf("%d records, %.1f CPU-s, %.0f MB, peak heap %.0f MiB", c.Records,
				spent.Seconds(), float64(size.n)/1e6, float64(peak)/(1<<20))})
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
	words := slices.Repeat(strings.Fields("the plums at the harbour were ripe in the second week of June "), 4)
	for i := range o.n {
		data, err := json.Marshal(map[string]any{"id": fmt.Sprintf("m%07d", i), "subject": "Plums " + words[i%len(words)],
			"from_address": "ada@example.org", "from_name": "Ada", "text": strings.Join(words[i%7:], " "),
			"at": at.Add(time.Duration(i) * time.Minute), "size": i, "read": i%3 == 0, "tags": []string{"garden"},
			"thread": fmt.Sprintf("t%d", i/20), "full_name": "Ada", "emails": []any{map[string]any{"value": "a@example.org"}}})
		if err != nil {
			return err
		}
		line, err := json.Marshal(api.Record{ConnectionID: "cin_made", Stream: "made", Key: fmt.Sprintf("m%07d", i),
			Data: data, EmittedAt: at, ChangedAt: at, Version: 1})
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

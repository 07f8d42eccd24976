package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
	"github.com/pdpp-go/pdpp/protocol"
)

// What the owner of the measured stores keeps: sources with streams, over years.
const (
	keptSources = 14
	keptYears   = 17
	keptFew     = 50_000
	keptThreads = 40 // conversations of a source
)

// keptManifest declares how the streams are shown, so that the timeline includes them.
const keptManifest = `{"protocol_version":"0.1.0","connector_id":"kept","version":"1.0.0","display_name":"Kept",
		"runtime_requirements":{"bindings":{}},"streams":[
	{"name":"chats","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",
	"properties":{"id":{"type":"string"},"title":{"type":"string"}}},
		"display":{"kind":"conversation","roles":{"title":"title"}}},
	{"name":"messages","semantics":"append_only","primary_key":"id","consent_time_field":"at",
	"relationships":[{"name":"chat","stream":"chats","foreign_key":"chat","cardinality":"has_one"}],
		"schema":{"type":"object","properties":{"id":{"type":"string"},"at":{"type":"string","format":"date-time"},
		"chat":{"type":"string"},"by":{"type":"string"},"text":{"type":"string"}}},
		"display":{"kind":"message","roles":{"time":"at","thread":"chat","author":"by","text":"text"}}},
	{"name":"payments","semantics":"append_only","primary_key":"id","consent_time_field":"at",
		"schema":{"type":"object","properties":{"id":{"type":"string"},"at":{"type":"string","format":"date-time"},
		"text":{"type":"string"},"amount":{"type":"number"}}},
		"display":{"kind":"transaction","roles":{"time":"at","title":"text","amount":"amount"}}},
	{"name":"visits","semantics":"append_only","primary_key":"id","consent_time_field":"at",
		"schema":{"type":"object","properties":{"id":{"type":"string"},"at":{"type":"string","format":"date-time"},
		"text":{"type":"string"}}},
		"display":{"kind":"event","roles":{"time":"at","title":"text"}}}]}`

// keptStreams are those with most of the records.
var keptStreams = []string{"messages", "payments", "visits"}

// measureOverview asks for the overview and for days of the timeline of many records and of few,
// spread over the same sources and years by the writer that runs use.
func measureOverview(ctx context.Context, c config, dir string, r *report) error {
	return onBoth(ctx, c, dir, "overview", func(kind string, st store.Store, settle func() error) error {
		now := func() time.Time { return storetest.Now.Add(time.Hour) }
		h, err := surface(ctx, st, now)
		if err != nil {
			return err
		}
		var half, most []float64
		done := 0
		for _, n := range []int{keptFew, c.Kept} {
			began := time.Now()
			if err := keep(ctx, st, done, n); err != nil {
				return fmt.Errorf("keep %d records: %w", n, err)
			}
			r.tell(figure{Name: fmt.Sprintf("%s, records stored in large slices, up to %d", kind, n),
				Value: float64(n-done) / time.Since(began).Seconds(), Unit: "/s"})
			done = n
			if err := settle(); err != nil {
				return err
			}
			took, size, err := visit(h, func(int) string { return "/complete" })
			if err != nil {
				return err
			}
			half, most = append(half, percentile(took, 0.5)), append(most, percentile(took, 0.95))
			r.tell(figure{Name: fmt.Sprintf("%s, overview of %d records, p95", kind, n), Value: percentile(took, 0.95),
				Unit: "ms", Below: 200,
				Note: fmt.Sprintf("p50 %.1f ms, %d KiB", percentile(took, 0.5), size>>10)})
			if err := r.measureDays(ctx, kind, st, h, n); err != nil {
				return err
			}
		}
		r.tell(figure{Name: fmt.Sprintf("%s, overview of %d against that of %d", kind, c.Kept, keptFew),
			Value: half[1] / half[0], Unit: "x", Below: 1.5,
			Note: fmt.Sprintf("by p50; %.2f by p95", most[1]/most[0])})
		return nil
	})
}

// visit requests pages repeatedly. It returns the sorted durations in milliseconds, and the size
// of the last page in bytes. The first requests only prepare statements.
func visit(h http.Handler, address func(round int) string) (took []float64, size int, err error) {
	for i := range visits + 5 {
		ms, bytes, err := get(h, address(i))
		if err != nil {
			return nil, 0, err
		}
		if i >= 5 {
			took, size = append(took, ms), bytes
		}
	}
	slices.Sort(took)
	return took, size, nil
}

// measureDays asks for one day after the other, of all sources and of one.
func (r *report) measureDays(ctx context.Context, kind string, st store.Store, h http.Handler, n int) error {
	day := func(round int) string { return storetest.Now.AddDate(0, 0, -40-7*round).UTC().Format(time.DateOnly) }
	for _, ask := range []struct{ name, rest string }{{"a day", ""}, {"a day of one source", "&source=cin_kept_00"}} {
		took, size, err := visit(h, func(round int) string { return "/day/" + day(round) + ask.rest })
		if err != nil {
			return err
		}
		counts, err := st.DayCounts(ctx, store.DayQuery{From: day(30), To: day(30)})
		if err != nil {
			return err
		}
		var records int64
		for _, c := range counts {
			if ask.rest == "" || c.ConnectionID == "cin_kept_00" {
				records += c.Records
			}
		}
		r.tell(figure{Name: fmt.Sprintf("%s, %s of the timeline of %d, p50", kind, ask.name, n), Value: percentile(took, 0.5),
			Unit: "ms", Below: 20,
			Note: fmt.Sprintf("p95 %.1f ms, %d KiB, about %d records", percentile(took, 0.95), size>>10, records)})
	}
	return nil
}

// keep stores the records from one number up to another: each source has its share and its years,
// the later ones more.
func keep(ctx context.Context, st store.Store, from, to int) error {
	var specs []store.StreamSpec
	for _, name := range keptStreams {
		specs = append(specs, store.StreamSpec{Name: name, TimeField: "at"})
	}
	generation, err := st.PutManifest(ctx, "kept", []byte(keptManifest), storetest.Now)
	if err != nil {
		return err
	}
	share := (to - from) / (keptSources * len(keptStreams))
	for source := range keptSources {
		id := fmt.Sprintf("cin_kept_%02d", source)
		if from == 0 {
			if err := st.CreateConnection(ctx,
				store.Connection{ID: id, ConnectorID: "kept", DisplayName: fmt.Sprint("Source ", source),
					Status:     store.ConnectionActive,
					SourceKind: store.SourceAccount, ManifestGeneration: generation, CreatedAt: storetest.Now,
					UpdatedAt: storetest.Now}); err != nil {
				return err
			}
		}
		l, err := st.StartRun(ctx, store.RunStart{RunID: fmt.Sprint(id, "-", from), ConnectionID: id, ConnectorID: "kept",
			Trigger: store.TriggerManual, Holder: "bench", TTL: time.Hour,
			Streams: append(slices.Clone(specs), store.StreamSpec{Name: "chats"})}, storetest.Now)
		if err != nil {
			return err
		}
		var chats []slice.Record
		for i := range keptThreads {
			chats = append(chats, slice.Record{Stream: "chats", Key: fmt.Sprint(i),
				Data: fmt.Appendf(nil, `{"id":"%d","title":"Conversation %d"}`, i, i), EmittedAt: "2026-01-02T03:04:05Z"})
		}
		if _, err := st.CommitSlice(ctx, l, slice.Slice{Records: chats}, storetest.Now); err != nil {
			return err
		}
		days := (keptYears - source) * 365
		for _, name := range keptStreams {
			for first := 0; first < share; first += keptSlice {
				part := make([]slice.Record, min(keptSlice, share-first))
				for i := range part {
					part[i] = keptRecord(name, from, first+i, share, days)
				}
				if _, err := st.CommitSlice(ctx, l, slice.Slice{Records: part}, storetest.Now); err != nil {
					return err
				}
			}
		}
		if err := st.FinishRun(ctx, l,
			store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, storetest.Now); err != nil {
			return err
		}
	}
	return nil
}

// keptSlice is how many records a commit has.
const keptSlice = 4000

// keptRecord is one of so many records that are spread evenly over days up to now.
func keptRecord(stream string, from, n, share, days int) slice.Record {
	at := storetest.Now.AddDate(0, 0,
		-days).Add(time.Duration(float64(n+
		1) / float64(share) * float64(days) * 24 * float64(time.Hour))).UTC().Truncate(time.Second)
	return slice.Record{Stream: stream, Key: fmt.Sprint(from, "-", n), EmittedAt: "2026-01-02T03:04:05Z",
		SemanticTime: at.Format(protocol.StoredTime),
		Data: fmt.Appendf(nil, `{"id":"%d-%d","at":%q,"chat":"%d","by":"Somebody","amount":%d.5,"text":"What happened `+
			`here was worth a line or two, and it is number %d of its kind."}`,
			from, n, at.Format(time.RFC3339), n%keptThreads, n%90, n)}
}

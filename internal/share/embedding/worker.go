package embedding

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	// usualEvery is how often a process looks for changes.
	usualEvery = 2 * time.Second
	// claimTime is how long a process may take for one part before another one takes over.
	claimTime = 2 * embedTime
	// firstRepeat and longestRepeat bound the pause after a failure. It doubles.
	firstRepeat   = time.Second
	longestRepeat = time.Hour
	// pageRecords is how many changes are worked on at once, and batchTexts and batchBytes bound one request.
	pageRecords = 50
	batchTexts  = 32
	batchBytes  = 64 << 10
	// redeclaredEvery is how often declarations are read while no record changes.
	redeclaredEvery = time.Minute
	// MaxText is how much of a field is embedded, in bytes.
	MaxText = 4000
)

// Store is what the worker reads and writes.
type Store interface {
	store.Vectors
	Streams(ctx context.Context, connectionID string) ([]store.StreamInfo, error)
	Changes(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error)
}

// VectorWorker computes the vectors of changed records, in one process at a time.
type VectorWorker struct {
	Store  Store
	Grants *grants.Service
	Key    credential.Key
	Holder string // names this process
	Now    func() time.Time
	Log    *slog.Logger
	Every  time.Duration // how often it looks for changes; zero means every two seconds

	done   string // describes the streams when nothing was missing
	doneAt time.Time
}

// Run works until the context ends.
func (w *VectorWorker) Run(ctx context.Context) {
	for {
		if err := w.Pass(ctx); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "the vectors of records could not be updated; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(w.Every, usualEvery)):
		}
	}
}

// Pass computes what is missing. After a failure of the endpoint the next one does nothing until the pause is over.
func (w *VectorWorker) Pass(ctx context.Context) error {
	e, err := w.Store.Embedding(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	streams, err := w.Store.Streams(ctx, "")
	if err != nil {
		return err
	}
	state := stateOf(e, streams)
	if state == w.done && w.Now().Sub(w.doneAt) < redeclaredEvery {
		return nil
	}
	missing, err := w.missing(ctx, streams)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		w.done, w.doneAt = state, w.Now()
		return nil
	}
	claimed, err := w.Store.ClaimEmbedding(ctx, e.Generation, w.Holder, w.Now(), w.Now().Add(claimTime))
	if err != nil || !claimed {
		return err
	}
	if missing, err = w.missing(ctx, streams); err == nil { // another process may have moved before the claim
		err = w.embed(ctx, e, missing)
	}
	if failed := (*Failure)(nil); errors.As(err, &failed) {
		next := w.Now().Add(max(min(firstRepeat<<min(e.Failures, 20), longestRepeat), failed.wait))
		e.EmbeddingState = store.EmbeddingState{Failures: e.Failures + 1, LastFailure: failed.Reason, NextAt: &next}
		err = nil
	} else if err == nil {
		e.EmbeddingState = store.EmbeddingState{}
	}
	return errors.Join(ignoreNotFound(err), ignoreNotFound(w.Store.SetEmbeddingState(context.WithoutCancel(ctx),
		e.Generation, w.Holder, e.EmbeddingState)))
}

// stateOf describes how far the streams have come.
func stateOf(e store.Embedding, streams []store.StreamInfo) string {
	var all strings.Builder
	all.WriteString(e.Generation)
	for _, s := range streams {
		fmt.Fprintf(&all, "\n%s %s %d", s.ConnectionID, s.Name, s.LastSeq)
	}
	return all.String()
}

// ignoreNotFound drops the error for another choice of the owner meanwhile: the next pass begins with it.
func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// part is a stream with changes that have no vectors yet.
type part struct {
	from   store.VectorFeed
	fields []string
	end    int64
}

// missing returns the streams that declare other fields than they have vectors of, or that have changed.
func (w *VectorWorker) missing(ctx context.Context, streams []store.StreamInfo) (parts []part, err error) {
	feeds, err := w.Store.VectorFeeds(ctx)
	if err != nil {
		return nil, err
	}
	views, err := w.Grants.Views(ctx, grants.OwnerAccess(), "", "")
	if err != nil {
		return nil, err
	}
	for _, s := range streams {
		p := part{from: store.VectorFeed{ConnectionID: s.ConnectionID, Stream: s.Name}, end: s.LastSeq}
		if i := slices.IndexFunc(feeds, func(f store.VectorFeed) bool {
			return f.ConnectionID == s.ConnectionID && f.Stream == s.Name
		}); i >= 0 {
			p.from = feeds[i]
		}
		if i := slices.IndexFunc(views, func(v grants.StreamView) bool {
			return v.ConnectionID() == s.ConnectionID && v.Name() == s.Name
		}); i >= 0 {
			p.fields = views[i].Embedded()
		}
		if !slices.Equal(p.fields, p.from.Fields) || p.from.Seq < s.LastSeq && len(p.fields) > 0 {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// embed works on the parts, page by page of their changes. A stream with other fields begins again; texts that already
// have a vector are not sent again.
func (w *VectorWorker) embed(ctx context.Context, e store.Embedding, parts []part) error {
	for _, p := range parts {
		after := p.from.Seq
		if !slices.Equal(p.fields, p.from.Fields) {
			after = 0
		}
		for more := true; more; {
			m := store.VectorMove{Generation: e.Generation, Holder: w.Holder, From: p.from, Fields: p.fields, Seq: p.end}
			more = false
			if len(p.fields) > 0 {
				page, err := w.Store.Changes(ctx, store.RecordQuery{AfterSeq: after, Limit: pageRecords, AccessFilter: store.
					AccessFilter{ConnectionID: p.from.ConnectionID, Stream: p.from.Stream, Fields: p.fields}})
				if err != nil {
					return fmt.Errorf("read changes: %w", err)
				}
				if m.Records, err = w.vectors(ctx, e, page, p.fields); err != nil {
					return err
				}
				if more = len(page) == pageRecords; more {
					m.Seq = page[len(page)-1].Seq
				}
			}
			m.Until = w.Now().Add(claimTime)
			if err := w.Store.PutVectors(ctx, m); err != nil {
				return err
			}
			p.from.Fields, p.from.Seq, after = p.fields, m.Seq, m.Seq
		}
	}
	return nil
}

// vectors returns the vectors of a page of records.
func (w *VectorWorker) vectors(ctx context.Context, e store.Embedding, page []store.StoredRecord, fields []string) (
	[]store.RecordVectors, error) {
	ids := make([]int64, len(page))
	for i, r := range page {
		ids[i] = r.ID
	}
	known, err := w.Store.VectorDigests(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]store.RecordVectors, len(page))
	var batch batch
	for i, r := range page {
		out[i] = store.RecordVectors{ID: r.ID, Seq: r.Seq}
		for _, t := range textsOf(r, fields) {
			digest := sha256.Sum256([]byte(t.text))
			if bytes.Equal(known[store.VectorField{RecordID: r.ID, Field: t.field}], digest[:]) {
				out[i].Fields = append(out[i].Fields, store.FieldVector{Field: t.field, Digest: digest[:]})
				continue
			}
			if batch.full(t.text) {
				if err := w.send(ctx, e, &batch, out); err != nil {
					return nil, err
				}
			}
			batch.add(t.text, i, store.FieldVector{Field: t.field, Digest: digest[:]})
		}
	}
	return out, w.send(ctx, e, &batch, out)
}

// batch is the texts of one request, and what each is for.
type batch struct {
	texts  []string
	bytes  int
	record []int
	fields []store.FieldVector
}

func (b *batch) full(next string) bool {
	return len(b.texts) == batchTexts || b.bytes+len(next) > batchBytes
}

func (b *batch) add(text string, record int, f store.FieldVector) {
	b.texts, b.bytes = append(b.texts, text), b.bytes+len(text)
	b.record, b.fields = append(b.record, record), append(b.fields, f)
}

// send adds the vectors of a batch to the records, and empties the batch.
func (w *VectorWorker) send(ctx context.Context, e store.Embedding, b *batch, into []store.RecordVectors) error {
	vectors, err := w.accepted(ctx, e, b.texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		if v != nil {
			b.fields[i].Vector = v
			into[b.record[i]].Fields = append(into[b.record[i]].Fields, b.fields[i])
		}
	}
	*b = batch{}
	return nil
}

// accepted returns the vectors of texts, and none for a text that the endpoint rejects. Before it gives up one it
// sends a word, which shows whether the endpoint rejects everything.
func (w *VectorWorker) accepted(ctx context.Context, e store.Embedding, texts []string) ([]store.Vector, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, embedTime)
	defer cancel()
	vectors, err := Embed(limited, w.Key, e, texts)
	failed := (*Failure)(nil)
	if err == nil || !errors.As(err, &failed) || !failed.rejected {
		return vectors, err
	}
	if half := len(texts) / 2; half > 0 {
		first, err := w.accepted(ctx, e, texts[:half])
		if err != nil {
			return nil, err
		}
		second, err := w.accepted(ctx, e, texts[half:])
		return append(first, second...), err
	}
	if _, err := Embed(limited, w.Key, e, []string{probe}); err != nil {
		return nil, failed
	}
	return []store.Vector{nil}, nil
}

// probe is a text that every endpoint has a vector of.
const probe = "test"

// Probe returns why an endpoint cannot be used.
func Probe(ctx context.Context, key credential.Key, e store.Embedding) error {
	limited, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	_, err := Embed(limited, key, e, []string{probe})
	return err
}

type embeddedText struct{ field, text string }

// textsOf returns the texts of a record's fields: texts as they are, and the texts within lists and objects.
func textsOf(r store.StoredRecord, fields []string) (all []embeddedText) {
	var values map[string]json.RawMessage
	if len(r.Data) == 0 || json.Unmarshal(r.Data, &values) != nil {
		return nil
	}
	for _, f := range fields {
		var value any
		_ = json.Unmarshal(values[f], &value)
		if t := strings.TrimSpace(text.Cut(strings.Join(within(value, nil), " "), MaxText)); t != "" {
			all = append(all, embeddedText{f, t})
		}
	}
	return all
}

func within(value any, found []string) []string {
	switch v := value.(type) {
	case string:
		return append(found, v)
	case []any:
		for _, one := range v {
			found = within(one, found)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = within(v[name], found)
		}
	}
	return found
}

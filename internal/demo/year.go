package demo

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// chronicles are the eight sources that hold a year of an invented life, in the order in
// which they were connected, each with how many days lie between two of its runs. Each run
// that is written costs the owner time at the start, so only some have many.
var chronicles = []struct {
	Name, Title string
	Every       int
}{
	{"lantern", "Lantern mail", 2}, {"ferry", "Ferry chat", 1}, {"atelier", "Atelier assistant", 12},
	{"copper", "Copper bank", 8},
	{"stride", "Stride watch", 12}, {"darkroom", "Darkroom photos", 16}, {"wayside", "Wayside places", 12},
	{"almanac", "Almanac calendar", 16},
}

const (
	yearDays  = 365
	runDays   = 48 // since when they are connected
	sliceSize = 1000
)

// year plants the eight with what they hold and the runs that brought it: the first reached
// back for a year, and the others brought what was new. Everything is written by the road
// that runs write by: lease, slices, outcome.
func (g Ground) year(ctx context.Context) error {
	now := g.Now().UTC()
	for i, c := range chronicles {
		if err := g.addYearSource(ctx, c.Name, c.Title, c.Every, now.Add(-time.Duration(25+3*i)*time.Minute)); err != nil {
			return fmt.Errorf("plant %s: %w", c.Title, err)
		}
	}
	return nil
}

// addYearSource adds one of them. Its newest run ended at the given time.
func (g Ground) addYearSource(ctx context.Context, name, title string, every int, newest time.Time) error {
	body, err := manifests.ReadFile("sources/" + name + ".json")
	if err != nil {
		return err
	}
	declared, err := manifest.Parse(body)
	if err != nil {
		return err
	}
	began := newest.AddDate(0, 0, -runDays)
	generation, err := g.Store.PutManifest(ctx, name, body, began)
	if err != nil {
		return err
	}
	found, err := g.Connectors.Find(ctx, name)
	if err != nil {
		return err
	}
	if err := launch.Confirm(ctx, g.Store, found, began); err != nil {
		return err
	}
	h := yearHistory{Ground: g, every: every, pictures: map[int]slice.Blob{}, id: "cin_" + name + "_1", name: name,
		specs: launch.StreamSpecs(declared)}
	err = g.Store.CreateConnection(ctx, store.Connection{
		ID: h.id, ConnectorID: name, DisplayName: title, Status: store.ConnectionActive, SourceKind: store.SourceAccount,
		ManifestGeneration: generation, CreatedAt: began, UpdatedAt: began,
	})
	if err != nil {
		return err
	}
	if p := declared.Capabilities.RefreshPolicy; p != nil && p.RecommendedMode == manifest.RefreshAutomatic {
		err := g.Store.PutSchedule(ctx,
			store.Schedule{ConnectionID: h.id, IntervalSeconds: int64(p.RecommendedIntervalSeconds), Enabled: true,
				CreatedAt: began, UpdatedAt: began})
		if err != nil {
			return err
		}
	}
	return h.write(ctx, began, newest)
}

// yearHistory writes the runs of one of them.
type yearHistory struct {
	Ground
	id, name string
	every    int // days from run to run
	specs    []store.StreamSpec
	pictures map[int]slice.Blob // those that are kept, by motif
}

// The days, counted back from today, on which something else happened than a run that
// finished: a week in which Ferry asked for a slower pace, a bank that did not answer, and
// a run that the owner stopped.
const (
	slowFrom, slowTo = 17, 11
	silentDay        = 24
	stoppedDay       = 30
)

func (h *yearHistory) write(ctx context.Context, began, newest time.Time) error {
	var all []demoEvent
	for i := yearDays; i >= 0; i-- {
		all = append(all, dayOf(h.name, newest.AddDate(0, 0, -i))...)
	}
	slices.SortStableFunc(all, func(a, b demoEvent) int { return a.At.Compare(b.At) })
	for back := runDays; back >= 0; back -= h.every {
		at := newest.AddDate(0, 0, -back)
		n := 0
		for n < len(all) && !all[n].At.After(at) {
			n++
		}
		outcome := store.RunSucceeded
		failure := ""
		switch {
		case h.name == "ferry" && back <= slowFrom && back >= slowTo:
			outcome, failure, n = store.RunFailed, "Ferry asked for a slower pace.", min(n, 3)
		case h.name == "copper" && back == silentDay:
			outcome, failure, n = store.RunFailed, "Copper bank did not answer for 3 minutes.", 0
		case h.name == "lantern" && back == stoppedDay:
			outcome, n = store.RunCancelled, min(n, 2)
		}
		if err := h.run(ctx, back, at, all[:n], outcome, failure); err != nil {
			return fmt.Errorf("write the run of %s: %w", at.Format(time.DateOnly), err)
		}
		all = all[n:]
	}
	return nil
}

// run writes one run that ended at a moment.
func (h *yearHistory) run(ctx context.Context, back int, ended time.Time, brought []demoEvent, status store.RunStatus,
	failure string) error {
	took := time.Duration(20+len(brought)/10) * time.Second
	trigger := store.TriggerScheduled
	if h.name == "copper" || back == runDays {
		trigger = store.TriggerManual
	}
	lease, err := h.Store.StartRun(ctx, store.RunStart{
		RunID: fmt.Sprintf("run_%s_%03d", h.name, runDays-back+1), ConnectionID: h.id, ConnectorID: h.name, Trigger: trigger,
		Holder: "demo", TTL: time.Hour, Streams: h.specs,
	}, ended.Add(-took))
	if err != nil {
		return err
	}
	per := map[string]int64{}
	for part := range slices.Chunk(brought, sliceSize) {
		s, err := h.slice(ctx, part, ended)
		if err != nil {
			return err
		}
		if _, err := h.Store.CommitSlice(ctx, lease, s, ended); err != nil {
			return err
		}
		for _, x := range part {
			per[x.Stream]++
		}
	}
	o, err := h.outcome(per, status, failure, int64(len(brought)), ended)
	if err != nil {
		return err
	}
	return h.Store.FinishRun(ctx, lease, o, ended)
}

// slice is the happenings as records, with the bookmarks behind the last of them.
func (h *yearHistory) slice(ctx context.Context, part []demoEvent, at time.Time) (slice.Slice, error) {
	var s slice.Slice
	for _, x := range part {
		r := slice.Record{Stream: x.Stream, Key: x.Key, EmittedAt: at.Format(time.RFC3339)}
		if x.Stream == photos {
			file, err := h.storePicture(ctx, x)
			if err != nil {
				return s, err
			}
			r.Blobs = []slice.Blob{file}
		}
		body, err := json.Marshal(x.Data, json.Deterministic(true))
		if err != nil {
			return s, err
		}
		r.Data = body
		_, r.SemanticTime, _ = protocol.SemanticTime(x.At.Format(time.RFC3339))
		s.Records = append(s.Records, r)
	}
	for _, spec := range h.specs {
		s.Cursors = append(s.Cursors,
			slice.Cursor{Stream: spec.Name, Mode: protocol.SteadyState,
				Cursor: jsontext.Value(fmt.Sprintf(`{"until":%q}`, at.Format(time.RFC3339)))})
	}
	s.Present = func(ctx context.Context, hashes []string) ([]string, error) {
		return blob.MissingFiles(ctx, h.Blobs, hashes)
	}
	return s, nil
}

// outcome is how the run ended, with what it measured.
func (h *yearHistory) outcome(per map[string]int64, status store.RunStatus, failure string, n int64,
	at time.Time) (o store.RunOutcome, err error) {
	measured := runner.CollectionFacts{SchemaVersion: 1, ReferenceOnly: true}
	for _, s := range h.specs {
		n := per[s.Name]
		measured.Streams = append(measured.Streams, runner.StreamFacts{Stream: s.Name, Collected: n, Considered: &n,
			Covered: &n, Checkpoint: "committed"})
	}
	o = store.RunOutcome{Status: status, RecordsEmitted: n, ReportedRecords: &n,
		Event: slice.Event{Type: "run.completed", At: at}}
	switch status {
	case store.RunSucceeded:
		if o.Facts, err = json.Marshal(measured); err != nil {
			return o, err
		}
	case store.RunCancelled:
		o.FailureReason, o.TerminalReason, o.Event.Type = "owner_cancelled", "runtime", "run.cancelled"
	default:
		o.FailureReason, o.TerminalReason, o.Error, o.Event.Type = "connector_reported_failed", "connector", failure,
			"run.failed"
		o.ConnectorError = jsontext.Value(fmt.Sprintf(`{"code":"rate_limited","message":%q,"retryable":true}`, failure))
	}
	return o, nil
}

// motifs is how many different pictures there are. Photos of one motif share its file.
const motifs = 24

// storePicture stores the file of a photo when the first photo of its motif appears, and links the photo to it.
func (h *yearHistory) storePicture(ctx context.Context, x demoEvent) (slice.Blob, error) {
	motif := x.At.Minute() % motifs
	file, kept := h.pictures[motif]
	if !kept {
		var body bytes.Buffer
		if err := png.Encode(&body, landscape(motif)); err != nil {
			return file, err
		}
		file = slice.Blob{Field: "blob_ref", Bytes: int64(body.Len()), MIME: "image/png"}
		var err error
		if file.SHA256, _, err = h.Blobs.Put(ctx, &body); err != nil {
			return file, err
		}
		h.pictures[motif] = file
	}
	file.Name, _ = x.Data["name"].(string)
	x.Data["size"] = file.Bytes
	x.Data["blob_ref"] = map[string]any{"blob_id": file.SHA256, "mime_type": file.MIME, "sha256": file.SHA256,
		"size_bytes": file.Bytes}
	return file, nil
}

// The size of a picture.
const wide, high = 240, 160

// landscape is a sun over a hill.
func landscape(motif int) image.Image {
	shade := func(base, step int) uint8 { return uint8(base + step*motif%100) }
	m := image.NewPaletted(image.Rect(0, 0, wide, high), color.Palette{
		color.RGBA{shade(110, 7), shade(140, 4), shade(155, 11), 255}, color.RGBA{shade(30, 5), shade(80, 3), 60, 255},
		color.RGBA{255, 240, 200, 255},
	})
	for x := range wide {
		top := 80 + 2*motif + (x-wide/2)*(x-wide/2)/400 - x*motif%11
		for y := range high {
			switch dx, dy := x-9*motif-12, y-36; {
			case y >= top:
				m.SetColorIndex(x, y, 1)
			case dx*dx+dy*dy < 200:
				m.SetColorIndex(x, y, 2)
			}
		}
	}
	return m
}

package runview

import (
	"context"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	eventPage   = 500
	coursesKept = 256
	mostStreams = 200
)

// EventReader reads the events of a run that follow a sequence number. The store implements it.
type EventReader interface {
	RunEvents(ctx context.Context, runID string, afterSeq int64, limit int) ([]store.Event, error)
}

// ProgressTracker remembers how far runs under way have come, so that a look at one reads
// only the events that are new. It is safe for concurrent use.
type ProgressTracker struct {
	events EventReader
	now    func() time.Time

	mu   sync.Mutex
	runs map[string]*progressState
}

// NewProgresses remembers nothing yet.
func NewProgresses(events EventReader, now func() time.Time) *ProgressTracker {
	return &ProgressTracker{events: events, now: now, runs: map[string]*progressState{}}
}

// runProgress returns the progress state of a run. The caller locks the state's own mutex.
func (c *ProgressTracker) runProgress(runID string) *progressState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.runs) >= coursesKept && c.runs[runID] == nil {
		clear(c.runs) // dropped states are rebuilt from all their events, which is slower
	}
	if c.runs[runID] == nil {
		c.runs[runID] = &progressState{}
	}
	return c.runs[runID]
}

func (c *ProgressTracker) dropFinished(runID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, runID)
}

// activeProgress reads how far a run has come, and how many records it has stored.
func (c *ProgressTracker) activeProgress(ctx context.Context, runID string) (streams []api.RunStream, stored int64,
	message string,
	err error) {
	run := c.runProgress(runID)
	run.mu.Lock()
	defer run.mu.Unlock()
	if err := run.readEvents(ctx, c.events, runID); err != nil {
		return nil, 0, "", err
	}
	now := c.now()
	streams = make([]api.RunStream, len(run.streams))
	for i, s := range run.streams {
		streams[i] = s.show(now)
	}
	return streams, run.stored, run.message, nil
}

// progressState is how far a run has come with its streams, in the order in which it spoke
// of them.
type progressState struct {
	mu      sync.Mutex
	seen    int64
	stored  int64  // records that became durable
	message string // the newest word about the run as a whole; empty once a stream goes on
	streams []*streamProgress
}

// readEvents takes in what the run's timeline has since the last look.
func (c *progressState) readEvents(ctx context.Context, events EventReader, runID string) error {
	for {
		page, err := events.RunEvents(ctx, runID, c.seen, eventPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			c.seen = e.Seq
			c.applyEvent(e)
		}
		if len(page) < eventPage {
			return nil
		}
	}
}

// progressData is what is read of an event.
type progressData struct {
	Message string   `json:"message"`
	Count   *float64 `json:"count"`
	Total   *float64 `json:"total"`
	Records int64    `json:"records"`
}

// applyEvent reads one event; what is not understood changes nothing.
func (c *progressState) applyEvent(e store.Event) {
	var data progressData
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &data) != nil {
		return
	}
	if e.Type == eventStored {
		c.stored += data.Records
	}
	if e.Type != eventProgress {
		return
	}
	if c.message = ""; e.Stream == "" {
		c.message = data.Message
		return
	}
	s := c.streamByName(e.Stream)
	if s == nil {
		return
	}
	s.message = data.Message
	if data.Count == nil || !countable(*data.Count) {
		return
	}
	s.observe(e.At, *data.Count)
	s.total = nil
	if data.Total != nil && countable(*data.Total) {
		s.total = data.Total
	}
}

// countable reports whether a connector's number can be a count.
func countable(n float64) bool { return n >= 0 && n <= 1<<53 }

func (c *progressState) streamByName(name string) *streamProgress {
	for _, s := range c.streams {
		if s.name == name {
			return s
		}
	}
	if len(c.streams) == mostStreams {
		return nil
	}
	s := &streamProgress{name: name}
	c.streams = append(c.streams, s)
	return s
}

package owner

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json"

	"pdpp/internal/store"
)

const (
	eventPage   = 500
	coursesKept = 256
	mostStreams = 200
)

// courses remembers how far runs under way have come, so that a look at one reads
// only the events that are new.
type courses struct {
	mu   sync.Mutex
	runs map[string]*course
}

// of gives the course of a run, which its mutex guards.
func (c *courses) of(runID string) *course {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.runs) >= coursesKept && c.runs[runID] == nil {
		clear(c.runs) // they are read anew, at a price
	}
	if c.runs == nil {
		c.runs = map[string]*course{}
	}
	if c.runs[runID] == nil {
		c.runs[runID] = &course{}
	}
	return c.runs[runID]
}

func (c *courses) forget(runID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, runID)
}

// course is how far a run has come with its streams, in the order in which it spoke
// of them.
type course struct {
	mu      sync.Mutex
	seen    int64
	stored  int64 // records that became durable
	streams []*streamCourse
}

// follow takes in what the run's timeline has since the last look.
func (c *course) follow(ctx context.Context, st store.Runs, runID string) error {
	for {
		page, err := st.RunEvents(ctx, runID, c.seen, eventPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			c.seen = e.Seq
			c.take(e)
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

// take reads one event; what is not understood changes nothing.
func (c *course) take(e store.Event) {
	var data progressData
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &data) != nil {
		return
	}
	if e.Type == eventStored {
		c.stored += data.Records
	}
	if e.Type != eventProgress || e.Stream == "" {
		return
	}
	s := c.stream(e.Stream)
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

func (c *course) stream(name string) *streamCourse {
	for _, s := range c.streams {
		if s.name == name {
			return s
		}
	}
	if len(c.streams) == mostStreams {
		return nil
	}
	s := &streamCourse{name: name}
	c.streams = append(c.streams, s)
	return s
}

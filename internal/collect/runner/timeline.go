package runner

import (
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// maxEvents bounds a run's timeline, which a connector could otherwise flood.
const maxEvents = 10_000

// timeline collects the entries of the run's history until a commit stores them.
type timeline struct {
	mu     sync.Mutex
	events []slice.Event
	added  int
}

// note adds an entry. It becomes durable with the next commit.
func (t *timeline) note(kind, stream string, data map[string]any) {
	event := newEvent(kind, stream, data)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.added++; t.added <= maxEvents {
		t.events = append(t.events, event)
	}
}

// moveTo moves the entries into the slice about to be committed, with entries that summarize the slice itself.
func (t *timeline) moveTo(s *slice.Slice) {
	if n := len(s.Records); n > 0 {
		t.note("run.batch_ingested", "", map[string]any{"records": n})
	}
	if n := len(s.Gaps); n > 0 {
		t.note("run.detail_gap_recorded", "", map[string]any{"gaps": n})
	}
	if n := len(s.Recovered); n > 0 {
		t.note("run.detail_gap_recovered", "", map[string]any{"gaps": n})
	}
	for _, cursor := range s.Cursors {
		data := map[string]any{}
		if cursor.Mode != protocol.SteadyState {
			data["mode"] = cursor.Mode
		}
		t.note("run.state_advanced", cursor.Stream, data)
	}
	s.Events = append(s.Events, t.takeAll()...)
}

// takeAll returns the entries that no commit has stored, and forgets them.
func (t *timeline) takeAll() []slice.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	events := t.events
	t.events = nil
	return events
}

func newEvent(kind, stream string, data map[string]any) slice.Event {
	raw, err := json.Marshal(data, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		raw = jsontext.Value(`{}`)
	}
	return slice.Event{Type: kind, At: time.Now(), Stream: stream, Data: raw}
}

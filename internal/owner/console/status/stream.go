package status

import (
	"net/http"
	"sync"
	"time"
)

const (
	// pageBeatInterval is the interval between heartbeats. A page that receives none for fifteen seconds
	// notifies its reader.
	pageBeatInterval = 10 * time.Second
	// writeWithin is how long a reader may take for one write before it counts as gone.
	writeWithin = 15 * time.Second
)

// subscriber is one open page. It keeps only the newest pending version of each part, so that a
// slow reader holds at most one page.
type subscriber struct {
	topic string
	seen  string // digest of the page that it has
	news  chan struct{}

	mu      sync.Mutex
	order   []string
	pending map[string][]byte
	over    bool
}

func (s *subscriber) give(id string, event []byte) {
	s.mu.Lock()
	if _, waiting := s.pending[id]; !waiting {
		s.order = append(s.order, id)
	}
	s.pending[id] = event
	s.mu.Unlock()
	s.ring()
}

func (s *subscriber) end() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.ring()
}

func (s *subscriber) ring() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// take returns the events to send, and whether they are the last.
func (s *subscriber) take() (events [][]byte, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		events = append(events, s.pending[id])
	}
	s.order = nil
	clear(s.pending)
	return events, s.over
}

var (
	beginEvent = []byte("retry: 2000\n\n")
	beatEvent  = eventOf("beat", "1")
	overEvent  = eventOf("over", "1")
	loginEvent = eventOf("goto", "/login")
)

// stream sends the events of a page until it is closed, the session ends or the
// server does. The server's own bound on an answer is lifted for it, and a bound on
// each write takes its place.
func (p *Pages) stream(w http.ResponseWriter, r *http.Request, name string, look look) {
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // a writer without deadlines needs none lifted
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)

	send := func(events ...[]byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeWithin))
		for _, e := range events {
			if _, err := w.Write(e); err != nil {
				return false
			}
		}
		return out.Flush() == nil
	}
	if !send(beginEvent, beatEvent) {
		return
	}
	s := p.hub.join(name, r.URL.Query().Get("seen"), look)
	defer p.hub.leave(s)
	beat := time.NewTicker(pageBeatInterval)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-p.ending:
			return
		case <-beat.C:
			if !p.signedIn(r) {
				send(loginEvent)
				return
			}
			if !send(beatEvent) {
				return
			}
		case <-s.news:
			events, over := s.take()
			if !send(events...) {
				return
			}
			if over {
				send(overEvent)
				return
			}
		}
	}
}

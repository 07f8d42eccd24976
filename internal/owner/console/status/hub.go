package status

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// The hub's pace: a round at most every second, and never more than a twentieth of
// the time. What an owner did is shown at once, but not within the same tenth.
const (
	leastRest = time.Second
	restShare = 20
	wakeRest  = 100 * time.Millisecond
)

// look renders the parts of one page. It returns errOver after the last change.
type look func(ctx context.Context) (pieces, error)

// errOver reports that a page will not change any more.
var errOver = errors.New("nothing will change here")

// hub renders every open page repeatedly, once for all of its subscribers. It runs only while a
// page is open.
type hub struct {
	log  *slog.Logger
	wake chan struct{}

	mu      sync.Mutex
	topics  map[string]*topic
	running bool
}

// topic is a page and those who look at it.
type topic struct {
	look  look
	shown map[string]uint64 // what the newest round showed; nil before the first
	now   pieces
	state string // digest of now
	over  bool
	wrong bool // the newest round failed; logged once
	subs  map[*subscriber]struct{}
}

func newHub(log *slog.Logger) *hub {
	return &hub{log: log, wake: make(chan struct{}, 1), topics: map[string]*topic{}}
}

// join adds a subscriber that has the page with the digest seen.
func (h *hub) join(name, seen string, look look) *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[name]
	if t == nil {
		t = &topic{look: look, subs: map[*subscriber]struct{}{}}
		h.topics[name] = t
	}
	s := &subscriber{topic: name, seen: seen, news: make(chan struct{}, 1), pending: map[string][]byte{}}
	t.subs[s] = struct{}{}
	if t.shown != nil {
		t.greet(s)
	}
	if !h.running {
		h.running = true
		go h.run()
	}
	return s
}

func (h *hub) leave(s *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[s.topic]
	if t == nil {
		return
	}
	delete(t.subs, s)
	if len(t.subs) == 0 {
		delete(h.topics, s.topic)
	}
	if len(h.topics) == 0 {
		h.nudge() // so that an idle hub ends soon
	}
}

// nudge makes the next round begin soon.
func (h *hub) nudge() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// run makes rounds until no subscriber is left.
func (h *hub) run() {
	for {
		began := time.Now()
		if !h.round() {
			return
		}
		rest := max(leastRest, restShare*time.Since(began))
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-h.wake:
			timer.Reset(wakeRest)
			<-timer.C
		}
		timer.Stop()
	}
}

// round makes every open page once, and reports whether there was one.
func (h *hub) round() bool {
	h.mu.Lock()
	open := make([]*topic, 0, len(h.topics))
	for _, t := range h.topics {
		if !t.over {
			open = append(open, t)
		}
	}
	if len(h.topics) == 0 {
		h.running = false
		h.mu.Unlock()
		return false
	}
	h.mu.Unlock()
	for _, t := range open {
		ctx, cancel := bounded(context.Background())
		now, err := t.look(ctx)
		cancel()
		h.mu.Lock()
		h.tell(t, now, err)
		h.mu.Unlock()
	}
	return true
}

// tell sends the changed parts to all subscribers. After a failed look the page keeps its content,
// and the next round tries again.
func (h *hub) tell(t *topic, now pieces, err error) {
	gone := false
	var known *api.Error
	if errors.As(err, &known) {
		gone = known.Code == api.CodeNotFound
	}
	t.over = gone || errors.Is(err, errOver)
	if err != nil && !t.over {
		if !t.wrong {
			h.log.Warn("live pages cannot be made", "error", err)
		}
		t.wrong = true
		return
	}
	t.wrong = false
	if !gone {
		t.show(now)
	}
	if t.over {
		for s := range t.subs {
			s.end()
		}
	}
}

func (t *topic) show(now pieces) {
	first := t.shown == nil
	before := t.shown
	t.now, t.state, t.shown = now, now.digest(), now.keys()
	if first {
		for s := range t.subs {
			t.greet(s)
		}
		return
	}
	for _, p := range now.changed(before) {
		event := eventOf("part", string(p.html))
		for s := range t.subs {
			s.give(p.id, event)
		}
	}
}

// greet brings a page that was just opened up to what is shown now.
func (t *topic) greet(s *subscriber) {
	if s.seen != t.state {
		for _, p := range t.now.outermost() {
			s.give(p.id, eventOf("part", string(p.html)))
		}
	}
	if t.over {
		s.end()
	}
}

package surface

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// state is what a viewer is told of the page.
type state string

const (
	stateOpening   state = "opening"   // there is nothing to see yet
	stateLive      state = "live"      // what follows is the page, and input goes there
	stateElsewhere state = "elsewhere" // another viewer has it
	stateFree      state = "free"      // the other viewer has left
	statePaused    state = "paused"    // no pictures until the viewer asks
	stateLost      state = "lost"      // the way to the page broke; it may come back
	stateOver      state = "over"      // nothing follows
)

// note is what a viewer is told beside frames.
type note struct {
	State state `json:"state"`
	// Why is the reason of the end. Question names what a live page belongs to, and Until
	// when it ends at the latest.
	Why      over       `json:"why,omitempty"`
	Question string     `json:"question,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
	// Machine is where the page is, when it does not come here.
	Machine string `json:"machine,omitempty"`
}

// wish is what a viewer asks for beside frames.
type wish struct {
	Take bool `json:"take"` // the page, from whoever has it
	Go   bool `json:"go"`   // on, after a pause
}

// longestQueue bounds what waits for a viewer beside the newest picture. One that is
// further behind has stopped reading.
const longestQueue = 256

// viewer is one window in which the page is shown.
type viewer struct {
	asked Asked // what it is shown for; set before it joins a page

	news chan struct{}
	mu   sync.Mutex
	view surface.View   // as it was last asked for
	line []any          // notes and frames, in order
	shot *surface.Frame // the newest picture
	why  over           // set when it is over
	done bool
	lost bool // too far behind
}

func newViewer() *viewer { return &viewer{news: make(chan struct{}, 1)} }

func (v *viewer) put(change func()) {
	v.mu.Lock()
	change()
	v.mu.Unlock()
	select {
	case v.news <- struct{}{}:
	default:
	}
}

// wants is how large the window is; false before it has said so.
func (v *viewer) wants() (surface.View, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.view, v.view.Width > 0
}

func (v *viewer) tell(n note)           { v.append(n) }
func (v *viewer) frame(f surface.Frame) { v.append(f) }
func (v *viewer) append(item any) {
	v.put(func() {
		if len(v.line) >= longestQueue {
			v.lost = true
			return
		}
		v.line = append(v.line, item)
	})
}

// picture replaces one that was not sent yet.
func (v *viewer) picture(f surface.Frame) { v.put(func() { v.shot = &f }) }

// forget drops what another viewer has now.
func (v *viewer) forget() { v.put(func() { v.line, v.shot = nil, nil }) }

func (v *viewer) end(why over) { v.put(func() { v.why, v.done = why, true }) }

// again lets a viewer go on whose page is gone.
func (v *viewer) again() { v.put(func() { v.line, v.shot, v.why, v.done = nil, nil, "", false }) }

// taken is what a viewer is to be sent.
type taken struct {
	line []any
	why  over
	done bool
	lost bool
}

func (v *viewer) take() taken {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := taken{line: v.line, why: v.why, done: v.done, lost: v.lost}
	if v.shot != nil {
		t.line = append(t.line, *v.shot)
	}
	v.line, v.shot = nil, nil
	return t
}

// link is how a window is reached. Its methods end with their context.
type link interface {
	tell(context.Context, note) error
	send(context.Context, surface.Frame) error
	// receive gives a frame, or a wish when the frame has no kind.
	receive(context.Context) (surface.Frame, wish, error)
}

var (
	errBehind  = errors.New("the viewer does not read")
	errBadWord = errors.New("the viewer sent what is no input")
)

// Asked is the run under way, and what the owner is to do on its page. Both may be empty.
type Asked struct {
	RunID, Question string
	Until           *time.Time
}

// lookEvery is how often it is asked whether the owner may still look and is still asked, and
// openEvery whether what they wait for is there.
const (
	lookEvery = 500 * time.Millisecond
	openEvery = 100 * time.Millisecond
)

// elsewhereAfter is how long a page may take to come here before the owner is told where it is.
const elsewhereAfter = 15 * time.Second

// attend shows a window whatever its owner is asked, until they may not look any more, leave,
// or the page that they saw is over. One whose channel broke is waited for while its question
// is open: it may come by another. May is asked again and again; it gives false for the end.
// The link is listened to until its own context ends: it is for the caller to say goodbye.
func (h *Hub) attend(open context.Context, l link, may func(context.Context) (Asked, bool)) error {
	ctx, cancel := context.WithCancelCause(open)
	defer cancel(nil)
	v := newViewer()
	var has struct {
		sync.Mutex
		*page
	}
	at := func() *page { has.Lock(); defer has.Unlock(); return has.page }
	go func() { cancel(h.listen(open, l, v, at)) }()

	began := time.Now()
	watching := time.Time{}
	defer func() {
		if p := at(); p != nil {
			p.leave(v) // what comes later is from nobody
			h.watched(time.Since(watching))
		}
	}()
	if err := l.tell(ctx, note{State: stateOpening}); err != nil {
		return err
	}
	look := time.NewTicker(openEvery)
	defer look.Stop()
	told, lost := false, false
	for {
		_, came := h.at("")
		asked, allowed := may(ctx)
		switch p := at(); {
		case !allowed:
			return nil
		case p == nil && asked.RunID == "" && v.asked.RunID != "":
			return l.tell(ctx, note{State: stateOver, Why: overClosed}) // the run had nothing to ask
		case (p != nil || lost) && (asked.RunID != v.asked.RunID || asked.Question != v.asked.Question):
			// What was shown belongs to a question that is over.
			return l.tell(ctx, note{State: stateOver, Why: overClosed})
		case p == nil && asked.RunID != "":
			v.asked = asked
			if asked.Question == "" {
				break
			}
			if found, _ := h.at(asked.RunID); found != nil && found.join(v) {
				has.Lock()
				has.page = found
				has.Unlock()
				found.looks(v) // it may have said so meanwhile
				watching, lost = time.Now(), false
				look.Reset(lookEvery)
			} else if !told && h.Machine != nil && time.Since(began) >= elsewhereAfter {
				told = true
				if err := l.tell(ctx, note{State: stateOpening, Machine: h.Machine(ctx, asked.RunID)}); err != nil {
					return err
				}
			}
		}
		if at() != nil {
			came = nil
		}
		for again := true; again; {
			again = false
			select {
			case <-ctx.Done():
				if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
					return cause
				}
				return nil
			case <-look.C:
			case <-came:
			case <-v.news:
				over, why, err := h.hand(ctx, l, v)
				switch {
				case err != nil:
					return err
				case over && why == overGone:
					has.Lock()
					has.page = nil
					has.Unlock()
					h.watched(time.Since(watching))
					lost = true
					v.again()
					if err := l.tell(ctx, note{State: stateLost}); err != nil {
						return err
					}
				case over:
					return l.tell(ctx, note{State: stateOver, Why: why})
				default:
					again = true
				}
			}
		}
	}
}

// hand gives the window what has come for it, and reports whether that was the end of the
// page, and why.
func (h *Hub) hand(ctx context.Context, l link, v *viewer) (bool, over, error) {
	t := v.take()
	if t.lost {
		return true, "", errBehind
	}
	for _, item := range t.line {
		var err error
		switch item := item.(type) {
		case note:
			err = l.tell(ctx, item)
		case surface.Frame:
			if err = l.send(ctx, item); err == nil && item.Kind == surface.KindPicture {
				h.picture(len(item.Payload))
			}
		}
		if err != nil {
			return true, "", err
		}
	}
	return t.done, t.why, nil
}

// listen takes what a window sends, at most so much in a second; more waits.
func (h *Hub) listen(ctx context.Context, l link, v *viewer, at func() *page) error {
	pace := newPace()
	for {
		f, w, err := l.receive(ctx)
		if err != nil {
			return err
		}
		if err := pace.wait(ctx); err != nil {
			return err
		}
		if f.Kind == 0 {
			if p := at(); p != nil {
				p.wish(v, w)
			}
			continue
		}
		m, err := surface.Parse(f)
		if err != nil {
			return errBadWord
		}
		switch m := m.(type) {
		case surface.View:
			m.Paused = false // is ours to say
			v.put(func() { v.view = m })
			if p := at(); p != nil { // asked after, as one that comes meanwhile sees what was put
				p.looks(v)
			}
		case surface.Seen, surface.Input, surface.Choose:
			if p := at(); p != nil {
				if err := p.pass(ctx, v, f, m); err != nil {
					return err
				}
			}
		default:
			return errBadWord // what only a connector says
		}
	}
}

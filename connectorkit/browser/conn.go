package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxMessage bounds what the browser may send at once: an answer's body, escaped.
const maxMessage = 128 << 20

// postLimit bounds how long a command waits to be taken whose answer nobody waits for.
const postLimit = 2 * time.Second

var (
	// errLost means that the browser is gone, or does not speak any more.
	errLost = errors.New("the browser is gone")
	// errDetached means that a page is gone, or crashed.
	errDetached = errors.New("the page is gone")
)

// wireError is what the browser says about a command that it refused. Its text is
// Chromium's own and holds nothing of a page.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *wireError) Error() string { return "browser: " + e.Message }

// conn speaks with the browser over its pipe: JSON objects, each ended by a NUL. One
// goroutine reads and one writes, so that a browser that stopped reading holds up nobody
// beyond the context.
type conn struct {
	out  chan []byte
	over chan struct{} // closed when nothing more can be said
	once sync.Once

	mu      sync.Mutex
	last    int64
	waiting map[int64]*waiter
	subs    map[topic][]*queue
	pages   map[target.SessionID]target.ID
	gone    map[target.SessionID]bool // pages that were detached or crashed
	broke   map[target.ID]bool        // pages that crashed
	cause   error
}

type waiter struct {
	session target.SessionID
	answer  chan answer // of one place
}

type answer struct {
	result jsontext.Value
	err    error
}

type topic struct {
	session target.SessionID
	method  string
}

// newConn begins the conversation. It ends when either file does, or by end.
func newConn(r io.Reader, w io.Writer) *conn {
	c := &conn{
		out: make(chan []byte), over: make(chan struct{}),
		waiting: map[int64]*waiter{}, subs: map[topic][]*queue{}, pages: map[target.SessionID]target.ID{}, gone: map[target.SessionID]bool{}, broke: map[target.ID]bool{},
	}
	go c.write(w)
	go c.read(r)
	return c
}

func (c *conn) write(w io.Writer) {
	for {
		select {
		case b := <-c.out:
			if _, err := w.Write(b); err != nil {
				c.end(err)
				return
			}
		case <-c.over:
			return
		}
	}
}

// incoming is a message of the browser: an answer, or an event.
type incoming struct {
	ID        int64            `json:"id"`
	Result    jsontext.Value   `json:"result"`
	Error     *wireError       `json:"error"`
	Method    string           `json:"method"`
	Params    jsontext.Value   `json:"params"`
	SessionID target.SessionID `json:"sessionId"`
}

func (c *conn) read(r io.Reader) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var whole []byte
	for {
		part, err := lines.ReadSlice(0)
		whole = append(whole, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(whole) <= maxMessage:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			err = errors.New("a message is too long")
		}
		if err != nil {
			c.end(err)
			return
		}
		var m incoming
		// The values alias the buffer, so that it is given away with them.
		if err := json.Unmarshal(whole[:len(whole)-1], &m, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
			c.end(fmt.Errorf("read a message: %w", err))
			return
		}
		whole = nil
		c.deliver(&m)
	}
}

func (c *conn) deliver(m *incoming) {
	if m.ID == 0 {
		c.event(m)
		return
	}
	c.mu.Lock()
	w := c.waiting[m.ID]
	delete(c.waiting, m.ID)
	c.mu.Unlock()
	if w == nil {
		return // whoever asked has given up
	}
	if m.Error != nil {
		w.answer <- answer{err: m.Error}
		return
	}
	w.answer <- answer{result: m.Result}
}

func (c *conn) event(m *incoming) {
	c.mu.Lock()
	for _, q := range c.subs[topic{m.SessionID, m.Method}] {
		q.put(m.Params)
	}
	c.mu.Unlock()
	if m.Method == target.DetachedFromTarget.Method {
		var e target.EventDetachedFromTarget
		if json.Unmarshal(m.Params, &e) == nil {
			c.forget(e.SessionID)
		}
	}
}

// forget ends a page's session: whoever waits for it is told.
func (c *conn) forget(id target.SessionID) {
	if id == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone[id] = true
	for n, w := range c.waiting {
		if w.session == id {
			delete(c.waiting, n)
			w.answer <- answer{err: errDetached}
		}
	}
	for t, list := range c.subs {
		if t.session == id {
			for _, q := range list {
				q.close()
			}
			delete(c.subs, t)
		}
	}
}

// attached notes which page a session is of.
func (c *conn) attached(id target.SessionID, page target.ID) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages[id] = page
	return &session{c: c, id: id}
}

// crashed ends every session of a page.
func (c *conn) crashed(page target.ID) {
	c.mu.Lock()
	c.broke[page] = true
	var ids []target.SessionID
	for id, of := range c.pages {
		if of == page {
			ids = append(ids, id)
		}
	}
	c.mu.Unlock()
	for _, id := range ids {
		c.forget(id)
	}
}

// end tells everybody who waits that there will be no answer.
func (c *conn) end(cause error) {
	c.once.Do(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cause = cause
		close(c.over)
		for _, list := range c.subs {
			for _, q := range list {
				q.close()
			}
		}
		clear(c.subs)
	})
}

// session is one conversation within a conn: with a page, or with the browser itself when
// its id is empty. It is a cdp.Session.
type session struct {
	c  *conn
	id target.SessionID
}

var _ cdp.Session = (*session)(nil)

type outgoing struct {
	ID        int64            `json:"id"`
	Method    string           `json:"method"`
	Params    any              `json:"params"`
	SessionID target.SessionID `json:"sessionId,omitempty"`
}

// Call sends a command and waits for its answer, until ctx ends.
func (s *session) Call(ctx context.Context, method string, params, result any) error {
	w := &waiter{session: s.id, answer: make(chan answer, 1)}
	s.c.mu.Lock()
	if s.c.gone[s.id] {
		s.c.mu.Unlock()
		return errDetached
	}
	s.c.last++
	id := s.c.last
	s.c.waiting[id] = w
	s.c.mu.Unlock()
	defer func() {
		s.c.mu.Lock()
		delete(s.c.waiting, id)
		s.c.mu.Unlock()
	}()
	text, err := json.Marshal(outgoing{ID: id, Method: method, Params: params, SessionID: s.id}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	select {
	case s.c.out <- append(text, 0):
	case <-s.c.over:
		return errLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case a := <-w.answer:
		if a.err != nil {
			return fmt.Errorf("%s: %w", method, a.err)
		}
		if err := json.Unmarshal(a.result, result, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
			return fmt.Errorf("read the answer to %s: %w", method, err)
		}
		return nil
	case <-s.c.over:
		return errLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Subscribe hands over the events of that name that come from now on. The channel is closed
// when the page or the browser is gone.
func (s *session) Subscribe(method string) (<-chan jsonv2.Value, func()) { return s.follow(method) }

// follow does the same for events of several methods, which come in the order in which they
// happened: what opens and closes is read by one reader.
func (s *session) follow(methods ...string) (<-chan jsonv2.Value, func()) {
	q := newQueue()
	s.c.mu.Lock()
	select {
	case <-s.c.over:
		q.close()
	default:
		if s.c.gone[s.id] {
			q.close()
			break
		}
		for _, method := range methods {
			t := topic{s.id, method}
			s.c.subs[t] = append(s.c.subs[t], q)
		}
	}
	s.c.mu.Unlock()
	return q.out, func() {
		s.c.mu.Lock()
		defer s.c.mu.Unlock()
		for _, method := range methods {
			t := topic{s.id, method}
			s.c.subs[t] = slices.DeleteFunc(slices.Clone(s.c.subs[t]), func(other *queue) bool { return other == q })
		}
		q.stop()
	}
}

// queue holds events until they are taken, in order and without end: what sends much is
// made to wait by other means (pictures are acknowledged one by one).
type queue struct {
	out     chan jsonv2.Value
	stopped chan struct{}
	wake    chan struct{}

	mu     sync.Mutex
	items  []jsonv2.Value
	closed bool
	halted bool
}

func newQueue() *queue {
	q := &queue{out: make(chan jsonv2.Value), stopped: make(chan struct{}), wake: make(chan struct{}, 1)}
	go q.run()
	return q
}

func (q *queue) put(v jsonv2.Value) {
	q.mu.Lock()
	q.items = append(q.items, v)
	q.mu.Unlock()
	q.nudge()
}

// close ends the queue behind its last item, stop at once.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.nudge()
}

func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.halted {
		q.halted = true
		close(q.stopped)
	}
}

func (q *queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) run() {
	defer close(q.out)
	for {
		q.mu.Lock()
		items, closed := q.items, q.closed
		q.items = nil
		q.mu.Unlock()
		for _, v := range items {
			select {
			case q.out <- v:
			case <-q.stopped:
				return
			}
		}
		if len(items) > 0 {
			continue
		}
		if closed {
			return
		}
		select {
		case <-q.wake:
		case <-q.stopped:
			return
		}
	}
}

// post sends a command whose answer nobody waits for, behind those that were sent before.
func (s *session) post(method string, params any) {
	s.c.mu.Lock()
	s.c.last++
	id := s.c.last
	s.c.mu.Unlock()
	text, err := json.Marshal(outgoing{ID: id, Method: method, Params: params, SessionID: s.id}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return // commands are our own types, which can be encoded
	}
	select {
	case s.c.out <- append(text, 0):
	case <-s.c.over:
	case <-time.After(postLimit): // a browser that takes nothing is ended by others
	}
}

// Package devtools speaks the Chrome DevTools Protocol with a browser over a pipe.
//
// A Conn owns the goroutines that serve the pages of the browser: Go starts them, End cancels their context, and Wait
// joins them.
package devtools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxMessage bounds one message of the browser: the body of a response, escaped.
const maxMessage = 128 << 20

var (
	// ErrLost means that the browser has ended or closed its pipe.
	ErrLost = errors.New("the browser is gone")
	// ErrDetached means that a page was closed or has crashed.
	ErrDetached = errors.New("the page is gone")
)

// RemoteError is the browser's error for a rejected command. Its text comes from Chromium and contains nothing of a
// page.
type RemoteError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *RemoteError) Error() string { return "browser: " + e.Message }

// Conn is a connection to a browser: JSON objects, each followed by a NUL byte. One goroutine reads and one writes, so
// that a browser that stops reading blocks a caller no longer than its context.
type Conn struct {
	out     chan []byte
	over    context.Context // ends with the connection
	cancel  context.CancelFunc
	tasks   sync.WaitGroup
	endOnce sync.Once

	mu       sync.Mutex
	lastID   int64
	waiting  map[int64]*pendingCall
	subs     map[eventTopic][]*eventQueue
	pages    map[target.SessionID]target.ID
	detached map[target.SessionID]bool // of closed or crashed pages
	crashed  map[target.ID]bool
}

// pendingCall is a command without a response yet.
type pendingCall struct {
	session  target.SessionID
	response chan callResponse // has space for one
}

type callResponse struct {
	result jsontext.Value
	err    error
}

type eventTopic struct {
	session target.SessionID
	method  string
}

// NewConn starts a connection. It ends when r or w fails, or by End.
func NewConn(r io.Reader, w io.Writer) *Conn {
	c := &Conn{
		out: make(chan []byte), waiting: map[int64]*pendingCall{}, subs: map[eventTopic][]*eventQueue{},
		pages: map[target.SessionID]target.ID{}, detached: map[target.SessionID]bool{}, crashed: map[target.ID]bool{},
	}
	c.over, c.cancel = context.WithCancel(context.Background())
	c.tasks.Go(func() { c.writeLoop(w) })
	c.tasks.Go(func() { c.readLoop(r) })
	return c
}

// Go runs a task in the background. Its context ends with the connection, and Wait waits for it. A task that starts
// after the end of the connection is dropped.
func (c *Conn) Go(task func(ctx context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over.Err() == nil {
		c.tasks.Go(func() { task(c.over) })
	}
}

// Over is closed when the connection has ended.
func (c *Conn) Over() <-chan struct{} { return c.over.Done() }

// End ends the connection: pending calls return ErrLost and subscriptions are closed.
func (c *Conn) End() {
	c.endOnce.Do(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cancel() // it also ends the subscriptions
		clear(c.subs)
	})
}

// Wait waits for the tasks of Go and for the goroutines of the connection and its subscriptions. Call it after End, and
// after the reader and the writer were closed.
func (c *Conn) Wait() { c.tasks.Wait() }

// Browser returns the session of the browser itself.
func (c *Conn) Browser() *Session { return &Session{conn: c} }

// Attach returns a new session of a page.
func (c *Conn) Attach(id target.SessionID, page target.ID) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages[id] = page
	return &Session{conn: c, ID: id}
}

// Attached reports whether a session was neither closed nor has its page crashed.
func (c *Conn) Attached(id target.SessionID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.detached[id]
}

// Crashed reports whether a page has crashed.
func (c *Conn) Crashed(page target.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.crashed[page]
}

// MarkCrashed ends every session of a page.
func (c *Conn) MarkCrashed(page target.ID) {
	c.mu.Lock()
	c.crashed[page] = true
	var ids []target.SessionID
	for id, of := range c.pages {
		if of == page {
			ids = append(ids, id)
		}
	}
	c.mu.Unlock()
	for _, id := range ids {
		c.detach(id)
	}
}

func (c *Conn) writeLoop(w io.Writer) {
	for {
		select {
		case b := <-c.out:
			if _, err := w.Write(b); err != nil {
				c.End()
				return
			}
		case <-c.over.Done():
			return
		}
	}
}

// incomingMessage is a message of the browser: a response or an event.
type incomingMessage struct {
	ID        int64            `json:"id"`
	Result    jsontext.Value   `json:"result"`
	Error     *RemoteError     `json:"error"`
	Method    string           `json:"method"`
	Params    jsontext.Value   `json:"params"`
	SessionID target.SessionID `json:"sessionId"`
}

// readLoop reads messages until an error ends the connection.
func (c *Conn) readLoop(r io.Reader) {
	defer c.End()
	lines := bufio.NewReaderSize(r, 64<<10)
	var whole []byte
	for {
		part, err := lines.ReadSlice(0)
		whole = append(whole, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(whole) <= maxMessage {
			continue
		}
		if err != nil {
			return
		}
		var m incomingMessage
		if Decode(whole[:len(whole)-1], &m) != nil {
			return
		}
		whole = nil // the values of m share its memory
		c.dispatch(&m)
	}
}

func (c *Conn) dispatch(m *incomingMessage) {
	if m.ID == 0 {
		c.dispatchEvent(m)
		return
	}
	c.mu.Lock()
	w := c.waiting[m.ID]
	delete(c.waiting, m.ID)
	c.mu.Unlock()
	switch {
	case w == nil: // the caller has given up
	case m.Error != nil:
		w.response <- callResponse{err: m.Error}
	default:
		w.response <- callResponse{result: m.Result}
	}
}

func (c *Conn) dispatchEvent(m *incomingMessage) {
	c.mu.Lock()
	for _, q := range c.subs[eventTopic{m.SessionID, m.Method}] {
		q.put(m.Params)
	}
	c.mu.Unlock()
	if m.Method == target.DetachedFromTarget.Method {
		var e target.EventDetachedFromTarget
		if json.Unmarshal(m.Params, &e) == nil {
			c.detach(e.SessionID)
		}
	}
}

// detach ends a session: its pending calls return ErrDetached and its subscriptions are closed.
func (c *Conn) detach(id target.SessionID) {
	if id == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.detached[id] = true
	for n, w := range c.waiting {
		if w.session == id {
			delete(c.waiting, n)
			w.response <- callResponse{err: ErrDetached}
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

// Decode parses JSON of the browser. It accepts invalid UTF-8 and duplicate names, which pages may contain.
func Decode(raw jsontext.Value, into any) error {
	if err := json.Unmarshal(raw, into, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		return fmt.Errorf("parse a message of the browser: %w", err)
	}
	return nil
}

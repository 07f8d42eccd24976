package devtools

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// postTimeout bounds how long Post waits for the browser to read a command.
const postTimeout = 2 * time.Second

// Session is a connection to a page, or to the browser itself when ID is empty. It implements cdp.Session.
type Session struct {
	ID   target.SessionID
	conn *Conn
}

var _ cdp.Session = (*Session)(nil)

type outgoingMessage struct {
	ID        int64            `json:"id"`
	Method    string           `json:"method"`
	Params    any              `json:"params"`
	SessionID target.SessionID `json:"sessionId,omitempty"`
}

func (m outgoingMessage) encode() ([]byte, error) {
	text, err := json.Marshal(m, jsontext.AllowInvalidUTF8(true))
	return append(text, 0), err
}

// Call sends a command and waits for its response until ctx ends.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	c, call := s.conn, &pendingCall{session: s.ID, response: make(chan callResponse, 1)}
	c.mu.Lock()
	if c.detached[s.ID] {
		c.mu.Unlock()
		return ErrDetached
	}
	c.lastID++
	id := c.lastID
	c.waiting[id] = call
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	text, err := outgoingMessage{ID: id, Method: method, Params: params, SessionID: s.ID}.encode()
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	select {
	case c.out <- text:
	case <-c.Over():
		return ErrLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case r := <-call.response:
		if r.err != nil {
			return fmt.Errorf("%s: %w", method, r.err)
		}
		if err := Decode(r.result, result); err != nil {
			return fmt.Errorf("read the answer to %s: %w", method, err)
		}
		return nil
	case <-c.Over():
		return ErrLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Post sends a command without waiting for its response, after the commands that were sent before.
func (s *Session) Post(method string, params any) {
	s.conn.mu.Lock()
	s.conn.lastID++
	id := s.conn.lastID
	s.conn.mu.Unlock()
	text, err := outgoingMessage{ID: id, Method: method, Params: params, SessionID: s.ID}.encode()
	if err != nil {
		return // the commands of cdproto can always be encoded
	}
	select {
	case s.conn.out <- text:
	case <-s.conn.Over():
	case <-time.After(postTimeout): // other timeouts end a browser that reads nothing
	}
}

// Subscribe returns the events of a method from now on, and a function that ends the subscription. The channel is
// closed after the last event of a page that is gone, and with the connection, which drops unread events.
func (s *Session) Subscribe(method string) (<-chan jsonv2.Value, func()) {
	return s.SubscribeAll(method)
}

// SubscribeAll is like Subscribe for several methods. Their events arrive in the order in which they happened.
func (s *Session) SubscribeAll(methods ...string) (<-chan jsonv2.Value, func()) {
	c := s.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, stop := context.WithCancel(c.over)
	q := &eventQueue{out: make(chan jsonv2.Value), wake: make(chan struct{}, 1)}
	if c.over.Err() != nil || c.detached[s.ID] {
		stop()
		close(q.out)
		return q.out, stop
	}
	for _, method := range methods {
		t := eventTopic{s.ID, method}
		c.subs[t] = append(c.subs[t], q)
	}
	c.tasks.Go(func() {
		defer stop()
		q.run(ctx)
	})
	return q.out, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, method := range methods {
			t := eventTopic{s.ID, method}
			c.subs[t] = slices.DeleteFunc(slices.Clone(c.subs[t]), func(other *eventQueue) bool { return other == q })
		}
		stop()
	}
}

// eventQueue holds events until they are read, in order and without a bound. Frequent events are limited by other
// means: the browser sends the next picture only after an acknowledgement.
type eventQueue struct {
	out  chan jsonv2.Value
	wake chan struct{}

	mu     sync.Mutex
	items  []jsonv2.Value
	closed bool
}

func (q *eventQueue) put(v jsonv2.Value) {
	q.mu.Lock()
	q.items = append(q.items, v)
	q.mu.Unlock()
	q.wakeUp()
}

// close ends the queue after its last item.
func (q *eventQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wakeUp()
}

func (q *eventQueue) wakeUp() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// run passes the events on until the queue is closed and empty, or ctx ends.
func (q *eventQueue) run(ctx context.Context) {
	defer close(q.out)
	for {
		q.mu.Lock()
		items, closed := q.items, q.closed
		q.items = nil
		q.mu.Unlock()
		for _, v := range items {
			select {
			case q.out <- v:
			case <-ctx.Done():
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
		case <-ctx.Done():
			return
		}
	}
}

package devtools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json/jsontext"
)

// wire is a Conn with the test as its browser.
type wire struct {
	*Conn
	sent *bufio.Reader
	say  *io.PipeWriter
}

func newWire(t *testing.T) *wire {
	commands, theirs := io.Pipe()
	answers, say := io.Pipe()
	w := &wire{Conn: NewConn(answers, theirs), sent: bufio.NewReader(commands), say: say}
	t.Cleanup(func() {
		_ = say.Close()
		_ = commands.Close()
		w.End()
		w.Wait()
	})
	return w
}

func (w *wire) receive(text string) { _, _ = w.say.Write([]byte(text + "\x00")) }

var anyCommand = cdp.Command[cdp.Empty, struct {
	Text string `json:"text"`
}]{Method: "Any.command"}

// Responses reach their callers in any order, and a caller never waits forever.
func TestConn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t)
		type result struct {
			text string
			err  error
		}
		ask := func(ctx context.Context, s *Session) chan result {
			out := make(chan result, 1)
			go func() {
				got, err := cdp.Call(ctx, s, anyCommand, cdp.Empty{})
				out <- result{got.Text, err}
			}()
			_, err := w.sent.ReadString(0)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		browser, page := w.Browser(), w.Attach("s1", "t1")
		first, second := ask(t.Context(), browser), ask(t.Context(), page)
		w.receive(`{"id":2,"sessionId":"s1","result":{"text":"two"}}`)
		w.receive(`{"id":7,"result":{}}`) // no such call
		w.receive(`{"id":1,"error":{"code":-32000,"message":"no"}}`)
		if r := <-second; r.text != "two" || r.err != nil {
			t.Errorf("second: %+v", r)
		}
		var refused *RemoteError
		if r := <-first; !errors.As(r.err, &refused) || refused.Message != "no" {
			t.Errorf("first: %+v", r)
		}

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if r := <-ask(short, browser); !errors.Is(r.err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("a browser that does not answer: %+v after %s", r, time.Since(began))
		}

		events, stop := page.Subscribe("Any.event")
		for range 3 {
			w.receive(`{"method":"Any.event","sessionId":"s1","params":{}}`)
		}
		w.receive(`{"method":"Any.event","params":{}}`) // the browser's own
		for range 3 {
			<-events
		}
		waits := ask(t.Context(), page)
		w.MarkCrashed("t1")
		if r := <-waits; !errors.Is(r.err, ErrDetached) {
			t.Errorf("a page that crashed: %+v", r)
		}
		if _, open := <-events; open {
			t.Error("events of a page that crashed go on")
		}
		stop()
		if _, err := cdp.Call(t.Context(), page, anyCommand, cdp.Empty{}); !errors.Is(err, ErrDetached) {
			t.Errorf("a page that is gone: %v", err)
		}

		waits = ask(t.Context(), browser)
		_ = w.say.Close()
		if r := <-waits; !errors.Is(r.err, ErrLost) {
			t.Errorf("a browser that is gone: %+v", r)
		}
		if _, err := cdp.Call(t.Context(), browser, anyCommand, cdp.Empty{}); !errors.Is(err, ErrLost) {
			t.Errorf("a browser that is gone: %v", err)
		}
	})
}

// A page may close one dialog and open the next at once. The events arrive in order, however late they are read.
func TestEventsArriveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t)
		asks, stop := w.Attach("s1", "t1").SubscribeAll("Page.javascriptDialogOpening",
			"Page.javascriptDialogClosed")
		const rounds = 100
		for range rounds {
			w.receive(`{"method":"Page.javascriptDialogOpening","sessionId":"s1","params":{"type":"alert","message":"?"}}`)
			w.receive(`{"method":"Page.javascriptDialogClosed","sessionId":"s1","params":{"result":true}}`)
		}
		synctest.Wait()
		for i := range 2 * rounds {
			if opens := bytes.Contains(<-asks, []byte("alert")); opens != (i%2 == 0) {
				t.Fatalf("event %d: opens a dialog: %t", i, opens)
			}
		}
		stop()
		w.receive(`{"method":"Page.javascriptDialogClosed","sessionId":"s1","params":{"result":true}}`)
		synctest.Wait()
		select {
		case raw, open := <-asks:
			if open {
				t.Errorf("after the end: %s", raw)
			}
		default:
		}
	})
}

// Whatever the browser sends, the connection continues or ends. It never panics or blocks a caller.
func FuzzConn(f *testing.F) {
	f.Add(`{"id":1,"result":{"text":"x"}}` + "\x00")
	f.Add(`{"id":1,"error":{"code":1,"message":"x"}}` + "\x00" + `{"method":"Any.event","params":{}}` + "\x00")
	f.Add(`{"method":"Target.detachedFromTarget","params":{"sessionId":"s1"}}` + "\x00{")
	f.Add("\x00\x00[]")
	f.Fuzz(func(t *testing.T, text string) {
		c := NewConn(strings.NewReader(text), io.Discard)
		page := c.Attach(target.SessionID("s1"), "t1")
		events, stop := page.Subscribe("Any.event")
		defer stop()
		_, _ = cdp.Call(t.Context(), page, anyCommand, cdp.Empty{}) // the text ends, so this does
		for range events {
		}
		<-c.Over()
	})
}

// Wait joins the queues of subscriptions that were never ended and that no one reads, of an open and of a
// closed page. A goroutine that is left would make synctest fail.
func TestUnreadEventsEndWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t)
		events, _ := w.Browser().Subscribe("Any.event")
		closed, _ := w.Attach("s1", "t1").Subscribe("Any.event")
		w.receive(`{"method":"Any.event","params":{}}`)
		w.receive(`{"method":"Any.event","sessionId":"s1","params":{}}`)
		w.MarkCrashed("t1")
		synctest.Wait()
		_ = w.say.Close()
		w.Wait()
		for _, queue := range []<-chan jsontext.Value{events, closed} {
			select {
			case _, open := <-queue:
				if open {
					t.Error("an event arrives after the end")
				}
			default:
				t.Error("the queue is open after Wait")
			}
		}
		late, _ := w.Browser().Subscribe("Any.event")
		if _, open := <-late; open {
			t.Error("a connection that has ended has events")
		}
	})
}

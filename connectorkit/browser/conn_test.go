package browser

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
)

// wire is a conn whose browser is the test.
type wire struct {
	*conn
	heard *bufio.Reader
	say   *io.PipeWriter
}

func newWire(t *testing.T) *wire {
	commands, theirs := io.Pipe()
	answers, say := io.Pipe()
	w := &wire{conn: newConn(answers, theirs), heard: bufio.NewReader(commands), say: say}
	t.Cleanup(func() {
		_ = say.Close()
		_ = commands.Close()
		w.end(errLost)
	})
	return w
}

func (w *wire) tell(text string) { _, _ = w.say.Write([]byte(text + "\x00")) }

var anyCommand = cdp.Command[cdp.Empty, struct {
	Text string `json:"text"`
}]{Method: "Any.command"}

// TestConn: answers find who asked, in any order, and whoever asks is never left waiting.
func TestConn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t)
		type result struct {
			text string
			err  error
		}
		ask := func(ctx context.Context, s *session) chan result {
			out := make(chan result, 1)
			go func() {
				got, err := cdp.Call(ctx, s, anyCommand, cdp.Empty{})
				out <- result{got.Text, err}
			}()
			_, err := w.heard.ReadString(0)
			must(t, err)
			return out
		}
		browser, page := &session{c: w.conn}, w.attached("s1", "t1")
		first, second := ask(t.Context(), browser), ask(t.Context(), page)
		w.tell(`{"id":2,"sessionId":"s1","result":{"text":"two"}}`)
		w.tell(`{"id":7,"result":{}}`) // nobody asked
		w.tell(`{"id":1,"error":{"code":-32000,"message":"no"}}`)
		if r := <-second; r.text != "two" || r.err != nil {
			t.Errorf("second: %+v", r)
		}
		var refused *wireError
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
			w.tell(`{"method":"Any.event","sessionId":"s1","params":{}}`)
		}
		w.tell(`{"method":"Any.event","params":{}}`) // the browser's own
		for range 3 {
			<-events
		}
		waits := ask(t.Context(), page)
		w.crashed("t1")
		if r := <-waits; !errors.Is(r.err, errDetached) {
			t.Errorf("a page that crashed: %+v", r)
		}
		if _, open := <-events; open {
			t.Error("events of a page that crashed go on")
		}
		stop()
		if _, err := cdp.Call(t.Context(), page, anyCommand, cdp.Empty{}); !errors.Is(err, errDetached) {
			t.Errorf("a page that is gone: %v", err)
		}

		waits = ask(t.Context(), browser)
		must(t, w.say.Close())
		if r := <-waits; !errors.Is(r.err, errLost) {
			t.Errorf("a browser that is gone: %+v", r)
		}
		if _, err := cdp.Call(t.Context(), browser, anyCommand, cdp.Empty{}); !errors.Is(err, errLost) {
			t.Errorf("a browser that is gone: %v", err)
		}
	})
}

// TestDialogsComeInOrder: a page that asks again as soon as it has its answer closes one dialog and
// opens the next at once, however late anybody reads of it.
func TestDialogsComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t)
		asks, stop := (&tab{s: w.attached("s1", "t1")}).followDialogs()
		const rounds = 100
		for range rounds {
			w.tell(`{"method":"Page.javascriptDialogOpening","sessionId":"s1","params":{"type":"alert","message":"?"}}`)
			w.tell(`{"method":"Page.javascriptDialogClosed","sessionId":"s1","params":{"result":true}}`)
		}
		synctest.Wait()
		for i := range 2 * rounds {
			if opens := bytes.Contains(<-asks, []byte("alert")); opens != (i%2 == 0) {
				t.Fatalf("event %d: opens a dialog: %t", i, opens)
			}
		}
		stop()
		w.tell(`{"method":"Page.javascriptDialogClosed","sessionId":"s1","params":{"result":true}}`)
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

// FuzzConn: whatever comes over the pipe, the conversation goes on or ends; it never panics
// and never keeps anybody waiting.
func FuzzConn(f *testing.F) {
	f.Add(`{"id":1,"result":{"text":"x"}}` + "\x00")
	f.Add(`{"id":1,"error":{"code":1,"message":"x"}}` + "\x00" + `{"method":"Any.event","params":{}}` + "\x00")
	f.Add(`{"method":"Target.detachedFromTarget","params":{"sessionId":"s1"}}` + "\x00{")
	f.Add("\x00\x00[]")
	f.Fuzz(func(t *testing.T, text string) {
		c := newConn(strings.NewReader(text), io.Discard)
		page := c.attached(target.SessionID("s1"), "t1")
		events, stop := page.Subscribe("Any.event")
		defer stop()
		_, _ = cdp.Call(t.Context(), page, anyCommand, cdp.Empty{}) // the text ends, so this does
		for range events {
		}
		<-c.over
	})
}

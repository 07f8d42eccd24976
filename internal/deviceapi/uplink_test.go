package deviceapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// oneLine is a listener for one connection, within the bubble of a test.
type oneLine struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *oneLine) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *oneLine) Close() error   { close(l.closed); return nil }
func (l *oneLine) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// trickle sends an upload at speed bytes per second. It returns the answer and the time until it
// arrived.
func trickle(l laptop, body []byte, speed int) (status int, answer string, took time.Duration) {
	line := &oneLine{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
	s := &http.Server{Handler: l.handler}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(line) }()
	conn, theirs := net.Pipe()
	line.conns <- theirs
	began := time.Now()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, err := fmt.Fprintf(conn,
			"POST %s/%s/ingest-batches HTTP/1.1\r\nHost: pdpp.example\r\nContent-Type: application/json\r\n%s: 1\r\n"+
				"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n",
			wire.Root, l.DeviceID, wire.ProtocolHeader, l.DeviceToken, len(body))
		for len(body) > 0 && err == nil {
			time.Sleep(time.Second)
			n := min(speed, len(body))
			_, err = conn.Write(body[:n])
			body = body[n:]
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	took = time.Since(began)
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	conn.Close()
	<-sent
	s.Close()
	<-ended
	return resp.StatusCode, string(got), took
}

// TestSlowUplinks verifies that the server accepts a slow upload. It ends an upload that makes almost
// no progress with a timeout, and the device may retry.
func TestSlowUplinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLaptop(t)
		large := encode(t, l.batch(1, note("a", `,"text":"`+strings.Repeat("x", 600<<10)+`"`)))
		if status, answer, took := trickle(l, large, 9<<10); status != http.StatusCreated || took < time.Minute {
			t.Errorf("9 KiB a second: %d after %v: %s", status, took, answer)
		}
		again := encode(t, l.batch(2, note("b", `,"text":"`+strings.Repeat("x", 600<<10)+`"`)))
		status, answer, took := trickle(l, again, 2<<10)
		if status != http.StatusRequestTimeout || !strings.Contains(answer, `"code":"request_timeout"`) ||
			!strings.Contains(answer, `"request_id"`) {
			t.Errorf("2 KiB a second: %d: %s", status, answer)
		}
		if took < 20*time.Second || took > 30*time.Second { // 20 s, and what 2 KiB/s earn of 8
			t.Errorf("2 KiB a second: cut off after %v", took)
		}
		l.equal(l.records("notes"), []string{"a"})
		l.wants(l.upload(l.batch(2, note("b", ""))), http.StatusCreated, "")

	})
}

// TestSourceIsBusy verifies that uploads of one source run one after the other. An upload that would
// wait too long gets a Retry-After.
func TestSourceIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLaptop(t)
		held := &heldStore{Store: l.store, began: make(chan struct{}, 8), goOn: make(chan struct{})}
		l.config.Store = held
		l.mount()
		first := make(chan answer, 1)
		one, two := l.batch(1, note("a", "")), l.batch(2, note("b", ""))
		go func() { first <- l.upload(one) }()
		<-held.began
		began := time.Now()
		got := l.upload(two)
		l.wants(got, http.StatusTooManyRequests, wire.CodeBusy)
		if took := time.Since(began); took != 5*time.Second || got.retryAfter == "" {
			t.Errorf("told after %v to come back after %q", took, got.retryAfter)
		}
		second := make(chan answer, 1)
		go func() { second <- l.upload(two) }()
		time.Sleep(4 * time.Second)
		close(held.goOn) // in time
		l.wants(<-first, http.StatusCreated, "")
		l.wants(<-second, http.StatusCreated, "")
		l.equal(l.records("notes"), []string{"a", "b"})

	})
}

// An upload that finds all writers busy is asked to come back when those in work and those that wait have
// been written, by what a batch takes on average.
func TestQueueTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLaptop(t)
		held := &heldStore{Store: l.store, began: make(chan struct{}, 8), goOn: make(chan struct{}, 8)}
		l.config.Store = held
		l.mount()
		answers := make(chan answer, 8)
		b := l.batch(1, note("a", ""))
		go func() { answers <- l.upload(b) }()
		<-held.began
		time.Sleep(40 * time.Second)
		held.goOn <- struct{}{}
		l.wants(<-answers, http.StatusCreated, "")
		const atWork = 4
		for n := range atWork {
			other := laptop{l.bed, l.enrol(l.code(fmt.Sprint("other", n), ""), "")}
			b := other.batch(1, note("x", ""))
			go func() { answers <- other.upload(b) }()
			<-held.began
		}
		got := l.upload(l.batch(2, note("b", "")))
		l.wants(got, http.StatusServiceUnavailable, wire.CodeIngestRetryable)
		if got.retryAfter != "20" { // two of them, this one and the next, four at once, 40 s each
			t.Errorf("told to come back after %q", got.retryAfter)
		}
		for range atWork {
			held.goOn <- struct{}{}
			l.wants(<-answers, http.StatusCreated, "")
		}

	})
}

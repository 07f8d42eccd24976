package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener with in-memory connections, so that time is virtual.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.IPAddr{} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

const request = "GET /slow HTTP/1.1\r\nHost: pdpp.example\r\n\r\n"

// slowly serves one route that answers when it is let go.
func slowly(ctx context.Context, p *pipes) (release chan struct{}, ended chan error) {
	release, ended = make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, p, Config{Mount: func(mux *http.ServeMux) {
			mux.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-release:
				case <-r.Context().Done():
				}
				io.WriteString(w, "done")
			})
		}})
	}()
	return release, ended
}

func TestShutdownLetsRequestsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPipes()
		release, ended := slowly(ctx, p)
		conn := p.dial()
		io.WriteString(conn, request)
		synctest.Wait()
		cancel()
		time.Sleep(time.Second)
		close(release)
		body, err := io.ReadAll(conn)
		if err != nil || !strings.HasSuffix(string(body), "done") {
			t.Errorf("%q, %v", body, err)
		}
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

func TestShutdownEndsAfterTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPipes()
		release, ended := slowly(ctx, p)
		conn := p.dial()
		io.WriteString(conn, request)
		synctest.Wait()
		cancel()
		began := time.Now()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		close(release)
		conn.Close()
	})
}

func TestSlowHeadersAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPipes()
		_, ended := slowly(ctx, p)
		conn := p.dial()
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: ")
		began := time.Now()
		io.ReadAll(conn)
		if took := time.Since(began); took != headerTimeout {
			t.Errorf("cut off after %v", took)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

func TestListenerFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := Serve(t.Context(), l, Config{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func readyz(h http.Handler) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	return w.Code
}

func TestReadinessIsProbedOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		probes := 0
		var fault error
		h := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil)),
			Checks: []ReadinessCheck{{"database", func(context.Context) error {
				probes++
				return fault
			}}}})
		step := func(after time.Duration, wantStatus, wantProbes, wantLines int) {
			t.Helper()
			time.Sleep(after)
			if got := readyz(h); got != wantStatus || probes != wantProbes || strings.Count(log.String(), "\n") != wantLines {
				t.Errorf("status %d after %d probes, log:\n%s", got, probes, log.String())
			}
		}
		step(0, 200, 1, 0)
		fault = errors.New("the database is away")
		step(answerAge-1, 200, 1, 0)
		step(1, 503, 2, 1)
		step(answerAge, 503, 3, 1) // logged once
		fault = nil
		step(answerAge, 200, 4, 2)
	})
}

func TestHangingProbeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Config{Checks: []ReadinessCheck{{"database", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}}})
		began := time.Now()
		if got := readyz(h); got != 503 || time.Since(began) != probeTimeout {
			t.Errorf("status %d after %v", got, time.Since(began))
		}
	})
}

func TestSchedulerMustReportInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported time.Time
		check := Scheduler(func() time.Time { return reported }, time.Minute)
		at := func(after time.Duration, ok bool) {
			t.Helper()
			time.Sleep(after)
			if err := check.Probe(t.Context()); (err == nil) != ok {
				t.Errorf("got %v", err)
			}
		}
		at(time.Minute, true) // it has not had its time yet
		at(1, false)
		reported = time.Now()
		at(time.Minute, true)
		at(1, false)
	})
}

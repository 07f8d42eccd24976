package connectorkit

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// service is a provider over HTTP without a network. It notes when each request
// arrives, and answer may refuse the n-th (from 1); nil serves it.
type service struct {
	answer func(n int, r *http.Request) *http.Response
	at     []time.Time
	paths  []string
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.at, s.paths = append(s.at, time.Now()), append(s.paths, r.URL.Path)
	if s.answer != nil {
		if refusal := s.answer(len(s.at), r); refusal != nil {
			return refusal, nil
		}
	}
	return reply(http.StatusOK), nil
}

// reply is an answer with headers as name and value.
func reply(status int, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("{}"))}
}

// throttle refuses and asks for that many seconds.
func throttle(seconds int) *http.Response {
	return reply(http.StatusTooManyRequests, "Retry-After", strconv.Itoa(seconds))
}

// gaps returns the times between the requests.
func (s *service) gaps() []time.Duration {
	var out []time.Duration
	for i := 1; i < len(s.at); i++ {
		out = append(out, s.at[i].Sub(s.at[i-1]))
	}
	return out
}

// governed is a connector with an archive behind the service. Each list page
// and each thread takes one request; log has that many pages.
func governed(t tb, s *service, a *archive, logPages int, adjust ...func(*governor.Config)) Connector {
	t.Helper()
	return withManifest(t, testManifest, func(_ context.Context, setup *Setup) ([]Collector, error) {
		client, err := setup.HTTP(
			governhttp.Options{BaseURL: "http://archive.test", Transport: s, Classify: ByStatus},
			adjust...)
		if err != nil {
			return nil, err
		}
		var records [][]Record
		for i := range logPages {
			records = append(records, []Record{Upsert(row{ID: strconv.Itoa(i)})})
		}
		return []Collector{behind(client, pages("log", records...)), a.behind(client)}, nil
	})
}

func behind(c *governhttp.Client, f PagedStream) PagedStream {
	page := f.Page
	f.Page = func(ctx context.Context, at Cursor) (Page, error) {
		if _, err := c.Get(ctx, f.Stream, nil); err != nil {
			return Page{}, err
		}
		return page(ctx, at)
	}
	return f
}

func (a *archive) behind(c *governhttp.Client) ListDetail {
	l := a.lane()
	l.ListPage = func(ctx context.Context, w Window) (ListPage, error) {
		if _, err := c.Get(ctx, "threads", nil); err != nil {
			return ListPage{}, err
		}
		return a.listPage(ctx, w)
	}
	l.Fetch = func(ctx context.Context, item Item) ([]Record, error) {
		if _, err := c.Get(ctx, "threads/"+item.Key, nil); err != nil {
			return nil, err
		}
		return a.fetchThread(ctx, item)
	}
	return l
}

// detail reports whether a request asks for one thread.
func detail(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/threads/") }

// archiveEnv spells the owner's variables of the archive.
func archiveEnv(pairs ...string) map[string]string {
	env := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		env["PDPP_ARCHIVE"+pairs[i]] = pairs[i+1]
	}
	return env
}

// lineLog is a runner that listens, and lets the test look on meanwhile.
type lineLog struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *lineLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

func (l *lineLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

// follow runs the connector on one START line.
func (l *lineLog) follow(t tb, c Connector, start string) {
	t.Helper()
	r, w := io.Pipe()
	defer w.Close()
	exit := Run(context.Background(), c, Process{
		Stdin: io.MultiReader(strings.NewReader(start), r), Stdout: l, Stderr: io.Discard,
		Env: func(string) string { return "" }, Now: time.Now,
	})
	if exit != ExitSucceeded {
		t.Errorf("exit code %d: %s", exit, l.out.String())
	}
}

// with returns the messages so far with a text that begins so.
func (l *lineLog) with(prefix string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for line := range strings.Lines(l.out.String()) {
		if _, rest, found := strings.Cut(line, `"message":"`+prefix); found {
			text, _, _ := strings.Cut(rest, `"`)
			out = append(out, prefix+text)
		}
	}
	return out
}

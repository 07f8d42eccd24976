package providersim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const goodBody = `{"items":[{"id":"a","n":1},{"id":"b","n":2}],"total":2}`

// bundle is a gate in front of two routes, reached over real HTTP.
type bundle struct {
	t    *testing.T
	gate *Gate
	url  string
}

func setup(t *testing.T, opts GateOptions) bundle {
	t.Helper()
	opts.ErrorBody = func(code string) []byte { return fmt.Appendf(nil, `{"code":%q}`, code) }
	gate := NewGate(opts)
	mux := http.NewServeMux()
	serve := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, goodBody)
	}
	mux.HandleFunc("GET /list", serve)
	mux.HandleFunc("GET /list/{id}", serve)
	srv := httptest.NewServer(gate.Wrap(mux))
	t.Cleanup(srv.Close)
	return bundle{t, gate, srv.URL}
}

func (b bundle) add(f Fault) int {
	b.t.Helper()
	id, err := b.gate.Add(f)
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// get returns the response, what could be read of its body, and the error that
// ended the exchange.
func (b bundle) get(path string) (*http.Response, string, error) {
	b.t.Helper()
	resp, err := http.Get(b.url + path)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func (b bundle) status(path string) int {
	b.t.Helper()
	resp, _, err := b.get(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode
}

func TestEveryKind(t *testing.T) {
	t.Parallel()
	// A case returns what is wrong with the damaged answer, or nothing.
	type check func(resp *http.Response, body string, err error) string
	answered := func(status int, contentType, want string) check {
		return func(resp *http.Response, body string, err error) string {
			if err != nil {
				return err.Error()
			}
			if got := resp.Header.Get("Content-Type"); resp.StatusCode != status || got != contentType || body != want {
				return fmt.Sprintf("%d %s %s", resp.StatusCode, got, body)
			}
			return ""
		}
	}
	const jsonType = "application/json"
	good := answered(200, jsonType, goodBody)
	cases := map[Kind]struct {
		fault Fault
		check check
	}{
		Throttle:         {Fault{}, answered(429, jsonType, `{"code":"rate_limited"}`)},
		Bucket:           {Fault{Rate: 1e-9, Burst: 1, Count: 2}, good},
		Crowd:            {Fault{}, answered(429, jsonType, `{"code":"rate_limited"}`)},
		Unavailable:      {Fault{}, answered(503, jsonType, `{"code":"unavailable"}`)},
		ServerError:      {Fault{}, answered(500, jsonType, `{"code":"internal"}`)},
		ExpiredToken:     {Fault{}, answered(401, jsonType, `{"code":"token_expired"}`)},
		HTML:             {Fault{}, answered(200, "text/html; charset=utf-8", signInPage)},
		EmptyBody:        {Fault{}, answered(200, jsonType, "")},
		TruncatedJSON:    {Fault{}, answered(200, jsonType, goodBody[:len(goodBody)/2])},
		WrongContentType: {Fault{}, answered(200, "text/plain; charset=utf-8", goodBody)},
		SlowDrip:         {Fault{ChunkBytes: 20, DelayMS: 1}, good},
		WrongType:        {Fault{}, answered(200, jsonType, `{"items":[{"id":42,"n":1},{"id":"b","n":2}],"total":2}`)},
		MissingField:     {Fault{Field: "n"}, answered(200, jsonType, `{"items":[{"id":"a"},{"id":"b","n":2}],"total":2}`)},
		Latency:          {Fault{DelayMS: 1}, good},
		Drift: {Fault{Drifted: &Drifted{Route: "*", Add: []string{"items/[]"}, Remove: []string{"items/[]/n"},
			Retype: []string{"items/[]/id"}, Items: 1, Total: 5}},
			answered(200, jsonType, `{"items":[{"id":42,"since_drifted":"new"}],"total":7}`)},
		// Paging is the provider's part; the answer of these routes stays.
		RepeatCursor: {Fault{}, good},
		SelfCursor:   {Fault{}, good},
		ShortPages:   {Fault{Items: 1}, good},
		EmptyPages:   {Fault{}, good},
		Reset: {Fault{}, func(resp *http.Response, body string, err error) string {
			if !errors.Is(err, syscall.ECONNRESET) || body != goodBody[:len(goodBody)/2] {
				return fmt.Sprintf("body %q, error %v", body, err)
			}
			return ""
		}},
	}
	for _, kind := range allFaultKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			c, ok := cases[kind]
			if !ok {
				t.Fatal("kind without a case")
			}
			b := setup(t, GateOptions{})
			c.fault.Kind, c.fault.Path = kind, "/list"
			c.fault.Count = max(1, c.fault.Count)
			b.add(c.fault)
			if wrong := c.check(b.get("/list")); wrong != "" {
				t.Errorf("damaged answer: %s", wrong)
			}
			if kind == Bucket {
				if got := b.status("/list"); got != 429 {
					t.Errorf("empty bucket answers %d", got)
				}
			}
			if wrong := good(b.get("/list")); wrong != "" {
				t.Errorf("answer after the count is spent: %s", wrong)
			}
			if got := b.gate.Stats().ByFault[kind]; got != 1 {
				t.Errorf("counted %d uses, want 1", got)
			}
		})
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	b := setup(t, GateOptions{})
	list := b.add(Fault{Kind: ServerError, Path: "/list", Exact: true})
	if got := [2]int{b.status("/list"), b.status("/list/a")}; got != [2]int{500, 200} {
		t.Errorf("list fault: list %d, detail %d", got[0], got[1])
	}
	if err := b.gate.Remove(list); err != nil {
		t.Fatal(err)
	}
	b.add(Fault{Kind: ServerError, Path: "/list/"})
	if got := [2]int{b.status("/list"), b.status("/list/a")}; got != [2]int{200, 500} {
		t.Errorf("detail fault: list %d, detail %d", got[0], got[1])
	}
	b.gate.Clear()
	b.add(Fault{Kind: Unavailable, Skip: 1, Count: 2})
	for i, want := range []int{200, 503, 503, 200} {
		if got := b.status("/list"); got != want {
			t.Errorf("request %d: %d, want %d", i, got, want)
		}
	}
	if got := len(b.gate.Faults()); got != 1 {
		t.Errorf("%d faults installed, want 1", got)
	}
	if err := b.gate.Remove(list); err == nil {
		t.Error("removed a fault that is gone")
	}
}

func TestFaultsCombine(t *testing.T) {
	t.Parallel()
	b := setup(t, GateOptions{})
	b.add(Fault{Kind: WrongContentType})
	b.add(Fault{Kind: TruncatedJSON})
	b.add(Fault{Kind: Throttle, Status: 403, Skip: 1})
	b.add(Fault{Kind: ServerError})
	resp, body, err := b.get("/list")
	if err != nil || resp.StatusCode != 500 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") ||
		body != `{"code":"` {
		t.Errorf("first answer: %v %q %v", resp, body, err)
	}
	if got := b.status("/list"); got != 403 {
		t.Errorf("second answer %d, want the earlier fault's 403", got)
	}
}

func TestRetryAfterForms(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 5, 6, 7, 8, 9, 500, time.UTC)
	cases := []struct {
		fault      Fault
		retryAfter string
		until      time.Time // first moment that is not early
	}{
		{Fault{Kind: Throttle, RetryAfter: RetrySeconds, Seconds: 30}, "30", now.Add(30 * time.Second)},
		{Fault{Kind: Throttle, RetryAfter: RetryDate, Seconds: 30}, "Tue, 06 May 2031 07:08:40 GMT",
			time.Date(2031, 5, 6, 7, 8, 40, 0, time.UTC)},
		{Fault{Kind: Throttle, RetryAfter: RetryNone, Seconds: 30}, "", now},
		{Fault{Kind: Throttle}, "", now},
		{Fault{Kind: Unavailable, RetryAfter: RetrySeconds, Seconds: 5}, "5", now.Add(5 * time.Second)},
		{Fault{Kind: Bucket, Rate: 0.25, Burst: 1, RetryAfter: RetrySeconds}, "4", now.Add(4 * time.Second)},
	}
	for _, c := range cases {
		t.Run(string(c.fault.Kind)+" "+string(c.fault.RetryAfter), func(t *testing.T) {
			t.Parallel()
			clock := now
			b := setup(t, GateOptions{Now: func() time.Time { return clock }})
			c.fault.Path = "/list/"
			b.add(c.fault)
			if c.fault.Kind == Bucket {
				b.status("/list/a")
			}
			resp, _, err := b.get("/list/a")
			if err != nil {
				t.Fatal(err)
			}
			if got := resp.Header.Get("Retry-After"); got != c.retryAfter {
				t.Errorf("Retry-After %q, want %q", got, c.retryAfter)
			}
			if got := resp.Header.Get("Date"); got != "Tue, 06 May 2031 07:08:09 GMT" {
				t.Errorf("Date %q is not the injected clock", got)
			}
			b.gate.Clear()
			early := 0
			if c.until.After(now) {
				early = 1
				clock = c.until.Add(-1)
			}
			b.status("/list/b")
			b.status("/list") // outside of the limited scope
			clock = c.until
			b.status("/list/b")
			if got := b.gate.Stats().WhileLimited; got != early {
				t.Errorf("counted %d early requests, want %d", got, early)
			}
		})
	}
}

func TestFaultValidation(t *testing.T) {
	t.Parallel()
	gate := NewGate(GateOptions{})
	for _, f := range []Fault{
		{}, {Kind: "flood"}, {Kind: Throttle, Exact: true}, {Kind: Throttle, Count: -1}, {Kind: Throttle, Status: 200},
		{Kind: Throttle, RetryAfter: "soon"}, {Kind: Bucket, Burst: 1}, {Kind: Bucket, Rate: 1}, {Kind: ShortPages},
		{Kind: Latency},
	} {
		if _, err := gate.Add(f); err == nil {
			t.Errorf("accepted %+v", f)
		}
	}
	if len(gate.Faults()) != 0 {
		t.Error("a refused fault is installed")
	}
}

// An announcement that a client has not read holds all other answers back. Requests that arrive
// meanwhile count as within the wait, one for each other request in flight and no more.
func TestAnnouncementArrivesFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, GateOptions{})
	b.add(Fault{Kind: Throttle, Path: "/list", Count: 1, RetryAfter: RetrySeconds, Seconds: 3600})
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /list HTTP/1.1\r\nHost: gate\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	// the rest is not read
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "429") {
		t.Fatalf("%q, %v", line, err)
	}
	answered := make(chan int, 3)
	for range 3 {
		go func() {
			status := 0
			if resp, _, err := b.get("/list"); err == nil {
				status = resp.StatusCode
			}
			answered <- status
		}()
	}
	for b.gate.Stats().Requests < 4 { // all of them are there
		runtime.Gosched()
	}
	if log := b.gate.Requests(); len(log) != 1 || log[0].Status != 429 || log[0].Before == 0 {
		t.Errorf("answered before the announcement was read: %+v", log)
	}
	_ = conn.Close()
	for range 3 {
		if status := <-answered; status != 200 {
			t.Errorf("the others are answered %d", status)
		}
	}
	if s := b.gate.Stats(); s.WhileLimited != 3 {
		t.Errorf("%d requests within the wait, want 3", s.WhileLimited)
	}
}

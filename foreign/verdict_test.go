package foreign_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/foreign"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/protocol"
)

// service is an API with pages; some of them are answered otherwise.
type service struct {
	*httptest.Server
	mu      sync.Mutex
	reports map[int]int // by page
	asked   map[int]int
}

func newService(t *testing.T, reportedBy map[int]int, encrypted bool) *service {
	s := &service{reports: reportedBy, asked: map[int]int{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/pages/"))
		s.mu.Lock()
		s.asked[n]++
		status := s.reports[n]
		s.mu.Unlock()
		if status != 0 {
			w.WriteHeader(status)
			return
		}
		_, _ = w.Write([]byte(tapRecord("pages", n)))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // the client reports what it does not accept
	if encrypted {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func (s *service) host() string { return s.Listener.Addr().String() }

// over makes a bed of the tap that asks the service.
func (s *service) over(t *testing.T, habit string, config map[string]any, adjust ...func(*foreign.Order)) *bed {
	config["url"] = s.URL
	if cert := s.Certificate(); cert != nil {
		config["ca"] = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
	}
	b := newBed(
		t,
		habit,
		config,
		append([]func(*foreign.Order){func(o *foreign.Order) { o.Hosts = []string{s.host()} }}, adjust...)...)
	b.env["PDPP_LEDGER_PACING_INITIAL_INTERVAL_MS"] = "1"
	b.env["PDPP_LEDGER_PACING_MIN_INTERVAL_MS"] = "0.1"
	b.env["PDPP_LEDGER_CIRCUIT_BREAKER"] = "off"
	return b
}

// coverage is what the owner reads of the connection after a run.
func (b *bed) coverage() (axis, tone string) {
	b.Helper()
	v := &view.View{Reader: b.store, Now: time.Now}
	j, err := v.One(b.Context(), connectortest.Connection)
	if err != nil {
		b.Fatal(err)
	}
	return string(j.Health.Axes.Coverage), string(j.Verdict.Pill.Tone)
}

// Every row of what may be claimed, from the tap's output to the owner's verdict. The tap exits
// with 0 in all of them.
//
//pdpp:tier unraced
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		known    map[int]int
		opaque   bool
		adjust   func(*foreign.Order)
		stored   int
		coverage string
		tone     string
	}{
		{name: "nothing refused", stored: 6, coverage: "complete", tone: "green"},
		{name: "a swallowed 404", known: map[int]int{3: 404}, stored: 5, coverage: "retryable_gap", tone: "amber"},
		{name: "a swallowed 403", known: map[int]int{3: 403}, stored: 5, coverage: "partial", tone: "amber"},
		{name: "a swallowed 502", known: map[int]int{3: 502}, stored: 5, coverage: "retryable_gap", tone: "amber"},
		{name: "traffic that is not inspected", opaque: true, adjust: func(o *foreign.Order) { o.Opaque = true },
			stored: 6, coverage: "unknown", tone: "grey"},
		{name: "a host that is not allowed", adjust: func(o *foreign.Order) { o.Hosts = nil }, coverage: "partial",
			tone: "amber"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.adjust == nil {
				c.adjust = func(*foreign.Order) {}
			}
			b := newService(t, c.known, c.opaque).over(t, "api", map[string]any{"pages": 6}, c.adjust)
			result := b.run(launch.RunRequest{})
			if result.Status != runner.Succeeded {
				t.Fatalf("%s: %v\n%s", result.Status, result.Failure, result.StderrTail)
			}
			axis, tone := b.coverage()
			if stored := len(b.keys("pages")); stored != c.stored || axis != c.coverage || tone != c.tone {
				t.Errorf(
					"%d stored, %s, %s; want %d, %s, %s\n%s",
					stored,
					axis,
					tone,
					c.stored,
					c.coverage,
					c.tone,
					result.StderrTail,
				)
			}
		})
	}
}

// A tap that takes no notice of the proxy reaches nothing, and its run fails loudly.
func TestTapPastTheProxy(t *testing.T) {
	t.Parallel()
	s := newService(t, nil, false)
	b := s.over(t, "direct", map[string]any{"pages": 3})
	result := b.run(launch.RunRequest{})
	if result.Status != runner.Failed || len(b.keys("pages")) != 0 || len(s.asked) != 0 {
		t.Errorf("%s, stored %v, asked %v", result.Status, b.keys("pages"), s.asked)
	}
	if !strings.Contains(result.StderrTail, "connection refused") {
		t.Errorf("its last words: %s", result.StderrTail)
	}
}

// After a refusal that may pass the tap's states are not believed: the next run asks for what was
// refused, and then everything is there.
//
//pdpp:tier unraced
func TestRefusedIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, map[int]int{3: 502}, false)
	b := s.over(t, "api", map[string]any{"pages": 6})
	b.run(launch.RunRequest{})
	if keys := b.keys("pages"); len(keys) != 5 || keys["3"] {
		t.Fatalf("stored: %v", keys)
	}
	s.mu.Lock()
	delete(s.reports, 3)
	s.mu.Unlock()
	b.run(launch.RunRequest{})
	axis, tone := b.coverage()
	if keys := b.keys("pages"); len(keys) != 6 || axis != "complete" || tone != "green" || s.asked[1] != 1 {
		t.Errorf("stored %v, %s, %s, page 1 asked for %d times", keys, axis, tone, s.asked[1])
	}
}

// Singer has only the exit code: the last response decides what the owner sees.
//
//pdpp:tier unraced
func TestFailureByTheLastAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		action protocol.RecoveryAction
	}{
		{401, "auth_failure", protocol.RefreshCredentials},
		{500, "temporary_unavailable", protocol.RetryByRuntime},
	} {
		t.Run(strconv.Itoa(c.status), func(t *testing.T) {
			t.Parallel()
			b := newService(t, map[int]int{2: c.status}, false).over(t, "api", map[string]any{"pages": 3, "strict": true})
			b.env["PDPP_LEDGER_RETRY_BUDGET_INITIAL_TOKENS"] = "0"
			result := b.run(launch.RunRequest{})
			e := result.DoneError
			if result.Status != runner.Failed || e == nil || e.Code != c.code || e.RecoveryHint == nil ||
				e.RecoveryHint.Action != c.action {
				t.Errorf("%s: %+v %v", result.Status, e, result.Failure)
			}
		})
	}
}

// A tap that gave up because of the provider's limit was cut short: what is missing is a gap,
// which the run that reaches the end settles.
//
//pdpp:tier unraced
func TestTapGivesUpAtALimit(t *testing.T) {
	t.Parallel()
	s := newService(t, map[int]int{2: 429}, false)
	b := s.over(t, "api", map[string]any{"pages": 3, "strict": true})
	b.env["PDPP_LEDGER_RETRY_BUDGET_INITIAL_TOKENS"] = "0"
	b.run(launch.RunRequest{})
	if axis, tone := b.coverage(); axis != "retryable_gap" || tone != "amber" || len(b.keys("pages")) != 1 {
		t.Errorf("%s, %s, stored %v", axis, tone, b.keys("pages"))
	}
	s.mu.Lock()
	delete(s.reports, 2)
	s.mu.Unlock()
	b.run(launch.RunRequest{AskAnyway: true})
	if axis, tone := b.coverage(); axis != "complete" || tone != "green" || len(b.keys("pages")) != 3 {
		t.Errorf("%s, %s, stored %v", axis, tone, b.keys("pages"))
	}
}

// rows returns what the owner reads of each stream.
func (b *bed) rows() map[string]string {
	b.Helper()
	v := &view.View{Reader: b.store, Now: time.Now}
	j, err := v.One(b.Context(), connectortest.Connection)
	if err != nil {
		b.Fatal(err)
	}
	out := map[string]string{}
	for _, row := range j.Verdict.Streams {
		out[row.StreamID] = row.Statement
	}
	return out
}

// A refusal marks the stream that the tap was at, as far as its output shows which one that was, and no other.
func TestRefusalMarksItsStream(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config map[string]any
		refuse map[int]int
		source bool
		marked string // the streams that are not as those that nothing was refused of
		tone   string
	}{
		{name: "404 of the second stream", refuse: map[int]int{2: 404}, marked: "visits", tone: "green"},
		{name: "403 of the last stream", refuse: map[int]int{3: 403}, marked: "log", tone: "amber"},
		{name: "502 of the first stream", refuse: map[int]int{1: 502}, marked: "pages", tone: "amber"},
		{name: "every SCHEMA first", config: map[string]any{"order": "schemas first"},
			refuse: map[int]int{2: 404}, marked: "log pages visits", tone: "amber"},
		{name: "answers before SCHEMAs", config: map[string]any{"order": "answer first"},
			refuse: map[int]int{2: 404}, marked: "log pages visits", tone: "amber"},
		{name: "a source's first stream", refuse: map[int]int{1: 404}, source: true, marked: "pages", tone: "green"},
		{name: "a source's second stream", refuse: map[int]int{2: 404}, source: true, marked: "app_log", tone: "green"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.config == nil {
				c.config = map[string]any{}
			}
			s := newService(t, c.refuse, false)
			b := s.over(t, "several", c.config, func(o *foreign.Order) {
				if c.source {
					o.Kind, o.Command = foreign.Airbyte, []string{os.Args[0], "source", "several"}
				}
			})
			b.env["PDPP_LEDGER_CREDENTIALS_TOKEN"], b.env["PDPP_LEDGER_RETRY_BUDGET_INITIAL_TOKENS"] = "tok-hush", "0"
			if result := b.run(launch.RunRequest{}); result.Status != runner.Succeeded {
				t.Fatalf("%s: %v\n%s", result.Status, result.Failure, result.StderrTail)
			}
			var marked []string
			for stream, row := range b.rows() {
				if !strings.HasPrefix(row, "Collected") {
					marked = append(marked, stream)
				}
			}
			slices.Sort(marked)
			if got := strings.Join(marked, " "); got != c.marked {
				t.Errorf("marked: %s, want %s: %q", got, c.marked, b.rows())
			}
			v := &view.View{Reader: b.store, Now: time.Now}
			j, err := v.One(t.Context(), connectortest.Connection)
			if err != nil {
				t.Fatal(err)
			}
			if tone := string(j.Verdict.Pill.Tone); tone != c.tone {
				t.Errorf("%s, want %s: %s", tone, c.tone, j.Verdict.ForwardStatement)
			}
		})
	}
}

// A tap that ends at a refusal leaves the streams behind it unread, and nothing is called missing there.
func TestTapStopsBeforeTheOthers(t *testing.T) {
	t.Parallel()
	b := newService(t, map[int]int{2: 404}, false).over(t, "several", map[string]any{"strict": true})
	if result := b.run(launch.RunRequest{}); result.Status != runner.Failed {
		t.Fatalf("%s", result.Status)
	}
	rows := b.rows()
	if rows["log"] != "The last run stopped before it got to this." || strings.HasPrefix(rows["pages"], "Some items") {
		t.Errorf("%q", rows)
	}
}

// A stream that was collected before and is then only answered 404 is not one that the account never had.
func TestRefusedLater(t *testing.T) {
	t.Parallel()
	s := newService(t, map[int]int{}, false)
	b := s.over(t, "several", map[string]any{})
	for _, c := range []struct {
		status int
		tone   string
	}{{0, "green"}, {404, "amber"}, {404, "amber"}} {
		s.mu.Lock()
		s.reports[2] = c.status
		s.mu.Unlock()
		if result := b.run(launch.RunRequest{}); result.Status != runner.Succeeded {
			t.Fatalf("%s: %v\n%s", result.Status, result.Failure, result.StderrTail)
		}
		if _, tone := b.coverage(); tone != c.tone {
			t.Errorf("%s after %d, want %s: %q", tone, c.status, c.tone, b.rows())
		}
	}
	if len(b.keys("visits")) == 0 {
		t.Error("what was collected is gone")
	}
}

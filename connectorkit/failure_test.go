package connectorkit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/ownersettings"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// failing is a paged stream with a second page that fails.
func failing(stream string, err error) PagedStream {
	return PagedStream{Stream: stream, Page: func(_ context.Context, at Cursor) (Page, error) {
		if at["page"] == "2" {
			return Page{}, err
		}
		return Page{Records: []Record{Upsert(row{ID: "a"})}, Next: Cursor{"page": "2"}, More: true}, nil
	}}
}

// TestPageFailures shows what each class means for a stream without others.
func TestPageFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err       error
		code      string
		retryable bool
		hint      protocol.RecoveryAction
	}{
		{&Error{Class: Unavailable}, "temporary_unavailable", true, protocol.RetryByRuntime},
		{&Error{Class: Unauthorized}, "auth_failure", false, protocol.RefreshCredentials},
		{&Error{Class: Forbidden}, "permanent_forbidden", false, protocol.RefreshCredentials},
		{ByStatus(&governhttp.Response{Status: 403}), "http_403", true, protocol.RetryByRuntime},
		{&Error{Class: NotFound}, "not_found", false, protocol.RetryOnConnectorUpgrade},
		{&Error{Class: Gone}, "gone", false, protocol.RetryOnConnectorUpgrade},
		{&Error{Class: Malformed}, "malformed_answer", false, protocol.RetryOnConnectorUpgrade},
		{&Error{Class: CursorRejected}, "malformed_answer", false, protocol.RetryOnConnectorUpgrade},
		{fmt.Errorf("wrapped: %w", &Error{Class: Unavailable}), "temporary_unavailable", true, protocol.RetryByRuntime},
		{context.DeadlineExceeded, "temporary_unavailable", true, protocol.RetryByRuntime},
		{&governhttp.Error{Kind: governhttp.Network}, "temporary_unavailable", true, protocol.RetryByRuntime},
		{&governhttp.Error{Kind: governhttp.TooLarge}, "malformed_answer", false, protocol.RetryOnConnectorUpgrade},
		{ErrNotInteractive, "interaction_unanswered", false, protocol.ManualActionRequired},
		{errors.New("Bearer abc"), "unclassified_error", true, protocol.UnknownRecovery},
	} {
		t.Run(c.code+" of "+fmt.Sprintf("%T", c.err), func(t *testing.T) {
			t.Parallel()
			v := newVault()
			r := v.run(t, collecting(t, failing("log", c.err)), options{scope: only("log")})
			e := r.done.Error
			if r.done.Status != protocol.DoneFailed || e.Code != c.code || *e.Retryable != c.retryable ||
				e.RecoveryHint.Action != c.hint {
				t.Errorf("ended as %s", describe(r))
			}
			if strings.Contains(e.Message, "Bearer") {
				t.Errorf("the message repeats the error: %s", e.Message)
			}
			if len(v.records["log"]) != 1 || string(v.state["log"]) != `{"page":"2"}` {
				t.Errorf("the slice before the failure is gone: %v, %s", v.records, v.state["log"])
			}
		})
	}
}

// TestOneStreamDoesNotStopTheOthers shows a certified failure.
func TestOneStreamDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	a, v := newArchive(3, 10), newVault()
	a.list = func(int) error { return &Error{Class: Malformed} }
	c := collecting(t, failing("log", &Error{Class: Unavailable}), a.lane(),
		pages("notes", []Record{Upsert(map[string]any{"box": "in", "id": 1})}))
	r := v.run(t, c, options{})
	if r.done.Error == nil || r.done.Error.Code != protocol.StreamCollectionFailed || *r.done.Error.Retryable {
		t.Fatalf("ended as %s", describe(r))
	}
	var named []string
	for _, s := range all[*protocol.SkipResult](r) {
		if s.Reason == protocol.StreamCollectionFailed {
			named = append(named, s.Stream)
		}
	}
	if got := strings.Join(named, " "); got != "log threads messages" {
		t.Errorf("named %q", got)
	}
	if len(v.records["notes"]) != 1 {
		t.Error("the last stream was not collected")
	}
	for _, name := range named {
		if !strings.Contains(r.done.Error.Message, name) {
			t.Errorf("%q does not name %s", r.done.Error.Message, name)
		}
	}
}

func TestRefusedCredentialEndsTheRun(t *testing.T) {
	t.Parallel()
	read := false
	notes := PagedStream{Stream: "notes", Page: func(context.Context, Cursor) (Page,
		error) {
		read = true
		return Page{}, nil
	}}
	r := newVault().run(t, collecting(t, failing("log", &Error{Class: Unauthorized}), notes), options{})
	if read || r.done.Error == nil || r.done.Error.Code != "auth_failure" {
		t.Errorf("went on: %t, ended as %s", read, describe(r))
	}
}

// TestRefusedCredentialInTheLane defers what was listed and keeps the window open.
func TestRefusedCredentialInTheLane(t *testing.T) {
	t.Parallel()
	a, v := newArchive(30, 10), newVault()
	a.fetch = func(n int, _ string) error {
		if n > 4 {
			return &Error{Class: Unauthorized, Status: 401}
		}
		return nil
	}
	c := collecting(t, a.lane())
	r := v.run(t, c, options{scope: laneScope})
	if r.done.Error == nil || r.done.Error.Code != "auth_failure" || len(a.fetches) != 5 {
		t.Fatalf("ended as %s after %d fetches", describe(r), len(a.fetches))
	}
	for _, g := range all[*protocol.DetailGap](r) {
		if g.Reason != protocol.ReasonAuthFailure || !g.Retryable {
			t.Errorf("gap %s: %s", g.RecordKey, g.Reason)
		}
	}
	if w, open := listdetail.ReadWindow(
		v.catchUp["threads"],
	); len(v.pendingGaps()) != 6 || !open ||
		!w.Before.Equal(a.things[20].at) {
		t.Errorf("left behind: %s", v.describe())
	}
	if len(all[*protocol.DetailCoverage](r)) != 1 {
		t.Error("no coverage of what was considered")
	}
	a.fetch = nil
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.complete(t, v)
}

// TestDensityStop stops a lane with fetches that fail one after the other.
func TestDensityStop(t *testing.T) {
	t.Parallel()
	for class, reason := range map[Class]protocol.Reason{
		Unavailable: protocol.ReasonUpstreamPressure, Malformed: protocol.ReasonTemporaryUnavailable,
	} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			a, v := newArchive(60, 40), newVault()
			a.fetch = func(n int, _ string) error {
				if n == 3 {
					return nil
				}
				return &Error{Class: class}
			}
			r := succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope}))
			if len(a.fetches) != 3+ownersettings.DefaultDensityStop || len(a.lists) != 1 {
				t.Errorf("%d fetches, %d lists", len(a.fetches), len(a.lists))
			}
			gaps := all[*protocol.DetailGap](r)
			if g := gaps[len(gaps)-1]; g.Reason != reason || !strings.HasPrefix(string(g.RecordKey), "__") {
				t.Errorf("the rest is %s as %s", g.RecordKey, g.Reason)
			}
		})
	}
}

// TestFinalAnswersDoNotStopTheLane lets many details be gone in a row, with a
// passing fault after them.
func TestFinalAnswersDoNotStopTheLane(t *testing.T) {
	t.Parallel()
	a, v := newArchive(3*ownersettings.DefaultDensityStop, 100), newVault()
	a.fetch = func(n int, _ string) error {
		if n%ownersettings.DefaultDensityStop == 0 {
			return &Error{Class: Unavailable}
		}
		return &Error{Class: []Class{Gone, NotFound, Forbidden}[n%3]}
	}
	r := succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope}))
	if len(a.fetches) != 3*ownersettings.DefaultDensityStop || len(v.pendingGaps()) != 3 {
		t.Errorf("%d fetches, pending %q", len(a.fetches), v.pendingGaps())
	}
	for _, g := range all[*protocol.DetailGap](r) {
		if g.Retryable != (g.Reason == protocol.ReasonTemporaryUnavailable) {
			t.Errorf("gap %s: %s, retryable %t", g.RecordKey, g.Reason, g.Retryable)
		}
	}
}

func TestRejectedCursorStartsOver(t *testing.T) {
	t.Parallel()
	v := newVault()
	v.state["log"] = []byte(`{"page":"old"}`)
	log := pages("log", []Record{Upsert(row{ID: "a"})})
	c := collecting(t, PagedStream{Stream: "log", Page: func(ctx context.Context, at Cursor) (Page, error) {
		if at["page"] == "old" {
			return Page{}, &Error{Class: CursorRejected}
		}
		return log.Page(ctx, at)
	}})
	succeeded(t, v.run(t, c, options{scope: only("log")}))
	if len(v.records["log"]) != 1 || string(v.state["log"]) != `{"page":"1"}` {
		t.Errorf("%v, %s", v.records["log"], v.state["log"])
	}
}

// TestRunawayFlatPages ends a stream with pages that go in circles or stay empty.
func TestRunawayFlatPages(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(n int) Page{
		"own cursor":  func(int) Page { return Page{Records: []Record{Upsert(row{ID: "a"})}, More: true} },
		"empty pages": func(n int) Page { return Page{Next: Cursor{"n": fmt.Sprint(n)}, More: true} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			c := collecting(
				t,
				PagedStream{Stream: "log", Page: func(context.Context, Cursor) (Page, error) { n++; return next(n), nil }},
			)
			if r := newVault().run(t, c, options{scope: only("log")}); r.done.Error == nil ||
				r.done.Error.Code != string(Malformed) {
				t.Errorf("ended as %s after %d pages", describe(r), n)
			}
		})
	}
}

func TestByStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]Class{
		200: "", 204: "", 302: Malformed, 400: Malformed, 401: Unauthorized, 403: Forbidden, 404: NotFound, 408: Unavailable,
		410: Gone, 429: RateLimited, 500: Unavailable, 503: Unavailable,
	} {
		err := ByStatus(&governhttp.Response{Status: status, Header: http.Header{}})
		var e *Error
		switch {
		case want == "" && err != nil, want != "" && (!errors.As(err, &e) || e.Class != want || e.Status != status):
			t.Errorf("status %d: %v, want %s", status, err, want)
		}
	}
}

// TestOpenFails classifies what Open returns.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	c := withManifest(t, testManifest, func(context.Context, *Setup) ([]Collector, error) {
		return nil, &Error{Class: Unauthorized}
	})
	if r := newVault().run(t, c, options{}); r.done.Error == nil || r.done.Error.Code != "auth_failure" {
		t.Errorf("ended as %s", describe(r))
	}
}

// TestUnreachableProvider is a host that swallows every packet. The run reports within
// forty seconds that it cannot be reached, names it and nothing else of the address,
// reports each attempt, and tries it once for all streams.
func TestUnreachableProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		black := func(ctx context.Context, _, _ string) (net.Conn, error) {
			dials++
			<-ctx.Done()
			return nil, ctx.Err()
		}
		a := newArchive(3, 10)
		c := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
			client, err := s.HTTP(governhttp.Options{BaseURL: "https://archive.test/secret?token=abc", Dial: black})
			return []Collector{behind(client, pages("log", nil)), a.behind(client), behind(client, pages("notes", nil))}, err
		})
		began := time.Now()
		v := newVault()
		r := v.run(t, c, options{})
		if took := time.Since(began); took > 40*time.Second || dials != 3 {
			t.Errorf("%d connections were tried in %s", dials, took)
		}
		e := r.done.Error
		if e == nil || e.Code != "temporary_unavailable" || !*e.Retryable ||
			!strings.Contains(e.Message, "archive.test could not be reached") ||
			!strings.Contains(e.Message, "check that this machine is online") || strings.Contains(e.Message, "secret") ||
			strings.Contains(e.Message, "abc") {
			t.Errorf("ended as %s", describe(r))
		}
		var texts []string
		for _, p := range all[*protocol.Progress](r) {
			if strings.Contains(p.Message, "reach") {
				texts = append(texts, p.Message)
			}
		}
		if strings.Join(
			texts,
			"; ",
		) != "trying to reach archive.test, attempt 2 of 3; trying to reach archive.test, attempt 3 of 3" {
			t.Errorf("reported %q", texts)
		}
		if len(v.pendingGaps()) > 0 {
			t.Errorf("an outage is declared as put off: %s", v.describe())
		}
	})
}

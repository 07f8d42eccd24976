package browser

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// watched returns the site with a probe that exposes its browser to the test.
func watched(of Site, browser **Browser) Site {
	inner := of.Probe
	of.Cookie = "" // so that it is probed at once
	of.Probe = func(ctx context.Context, p *Page) (SessionState, error) {
		*browser = p.b
		return inner(ctx, p)
	}
	return of
}

// TestSessionFromRunToRun: an owner signs in once; later runs use that session until the
// site ends it, and never another one's.
func TestSessionFromRunToRun(t *testing.T) {
	t.Attr("spec", "RT-02.1")
	t.Setenv("SHELF_SECRET", "planted-in-the-environment")
	web := newSite(t)
	web.persists = false // the browser itself forgets such a session
	b := roomFor(t, web)
	b.CaptureDir = filepath.Join(filepath.Dir(b.Home), "captures")
	var open *Browser
	c := shelf(watched(web.known(), &open), nil)

	first := play(t, c, b, runOptions{answer: func(q *protocol.Interaction) protocol.ResponseStatus {
		looksIsolated(t, b)
		var labels []string
		var text string
		until(t, "three captures are written", func() bool {
			labels, text = captured(t, b.CaptureDir)
			return len(labels) >= 3
		})
		if !slices.Equal(labels, []string{"01-session-establish-begin.json", "02-session-establish-probe.json",
			"03-session-establish-hand-off.json"}) {
			t.Errorf("a run that is killed now leaves %v", labels)
		}
		if !strings.Contains(text, `"Go on"`) || strings.Contains(text, "planted") {
			t.Errorf("captured %s", text)
		}
		if want := `"Sign in" at ` + web.URL + "/login"; !strings.Contains(q.Message, want) {
			t.Errorf("asked %q, want %q in it", q.Message, want)
		}
		ctx := within(t, time.Minute)
		if err := typeIn(ctx, open, "ada"); err != nil {
			t.Error(err)
		}
		if err := open.currentShowing().currentTab().untilAt(ctx, "/home"); err != nil {
			t.Error(err)
		}
		return protocol.ResponseSuccess
	}})
	if !slices.Equal(first.records, []string{"0", "1", "2"}) || len(first.questions) != 1 || first.exit != 0 {
		t.Fatalf("the first run: %+v", first)
	}
	if strings.Contains(first.stderr, "page_metadata_timeout") {
		t.Errorf("a quick page: %s", first.stderr)
	}
	if labels, _ := captured(t, b.CaptureDir); len(labels) > 0 {
		t.Errorf("after success there are %v", labels)
	}
	if _, left := vanish(t, b); left > 0 {
		t.Errorf("%d processes left", left)
	}
	tag, err := os.ReadFile(filepath.Join(b.Home, accountFile))
	must(t, err)
	if len(tag) != 64 || bytes.Contains(tag, []byte("ada")) {
		t.Errorf("account is %q", tag)
	}
	if _, err := os.Stat(filepath.Join(b.Home, "browser-daemon.json")); err == nil {
		t.Error("there is a daemon's file")
	}

	b.Restored, b.Account = true, string(tag)
	pages := web.requests("/login")
	second := play(t, c, b, runOptions{trigger: "scheduled"})
	if !slices.Equal(second.records, []string{"0", "1", "2"}) || second.exit != 0 {
		t.Errorf("the second run: %+v", second)
	}

	b.Account = strings.Repeat("0", 64)
	other := play(t, c, b, runOptions{trigger: "scheduled"})
	if other.code() != "shelf_account_changed" || len(other.records) > 0 {
		t.Errorf("another account: %+v", other)
	}

	web.signOut()
	b.Account = string(tag)
	third := play(t, c, b, runOptions{trigger: "scheduled",
		answer: func(*protocol.Interaction) protocol.ResponseStatus { return protocol.ResponseSuccess }})
	if third.code() != "shelf_session_required" || len(third.questions) > 0 || web.requests("/login") != pages ||
		*third.done.Error.Retryable {
		t.Errorf("a schedule without a session: %+v", third)
	}
}

// TestNobodyCanBeSignedIn: a browser without a session's cookie asks the site nothing, neither
// for a schedule nor before its owner is asked; the page that they sign in on comes at once.
func TestNobodyCanBeSignedIn(t *testing.T) {
	web := newSite(t)
	b := roomFor(t, web)
	c := shelf(web.known(), nil)
	byItself := play(t, c, b, runOptions{trigger: "scheduled"})
	if byItself.code() != "shelf_session_required" {
		t.Errorf("a schedule: %+v", byItself)
	}
	if web.mu.Lock(); len(web.log) > 0 {
		t.Errorf("the site was asked %v", web.log)
	}
	web.mu.Unlock()
	asked := play(t, c, b, runOptions{answer: func(*protocol.Interaction) protocol.ResponseStatus {
		web.mu.Lock()
		defer web.mu.Unlock()
		if len(web.log) == 0 || !strings.HasSuffix(web.log[0], " /login") || slices.Contains(web.log, "GET /api/session") {
			t.Errorf("before the owner is asked the site was asked %v", web.log)
		}
		return protocol.ResponseSuccess
	}})
	if asked.code() != "shelf_session_required" || len(asked.questions) != 1 || web.requests("/api/session") != 1 {
		t.Errorf("the owner said that they signed in: %+v, %d probes", asked, web.requests("/api/session"))
	}
}

// captured lists the diagnostics in a folder, and all that is in them.
func captured(t *testing.T, dir string) (names []string, text string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		names, text = append(names, e.Name()), text+string(b)
	}
	return names, text
}

// looksIsolated checks a running browser: no port, its own profile, nothing of our environment, its own process group.
func looksIsolated(t *testing.T, b protocol.BrowserBinding) {
	t.Helper()
	all := processesOf(t, b)
	if len(all) < 3 {
		t.Errorf("the browser has %d processes", len(all))
	}
	listening := listeners(t)
	for _, p := range all {
		if p.group == syscall.Getpgrp() {
			t.Errorf("process %d is in our group", p.pid)
		}
		if strings.Contains(p.environment, "planted-in-the-environment") || strings.Contains(p.environment, "PDPP_") {
			t.Errorf("process %d has our environment", p.pid)
		}
		for _, socket := range p.sockets {
			if listening[socket] {
				t.Errorf("process %d (%.60s) listens", p.pid, p.command)
			}
		}
	}
}

// TestWedgedPage: a page that hangs ends the run, and neither it nor the browser stays.
func TestWedgedPage(t *testing.T) {
	t.Attr("spec", "RT-15.1")
	web := newSite(t)
	b := roomFor(t, web)
	web.mux.HandleFunc("GET /wedge",
		document("Wedge", `<button onclick="setTimeout(() => { for (;;) {} })">Hang</button>`))
	of := web.known()
	of.Cookie = ""
	var wedged time.Time
	of.Probe = func(ctx context.Context, p *Page) (SessionState, error) {
		if err := p.Goto(ctx, web.URL+"/wedge"); err != nil {
			return nil, err
		}
		if err := p.Click(ctx, "button"); err != nil {
			return nil, err
		}
		p.Checkpoint(ctx, "shelf:looping")
		wedged = time.Now()
		if err := p.WaitFor(ctx, "#never"); err != nil {
			return nil, err
		}
		return Unknown{}, nil
	}
	const limit = 8 * time.Second
	r := play(t, shelf(of, nil), b, runOptions{env: map[string]string{"PDPP_SESSION_ESTABLISH_WATCHDOG_MS": "8000"}})
	if r.code() != "shelf_session_establish_timeout" || !*r.done.Error.Retryable ||
		!strings.Contains(r.stderr, "shelf:looping") {
		t.Errorf("%+v", r)
	}
	if late := r.doneAt.Sub(wedged.Add(limit)); late > time.Minute {
		t.Errorf("DONE came %s after the deadline", late)
	}
	if _, left := vanish(t, b); left > 0 {
		t.Errorf("%d processes left", left)
	}
	again := play(t, shelf(web.known(), nil), b, runOptions{})
	if again.code() != "shelf_session_required" {
		t.Errorf("the next run: %+v", again)
	}
}

// TestBrowserDies: a browser that is killed ends the run as something to repeat.
func TestBrowserDies(t *testing.T) {
	web := newSite(t)
	b := roomFor(t, web)
	of := web.known()
	of.Cookie = ""
	of.Probe = func(ctx context.Context, p *Page) (SessionState, error) {
		if _, err := p.Fetch(ctx, governhttp.Request{Path: "/api/session"}); err != nil {
			return nil, err
		}
		return Live{Account: "ada"}, nil
	}
	r := play(t, shelf(of, func(_ context.Context, b *Browser) error {
		return syscall.Kill(b.process.cmd.Process.Pid, syscall.SIGKILL)
	}), b, runOptions{})
	if r.code() != "shelf_browser_lost" || !*r.done.Error.Retryable {
		t.Errorf("%+v", r.done.Error)
	}
}

// The error names what a run lacks and what to do.
func TestNoBrowser(t *testing.T) {
	web := newSite(t)
	b := roomFor(t, web)
	b.Program = filepath.Join(b.Home, "missing")
	if r := play(t, shelf(web.known(), nil), b, runOptions{}); r.code() != "shelf_browser_failed" ||
		!*r.done.Error.Retryable {
		t.Errorf("%+v", r.done.Error)
	}
	refuses := filepath.Join(filepath.Dir(b.Home), "refuses")
	must(t, os.WriteFile(refuses, []byte("#!/bin/sh\necho cannot start here >&2\nexit 1\n"), 0o755))
	b.Program = refuses
	if r := play(t, shelf(web.known(), nil), b, runOptions{}); r.code() != "shelf_browser_failed" ||
		!strings.Contains(r.stderr, "cannot start here") {
		t.Errorf("%+v, %s", r.done.Error, r.stderr)
	}
}

func TestSelfTest(t *testing.T) {
	must(t, SelfTest(within(t, time.Minute), program(t)))
	if err := SelfTest(within(t, time.Minute), "/bin/false"); err == nil {
		t.Error("a program that is no browser passes")
	}
}

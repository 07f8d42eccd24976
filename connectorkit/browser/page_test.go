package browser

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// TestPage: the few things that a connector does on a page.
func TestPage(t *testing.T) {
	b := lend(t)
	ctx := within(t, time.Minute)
	b.web.mux.HandleFunc("GET /p/form",
		document("Form", `<p id=said>nothing</p><input id=name oninput="said.textContent = 'hello ' + this.value">`+
			`<button id=go onclick="alert('stop'); setTimeout(() => { const e = document.createElement('b'); e.id = 'late'; `+
			`e.textContent = 'late'; document.body.append(e) }, 50)">Go</button>`))
	p := b.Page()
	must(t, p.Goto(ctx, b.web.URL+"/p/form"))
	must(t, p.Fill(ctx, "#name", "Ada"))
	if text, err := p.Text(ctx, "#said"); err != nil || text != "hello Ada" {
		t.Errorf("%q, %v", text, err)
	}
	must(t, p.Click(ctx, "#go")) // its dialog stops nothing
	must(t, p.WaitFor(ctx, "#late"))
	if err := p.Click(ctx, "#absent"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an element that is not there: %v", err)
	}
	if err := p.Goto(ctx, "http://169.254.169.254/"); err == nil {
		t.Error("a page of this network was loaded")
	}
}

// TestDownload: what a page offers is saved when that was asked for, within its bound.
func TestDownload(t *testing.T) {
	b := lend(t)
	ctx := within(t, time.Minute)
	const size = 2 << 20
	served := make(chan struct{}, 3)
	b.web.mux.HandleFunc("GET /d/file", func(w http.ResponseWriter, r *http.Request) {
		defer func() { served <- struct{}{} }()
		w.Header().Set("Content-Disposition", `attachment; filename="../../export.zip"`)
		_, _ = w.Write(make([]byte, size))
	})
	b.web.mux.HandleFunc("GET /d/page", document("Export", `<a id=get href="/d/file">Export</a>`))
	p := b.Page()
	must(t, p.Goto(ctx, b.web.URL+"/d/page"))
	get := func(ctx context.Context) error { return p.Click(ctx, "#get") }
	name, err := p.Download(ctx, size, get)
	must(t, err)
	info, err := os.Stat(name)
	must(t, err)
	if info.Size() != size || filepath.Dir(name) != filepath.Join(b.binding.Home, downloadsDir) {
		t.Errorf("%s has %d bytes", name, info.Size())
	}
	must(t, os.Remove(name))
	if _, err := p.Download(ctx, size-1, get); err == nil || !strings.Contains(err.Error(), "exceeds") {
		t.Errorf("a file beyond the bound: %v", err)
	}
	<-served
	<-served
	must(t, get(ctx)) // a request that was not expected
	<-served          // the browser took all of it, or cut it off
	until(t, "the folder of downloads is empty", func() bool {
		files, err := os.ReadDir(filepath.Join(b.binding.Home, downloadsDir))
		must(t, err)
		return len(files) == 0
	})
}

// A challenge in a response is reported, whatever the probe concludes.
func TestWall(t *testing.T) {
	b := lend(t)
	ctx := within(t, time.Minute)
	own := b.site
	defer func() { b.site = own }()
	b.site.Probe = func(ctx context.Context, p *Page) (SessionState, error) {
		_, err := p.Fetch(ctx, governhttp.Request{Path: "/api/session"})
		return Unknown{}, err
	}
	b.site.Wall = func(r *governhttp.Response) bool { return r.Header.Get("X-Wall") != "" }
	for _, wall := range []bool{false, true, false} {
		b.web.mu.Lock()
		b.web.wall = wall
		b.web.mu.Unlock()
		state, err := (*browserDesk)(b.Browser).probe(ctx)
		must(t, err)
		if _, walled := state.(Walled); walled != wall {
			t.Errorf("the wall is %v: %T", wall, state)
		}
	}
}

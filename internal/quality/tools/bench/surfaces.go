package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/console"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/mcp"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
	"github.com/pdpp-go/pdpp/internal/view"
	httpserver "github.com/pdpp-go/pdpp/internal/web/server"
)

// measureSurfaces measures what owners and clients open: the dashboard against the
// verdicts that it shows, a page of records and a search against fewer records, and
// what 200 open pages cost.
func measureSurfaces(ctx context.Context, c config, dir string, r *report) error {
	if err := r.measureDashboards(ctx, c, dir); err != nil {
		return err
	}
	return r.measureReading(ctx, c, dir)
}

// openAuth admits every request, because authentication is not measured.
type openAuth struct{}

func (openAuth) Pages(next http.Handler) http.Handler     { return next }
func (openAuth) Confirmed(next http.Handler) http.Handler { return next }
func (openAuth) Fresh(context.Context) bool               { return true }
func (openAuth) PasskeysAt(*http.Request) bool            { return false }

// surface is the console and the routes of clients over a store, as a server has them.
func surface(ctx context.Context, st store.Store, now func() time.Time) (http.Handler, error) {
	log := slog.New(slog.DiscardHandler)
	cursors, err := grants.NewCursors(ctx, st, now())
	if err != nil {
		return nil, err
	}
	shared := grants.NewService(st, "http://127.0.0.1", now)
	return httpserver.New(httpserver.Config{Log: log, Mount: func(mux *http.ServeMux) {
		read := readapi.New(readapi.Config{Grants: shared, Cursors: cursors, Store: st,
			IsOwner: func(*http.Request) (bool, error) { return true, nil }, Now: now, Log: log})
		for _, route := range read.Routes() {
			mux.Handle(route.Pattern, route.Handle)
		}
		mux.Handle(mcp.Path, mcp.Handler(mcp.HTTPConfig{Routes: mux, Log: log,
			Admit:  func(*http.Request) (bool, error) { return false, nil },
			Refuse: func(http.ResponseWriter, *http.Request, error) {}}))
		console.Mount(mux, console.Config{
			Owner: service.New(service.Config{Store: st, GrantService: shared, Now: now}), Auth: openAuth{}, Now: now, Log: log,
			PageHeaders: httpserver.PageHeaders,
			Ending:      ctx.Done(),
		})
	}}), nil
}

// get serves one request, and returns its duration in milliseconds and its size in bytes.
func get(h http.Handler, path string) (float64, int, error) {
	return serveOnce(h, httptest.NewRequest(http.MethodGet, path, nil))
}

// callTool serves one call of a tool over HTTP.
func callTool(h http.Handler, name, arguments string) (float64, int, error) {
	r := httptest.NewRequest(http.MethodPost, mcp.Path, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return serveOnce(h, r)
}

func serveOnce(h http.Handler, r *http.Request) (float64, int, error) {
	w := httptest.NewRecorder()
	r.Header.Set("Authorization", "Bearer owner") // surface maps it to the owner
	begin := time.Now()
	h.ServeHTTP(w, r)
	took := time.Since(begin).Seconds() * 1000
	if w.Code != http.StatusOK || bytes.Contains(w.Body.Bytes(), []byte(`"isError":true`)) {
		return 0, 0, fmt.Errorf("%s %s: %d: %.200s", r.Method, r.URL.Path, w.Code, w.Body)
	}
	return took, w.Body.Len(), nil
}

func percentile(sorted []float64, p float64) float64 { return sorted[int(p*float64(len(sorted)-1))] }

// visits is how often a page is asked for.
const visits = 60

func (r *report) measureDashboards(ctx context.Context, c config, dir string) error {
	var costs []float64
	now := func() time.Time { return storetest.Now.Add(time.Hour) }
	for _, n := range []int{100, 1000} {
		st, err := sqlite.Open(ctx, filepath.Join(dir, fmt.Sprintf("dashboard%d.db", n)), sqlite.Options{})
		if err != nil {
			return err
		}
		defer st.Close()
		if err := storetest.FillEvidence(ctx, st, n); err != nil {
			return fmt.Errorf("fill a store: %w", err)
		}
		h, err := surface(ctx, st, now)
		if err != nil {
			return err
		}
		connections := view.View{Reader: st, Now: now}
		var whole, verdicts []float64
		size := 0
		for i := range visits + 5 {
			begin := time.Now()
			if _, err := connections.All(ctx); err != nil {
				return err
			}
			judged := time.Since(begin).Seconds() * 1000
			took, bytes, err := get(h, "/sources")
			if err != nil {
				return err
			}
			if i >= 5 { // the first prepare statements
				whole, verdicts, size = append(whole, took), append(verdicts, judged), bytes
			}
		}
		slices.Sort(whole)
		slices.Sort(verdicts)
		costs = append(costs, percentile(whole, 0.5))
		r.tell(figure{Name: fmt.Sprintf("dashboard of %d connections, p95", n), Value: percentile(whole, 0.95), Unit: "ms",
			Below: map[int]float64{1000: 60}[n],
			Note: fmt.Sprintf("p50 %.1f ms, %d KiB; its verdicts alone %.1f ms", percentile(whole, 0.5), size>>10,
				percentile(verdicts, 0.5))})
		r.tell(figure{Name: fmt.Sprintf("dashboard of %d: against its verdicts", n),
			Value: percentile(whole, 0.5) / percentile(verdicts, 0.5), Unit: "x", Below: 2})
		if n == 1000 {
			if err := r.measureLive(ctx, h, st); err != nil {
				return err
			}
		}
	}
	r.tell(figure{Name: "dashboard of 1000 against that of 100", Value: costs[1] / costs[0], Unit: "x", Below: 12})
	return nil
}

// openPages is how many pages follow the same dashboard.
const openPages = 200

// liveAddress is where an open page gets its changes from.
var liveAddress = regexp.MustCompile(`"(/sources/events\?seen=[^"]*)"`)

// measureLive opens many pages that follow the dashboard, changes one connection, and waits until
// all pages have received the change. The change moves the connection within its group, so that
// the whole list is sent. That is the most that one change can cost.
func (r *report) measureLive(ctx context.Context, h http.Handler, st store.Store) error {
	srv := httptest.NewServer(h)
	defer srv.Close()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/sources", nil))
	address := liveAddress.FindStringSubmatch(w.Body.String())
	if address == nil {
		return errors.New("the dashboard does not say where its changes are")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var opened, waitGroup sync.WaitGroup
	opened.Add(openPages)
	waitGroup.Add(openPages)
	failed := make(chan error, openPages)
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0}}
	const name = "A name that is new"
	for range openPages {
		go func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+html.UnescapeString(address[1]), nil)
			if err != nil {
				failed <- err
				return
			}
			resp, err := client.Do(req)
			if err != nil {
				failed <- err
				return
			}
			defer resp.Body.Close()
			opened.Done()
			lines := bufio.NewReader(resp.Body)
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					failed <- err
					return
				}
				if strings.Contains(line, name) {
					waitGroup.Done()
					_, _ = io.Copy(io.Discard, lines)
					return
				}
			}
		}()
	}
	if err := awaited(ctx, &opened, failed); err != nil {
		return err
	}
	before, began := cpu(), time.Now()
	select {
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	quiet := (cpu() - before).Seconds() / time.Since(began).Seconds() * 100
	conn, err := st.Connection(ctx, "cin_example_00007")
	if err != nil {
		return err
	}
	conn.DisplayName = name
	began = time.Now()
	if err := st.UpdateConnection(ctx, conn); err != nil {
		return err
	}
	if err := awaited(ctx, &waitGroup, failed); err != nil {
		return err
	}
	r.tell(figure{Name: "200 open dashboards of 1000: a change reaches all in", Value: time.Since(began).Seconds() * 1000,
		Unit: "ms", Below: 3000})
	r.tell(figure{Name: "200 open dashboards of 1000: one core, nothing changing", Value: quiet, Unit: "%", Below: 10})
	return nil
}

func awaited(ctx context.Context, all *sync.WaitGroup, failed <-chan error) error {
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case err := <-failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cpu is what this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package devicetest

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// road is the network between the device and its server.
type road struct {
	*httptest.Server
	mu     sync.Mutex
	dice   *rand.Rand
	bad    []mishap // what may happen; empty: nothing
	counts map[mishap]int
	device func() // ends the device's process
	server func() // ends the server's
	sleep  func() // stops the device's for a moment

	refused atomic.Int64 // requests that the server itself could not serve
}

type mishap string

const (
	resets        mishap = "reset before the server"
	halfBody      mishap = "half a body"
	lostAnswer    mishap = "lost answer"
	blackHole     mishap = "black hole"
	portal        mishap = "portal, 302"
	portalPage    mishap = "portal, a page"
	busy          mishap = "503"
	tooMany       mishap = "429"
	slept         mishap = "sleep, the clock moved by an hour"
	killDevice    mishap = "device killed before"
	killDeviceNow mishap = "device killed after"
	killServer    mishap = "server killed before"
	killServerNow mishap = "server killed after"
)

func newRoad(t *testing.T, seed uint64, to string) *road {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	r := &road{dice: rand.New(rand.NewPCG(seed, 15)), counts: map[mishap]int{}}
	proxy := httputil.NewSingleHostReverseProxy(target)
	// as if it had been reached directly
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	proxy.ErrorLog = quiet
	proxy.ModifyResponse = func(resp *http.Response) error {
		if resp.StatusCode >= 500 {
			r.refused.Add(1)
		}
		return nil
	}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter,
		req *http.Request) {
		r.travel(proxy, w, req)
	}))
	r.Config.ErrorLog = quiet
	r.Start()
	t.Cleanup(r.Close)
	return r
}

// happens draws what becomes of a request.
func (r *road) happens() mishap {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.bad) == 0 || r.dice.IntN(3) > 0 {
		return ""
	}
	m := r.bad[r.dice.IntN(len(r.bad))]
	r.counts[m]++
	return m
}

func (r *road) count(of ...mishap) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range of {
		n += r.counts[m]
	}
	return n
}

func (r *road) allow(bad ...mishap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bad = bad
}

func (r *road) travel(proxy http.Handler, w http.ResponseWriter, req *http.Request) {
	switch m := r.happens(); m {
	case resets:
		panic(http.ErrAbortHandler)
	case halfBody:
		_, _ = io.CopyN(io.Discard, req.Body, max(req.ContentLength/2, 1))
		panic(http.ErrAbortHandler)
	case blackHole:
		timer := time.NewTimer(200 * time.Millisecond) // or until the client cancels
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-req.Context().Done():
		}
		panic(http.ErrAbortHandler)
	case portal:
		w.Header().Set("Location", "http://portal.example/")
		w.WriteHeader(http.StatusFound)
	case portalPage:
		_, _ = io.WriteString(w, "<html>Welcome to the hotel</html>")
	case busy, tooMany:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(map[mishap]int{busy: 503, tooMany: 429}[m])
	case killDevice:
		r.device()
		panic(http.ErrAbortHandler)
	case slept:
		r.sleep()
		proxy.ServeHTTP(w, req)
		r.sleep()
	case killServer:
		r.server()
		proxy.ServeHTTP(w, req)
	case lostAnswer, killDeviceNow, killServerNow:
		proxy.ServeHTTP(httptest.NewRecorder(), req)
		switch m {
		case killDeviceNow:
			r.device()
		case killServerNow:
			r.server()
		}
		panic(http.ErrAbortHandler)
	default:
		proxy.ServeHTTP(w, req)
	}
}

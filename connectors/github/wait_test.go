package github

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	provider "github.com/pdpp-go/pdpp/providersim/github"
)

// direct carries requests to a handler without a network, so that virtual time
// can pass.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.RequestURI = r.URL.RequestURI()
	d.ServeHTTP(w, r)
	resp := w.Result()
	resp.Body = io.NopCloser(w.Body)
	return resp, nil
}

// clientOf is the connector's client over a simulated account.
func clientOf(t *testing.T, sim *provider.GitHub, adjust ...func(*governor.Config)) *governhttp.Client {
	t.Helper()
	const base = "http://api.github.test"
	sender := governhttp.NewSender(governor.New("github", adjust...), governhttp.SenderOptions{})
	client, err := governhttp.New(governhttp.Options{
		BaseURL: base, Classify: new(responseClassifier).classifyResponse, Header: requestHeaders(sim.Token(), apiVersion),
		Transport: direct{sim.Handler()}, Sender: sender,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestSecondaryLimitIsWaitedOut sends faster than the secondary limit allows. Every request is answered in the end,
// and none is sent before the announced time, or within a minute when none was announced.
func TestSecondaryLimitIsWaitedOut(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"told": false, "silent": true} {
		for status, word := range map[int]string{http.StatusForbidden: "403", http.StatusTooManyRequests: "429"} {
			t.Run(name+" "+word, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sim := provider.New(provider.Config{Seed: 3, Points: 40, SilentSecondary: silent, LimitStatus: status})
					a := clientOf(t, sim, func(c *governor.Config) { c.Ceiling = 100 * time.Millisecond })
					for range 150 {
						if _, err := a.Get(context.Background(), "user", nil); err != nil {
							t.Fatal(err)
						}
					}
					refused := 0
					requests := sim.Gate().Requests()
					for i, r := range requests {
						if r.Status != status {
							continue
						}
						refused++
						if pause := requests[i+1].At.Sub(r.At); silent && pause < time.Minute {
							t.Errorf("the next request came after %s", pause)
						}
						if silent && requests[i+1].Status == status {
							t.Error("a minute of quiet was not enough")
						}
					}
					if refused == 0 || refused > 8 {
						t.Errorf("%d refusals: the limit was not met, or not learned", refused)
					}
				})
			})
		}
	}
}

// TestSpentAllowanceIsWaitedOut reads the reset in GitHub's time: a clock here
// that is wrong by decades changes nothing.
func TestSpentAllowanceIsWaitedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ahead := func() time.Time { return time.Now().AddDate(26, 0, 0) }
		sim := provider.New(provider.Config{Seed: 3, Primary: 20, Now: ahead})
		a := clientOf(t, sim, func(c *governor.Config) { c.MaxWait = 0 })
		for range 21 {
			if _, err := a.Get(context.Background(), "user", nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := sim.Gate().Stats().ByStatus[http.StatusForbidden]; n != 0 {
			t.Errorf("%d requests were sent beyond the announced allowance", n)
		}
		if took := time.Since(began); took < time.Hour || took.Round(time.Minute) != time.Hour {
			t.Errorf("the reset was waited for %s", took)
		}
	})
}

package governhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// A mail server that limits the pace responds in words. The connector classifies the response; the sender paces,
// retries and waits.
func ExampleSender_Do() {
	answers := []string{"NO [LIMIT] slow down", "OK FETCH completed"}
	fetch := func() string {
		first := answers[0]
		answers = answers[1:]
		return first
	}
	sender := governhttp.NewSender(governor.New("mail", func(c *governor.Config) {
		c.Discovery = 0 // an example need not wait
		c.Backoff = time.Millisecond
	}), governhttp.SenderOptions{})

	var got string
	err := sender.Do(context.Background(), func(context.Context) (governor.Outcome, error) {
		if got = fetch(); got != "OK FETCH completed" {
			return governor.Outcome{Kind: governor.Throttled}, errors.New(got)
		}
		return governor.Outcome{Kind: governor.Success}, nil
	})
	fmt.Println(got, err)
	// Output: OK FETCH completed <nil>
}

// A client governs what any library sends through an http.Client. The first request is
// refused; the library sees the answer to its repetition.
func ExampleClient() {
	asked := 0
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprintln(w, "hello", r.Header.Get("Authorization"))
	}))
	defer provider.Close()

	client, err := governhttp.New(governhttp.Options{
		BaseURL: provider.URL,
		Header:  http.Header{"Authorization": {"Bearer token"}},
		Sender: governhttp.NewSender(governor.New("lanternmail", func(c *governor.Config) {
			c.Discovery = 0 // an example need not wait
		}), governhttp.SenderOptions{}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	library := &http.Client{Transport: client}

	resp, err := library.Get(provider.URL + "/greeting")
	if err != nil {
		fmt.Println(governhttp.WithoutURL(err))
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Print(string(text), "after ", asked, " requests, ", err, "\n")
	// Output:
	// hello Bearer token
	// after 2 requests, <nil>
}

// Many goroutines may call Do at once. The sender admits as many requests as the governor has lanes open: one,
// until responses take longer than the interval.
func ExampleSender_Do_lanes() {
	sender := governhttp.NewSender(governor.New("lanternmail", func(c *governor.Config) {
		c.Discovery, c.Ceiling, c.Lanes = time.Millisecond, time.Millisecond, 3
	}), governhttp.SenderOptions{})

	var inFlight, widest atomic.Int64
	var all sync.WaitGroup
	for range 60 {
		all.Go(func() {
			err := sender.Do(context.Background(), func(context.Context) (governor.Outcome, error) {
				n := inFlight.Add(1)
				defer inFlight.Add(-1)
				for w := widest.Load(); n > w && !widest.CompareAndSwap(w, n); w = widest.Load() {
				}
				time.Sleep(10 * time.Millisecond) // the provider is slow
				return governor.Outcome{Kind: governor.Success}, nil
			})
			if err != nil {
				fmt.Println(err)
			}
		})
	}
	all.Wait()
	fmt.Println("several at once:", widest.Load() > 1)
	fmt.Println("never more than three:", widest.Load() <= 3)
	// Output:
	// several at once: true
	// never more than three: true
}

// A program that runs repeatedly stores what the governor learned, and starts the next run at the learned pace.
func ExampleNewSender() {
	kept := map[string]float64{} // a file, a database
	begin := func() (*governor.Governor, *http.Client, error) {
		g := governor.New("lanternmail", func(c *governor.Config) {
			c.Discovery, c.Ceiling = 20*time.Millisecond, 5*time.Millisecond
			if learned, fresh := governor.RestoreLearned(kept, time.Now()); fresh {
				c.Learned = &learned
			}
		})
		client, err := governhttp.New(governhttp.Options{
			BaseURL: "http://lanternmail.example", Transport: answering{},
			Sender: governhttp.NewSender(g, governhttp.SenderOptions{}),
		})
		return g, &http.Client{Transport: client}, err
	}

	g, client, err := begin()
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 20 {
		resp, err := client.Get("http://lanternmail.example/letters")
		if err != nil {
			fmt.Println(governhttp.WithoutURL(err))
			return
		}
		resp.Body.Close()
	}
	if learned, ok := g.Snapshot(time.Now()); ok {
		kept = learned.Fields()
	}

	g, _, err = begin()
	rate, _ := g.Rate()
	fmt.Println("the next run begins faster than the first:", rate.Interval < 20*time.Millisecond, err)
	// Output: the next run begins faster than the first: true <nil>
}

// answering is a provider without a network.
type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
}

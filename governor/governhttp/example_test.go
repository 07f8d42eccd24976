package governhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"pdpp/governor"
	"pdpp/governor/governhttp"
)

// A mail server that refuses because of the pace answers in words. The connector
// names the outcome; pacing, repetition and waiting are the sender's.
func ExampleSender_Do() {
	answers := []string{"NO [LIMIT] slow down", "OK FETCH completed"}
	fetch := func() string {
		first := answers[0]
		answers = answers[1:]
		return first
	}
	sender := governhttp.NewSender(governor.New("mail", func(c *governor.Config) {
		c.Discovery = 0 // an example need not be polite
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
			c.Discovery = 0 // an example need not be polite
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

package governhttp_test

import (
	"context"
	"errors"
	"fmt"
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

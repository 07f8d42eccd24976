package source

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Requests at once obtain one token, and replace one that was refused once.
func TestTokenKeeperAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obtained := 0
		k := &tokenKeeper{now: time.Now, obtain: func(context.Context) (accessToken, error) {
			obtained++
			return accessToken{fmt.Sprint("token-", obtained), time.Now().Add(time.Hour)}, nil
		}}
		atOnce := func(f func() error) {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if err := f(); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		isToken := func(want string) func() error {
			return func() error {
				if got, err := k.current(t.Context()); err != nil || got != want {
					return fmt.Errorf("the token is %q, want %q: %w", got, want, err)
				}
				return nil
			}
		}
		atOnce(isToken("token-1"))
		atOnce(func() error {
			if renewed, err := k.renew(t.Context(), "token-1"); !renewed || err != nil {
				return fmt.Errorf("not renewed: %w", err)
			}
			return nil
		})
		atOnce(isToken("token-2"))
		if renewed, err := k.renew(t.Context(), "token-2"); renewed || err != nil {
			t.Errorf("a fresh token that is refused at once was replaced: %v", err)
		}
		time.Sleep(time.Hour)
		atOnce(isToken("token-3"))
	})
}

// A token that cannot be obtained is asked for again by the next request.
func TestTokenKeeperFails(t *testing.T) {
	fails := true
	k := &tokenKeeper{now: time.Now, obtain: func(context.Context) (accessToken, error) {
		if fails {
			return accessToken{}, errors.New("no answer")
		}
		return accessToken{value: "token"}, nil
	}}
	if _, err := k.current(t.Context()); err == nil {
		t.Error("no error")
	}
	fails = false
	if got, err := k.current(t.Context()); got != "token" || err != nil {
		t.Errorf("%q: %v", got, err)
	}
}

package interaction_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"pdpp/internal/interaction"
	"pdpp/protocol"
)

func otp(id string) protocol.Interaction {
	return protocol.Interaction{RequestID: id, Kind: protocol.AskOTP, Message: "code?"}
}

func answer(id, data string) protocol.InteractionResponse {
	return protocol.InteractionResponse{RequestID: id, Status: protocol.ResponseSuccess, Data: jsontext.Value(data)}
}

func TestAnswerReachesTheRunThatAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d interaction.Desk
		got := make(map[string]string)
		var mu sync.Mutex
		var runs sync.WaitGroup
		for _, run := range []string{"run-1", "run-2"} {
			runs.Go(func() {
				r, err := d.Ask(t.Context(), run, otp("q")) // the same id in two runs
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				got[run] = string(r.Data)
			})
			synctest.Wait()
		}
		var open []string
		for _, q := range d.Open("") {
			open = append(open, q.RunID+"/"+q.RequestID)
		}
		if diff := cmp.Diff([]string{"run-1/q", "run-2/q"}, open); diff != "" {
			t.Errorf("open questions (-want +got):\n%s", diff)
		}
		if err := d.Answer("run-2", answer("q", `{"x":2}`)); err != nil {
			t.Error(err)
		}
		if q := d.Open("run-1"); len(q) != 1 || len(d.Open("run-2")) != 0 {
			t.Errorf("open for run-1: %v", q)
		}
		if err := d.Answer("run-1", answer("q", `{"x":1}`)); err != nil {
			t.Error(err)
		}
		runs.Wait()
		if diff := cmp.Diff(map[string]string{"run-1": `{"x":1}`, "run-2": `{"x":2}`}, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
}

func TestAnswersThatMeetNoQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d interaction.Desk
		if err := d.Answer("run-1", answer("q", "{}")); !errors.Is(err, interaction.ErrNotOpen) {
			t.Errorf("nothing was asked: %v", err)
		}
		go func() { _, _ = d.Ask(t.Context(), "run-1", otp("q")) }()
		synctest.Wait()
		for _, r := range []protocol.InteractionResponse{answer("other", "{}"), answer("", "{}")} {
			if err := d.Answer("run-1", r); !errors.Is(err, interaction.ErrNotOpen) {
				t.Errorf("answer to %q: %v", r.RequestID, err)
			}
		}
		if err := d.Answer("run-2", answer("q", "{}")); !errors.Is(err, interaction.ErrNotOpen) {
			t.Errorf("answer to another run: %v", err)
		}
		for _, status := range []protocol.ResponseStatus{"", "maybe", protocol.ResponseTimeout} {
			r := protocol.InteractionResponse{RequestID: "q", Status: status}
			if err := d.Answer("run-1", r); !errors.Is(err, interaction.ErrInvalidStatus) {
				t.Errorf("answer with status %q: %v", status, err)
			}
		}
		if len(d.Open("run-1")) != 1 {
			t.Error("a refused answer closed the question")
		}
		if err := d.Answer("run-1", protocol.InteractionResponse{RequestID: "q", Status: protocol.ResponseCancelled}); err != nil {
			t.Error(err)
		}
		if err := d.Answer("run-1", answer("q", "{}")); !errors.Is(err, interaction.ErrNotOpen) {
			t.Errorf("second answer: %v", err)
		}
	})
}

func TestQuestionIsWithdrawnWithItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d interaction.Desk
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		asked := time.Now()
		_, err := d.Ask(ctx, "run-1", otp("q"))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(asked) != time.Hour {
			t.Errorf("after %s: %v", time.Since(asked), err)
		}
		if err := d.Answer("run-1", answer("q", "{}")); !errors.Is(err, interaction.ErrNotOpen) || len(d.Open("")) != 0 {
			t.Errorf("a late answer: %v", err)
		}
	})
}

// An answer and the expiry at the same instant: exactly one of them counts, on
// both sides.
func TestAnswerRacesExpiry(t *testing.T) {
	answered := 0
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			var d interaction.Desk
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			accepted := make(chan bool, 1)
			go func() {
				<-time.After(time.Second)
				accepted <- d.Answer("run-1", answer("q", "{}")) == nil
			}()
			r, err := d.Ask(ctx, "run-1", otp("q"))
			if <-accepted != (err == nil) || (err == nil) != (r.Status == protocol.ResponseSuccess) {
				t.Errorf("the surface and the run disagree: %v, %+v", err, r)
			}
			if err == nil {
				answered++
			}
			if len(d.Open("")) != 0 {
				t.Error("the question is still open")
			}
		})
	}
	t.Logf("the answer won %d of 200 times", answered)
}

func TestOneAnswerOfManyCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d interaction.Desk
		got := make(chan protocol.InteractionResponse, 1)
		go func() {
			r, _ := d.Ask(t.Context(), "run-1", otp("q"))
			got <- r
		}()
		synctest.Wait()
		var surfaces sync.WaitGroup
		accepted := make(chan string, 20)
		for i := range 20 {
			surfaces.Go(func() {
				if data := fmt.Sprintf(`{"x":%d}`, i); d.Answer("run-1", answer("q", data)) == nil {
					accepted <- data
				}
			})
		}
		surfaces.Wait()
		if r := <-got; len(accepted) != 1 || <-accepted != string(r.Data) {
			t.Errorf("the run got %s, %d answers were accepted", r.Data, len(accepted)+1)
		}
	})
}

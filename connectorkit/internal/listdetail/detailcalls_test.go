package listdetail

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runnerlink"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
)

// A panic of the author's code ends the process in the turn of its item, not before.
func TestPanicHasItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &runstate.Run{Out: runnerlink.NewLineOutput(discarded{}, nil, func(error) {})}
		defer func() { _ = r.Out.FinishOutput(context.Background(), nil) }()
		l := &Run{r: r, ahead: map[string]fetchResult{}, landed: make(chan struct{}, 1)}
		fetch := func(_ context.Context, item Item) ([]runstate.Record, error) {
			if item.Key == "b" {
				panic("broken")
			}
			time.Sleep(time.Second)
			return nil, nil
		}
		for _, key := range []string{"a", "b"} {
			item := Item{Key: key}
			l.ahead[key] = fetchResult{
				item: item,
				flight: startDetailCall(t.Context(), func(ctx context.Context) ([]runstate.Record, error) {
					return fetch(ctx, item)
				}, l.landed),
			}
		}
		if _, err := l.obtainDetails(t.Context(), Item{Key: "a"}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if text := fmt.Sprint(
				recover(),
			); !strings.Contains(text, "broken") ||
				!strings.Contains(text, "TestPanicHasItsTurn") {
				t.Errorf("the panic says %s", text)
			}
		}()
		_, err := l.obtainDetails(t.Context(), Item{Key: "b"})
		t.Errorf("no panic, %v", err)
	})
}

type discarded struct{}

func (discarded) Write(b []byte) (int, error) { return len(b), nil }

// What is under way when a lane ends early is called off, and over before the lane is.
func TestAbandonedCallsAreOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &Run{ahead: map[string]fetchResult{"left out": {omitted: true}}, landed: make(chan struct{}, 1)}
		over := 0
		for _, key := range []string{"a", "b"} {
			call := func(ctx context.Context) ([]runstate.Record, error) {
				<-ctx.Done()
				time.Sleep(time.Duration(over+1) * time.Second)
				over++
				return nil, ctx.Err()
			}
			l.ahead[key] = fetchResult{flight: startDetailCall(t.Context(), call, l.landed)}
		}
		if l.cancelCalls(); over != 2 || len(l.ahead) != 1 {
			t.Errorf("%d calls are over, %d are waited for", over, len(l.ahead)-1)
		}
	})
}

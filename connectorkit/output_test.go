package connectorkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// TestOpenQuestionHoldsUpNoRequest announces a wait while the owner is being
// asked: nothing is written, and the request goes on.
func TestOpenQuestionHoldsUpNoRequest(t *testing.T) {
	t.Parallel()
	var written bytes.Buffer
	r := &runState{out: newLineOutput(&written, func(error) {})}
	r.out.mu.Lock() // as an open question does
	r.waiting(t.Context(), governhttp.Wait{Source: governhttp.Retry, For: time.Minute})
	r.out.mu.Unlock()
	r.waiting(t.Context(), governhttp.Wait{Source: governhttp.Retry, For: 2 * time.Minute})
	if err := r.out.finish(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if said := written.String(); strings.Contains(said, "60 s") || !strings.Contains(said, "waiting 120 s") {
		t.Errorf("said %q", said)
	}
}

// TestLogHasNoURL fails as a library over net/http does.
func TestLogHasNoURL(t *testing.T) {
	t.Parallel()
	broken := fmt.Errorf(
		"list: %w",
		&url.Error{Op: "Get", URL: "https://archive.test/?q=private", Err: errors.New("broken pipe")},
	)
	a := newArchive(3, 10)
	a.fetch = func(int, string) error { return broken }
	failing := PagedStream{Stream: "log", Page: func(context.Context, Cursor) (Page, error) { return Page{}, broken }}
	var log bytes.Buffer
	r := newVault().run(t, collecting(t, failing, a.lane()), options{log: &log})
	if r.done.Status != protocol.DoneFailed || !strings.Contains(log.String(), "broken pipe") ||
		strings.Contains(log.String(), "private") {
		t.Errorf("%s, log %s", describe(r), log.String())
	}
}

package connectorkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/protocol"
)

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

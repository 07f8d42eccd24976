package browser

import (
	"context"
	"errors"
	"net/http"

	"pdpp/connectorkit"
)

// Browser is a started browser whose session is proven.
type Browser struct{}

var errUnbuilt = errors.New("browser: this build has none")

// Open starts the browser that START's binding names, proves the session and returns; the
// browser ends with the run. When the owner is not signed in, a run that may ask hands the
// page over and waits. An error ends the run with the code that says why.
func Open(ctx context.Context, s *connectorkit.Setup, site Site) (*Browser, error) {
	return nil, errUnbuilt
}

// Transport carries requests as the site's own page would send them.
func (b *Browser) Transport() http.RoundTripper { return nil }

// Page is the page that belongs to the connector.
func (b *Browser) Page() *Page { return nil }

// SelfTest starts the program with a throw-away profile, loads a page of its own and ends it.
func SelfTest(ctx context.Context, program string) error { return errUnbuilt }

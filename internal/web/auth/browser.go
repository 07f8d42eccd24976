package auth

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/web/strangers"
)

// A browser that has signed in keeps a cookie that opens nothing: it only gives the
// browser tries of its own at signing in, so that others who guess, from the same
// address or from everywhere, cannot keep its owner out.
const (
	browserCookie = "pdpp_browser"
	// browserLifetime is the longest that browsers keep a cookie.
	browserLifetime = 400 * 24 * time.Hour
)

// whoTries gives the key that counts the tries of a request, and whether it is that of
// a browser that has signed in before.
func (d *Auth) whoTries(r *http.Request) (key string, known bool, err error) {
	name := d.cookieOf(r, browserCookie)
	if name != "" {
		hash := digest(name)
		err = d.strangers.LookUp(r, name, func(ctx context.Context) (bool, error) {
			known, err = d.store.BrowserKnown(ctx, hash, d.now().Add(-browserLifetime))
			return known, err
		})
		if err != nil {
			return "", false, fmt.Errorf("look the browser up: %w", err)
		}
		if known {
			return "browser " + string(hash), true, nil
		}
	}
	return "from " + strangers.Address(r), false, nil
}

// remember makes the browser of a request one that has signed in.
func (d *Auth) remember(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	name := d.cookieOf(r, browserCookie)
	if _, known, err := d.whoTries(r); err != nil {
		return err
	} else if !known { // a name that was not given here may be known to somebody else
		name = rand.Text()
	}
	if err := d.store.PutBrowser(ctx, digest(name), d.now()); err != nil {
		return fmt.Errorf("remember the browser: %w", err)
	}
	http.SetCookie(w, d.cookie(r, browserCookie, name, int(browserLifetime/time.Second)))
	return nil
}

package auth

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// A browser that signed in keeps a cookie that grants nothing but its own sign-in attempts. So others who guess
// passwords cannot lock its owner out.
const (
	browserCookie = "pdpp_browser"
	// browserLifetime is the longest that browsers keep a cookie.
	browserLifetime = 400 * 24 * time.Hour
)

// attemptKey returns the key under which the attempts of a request are counted, and whether it belongs to a browser
// that signed in before.
func (d *Auth) attemptKey(r *http.Request) (key string, known bool, err error) {
	name := d.cookieOf(r, browserCookie)
	if name != "" {
		hash := secretDigest(name)
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
	return "from " + tokenqueue.Address(r), false, nil
}

// rememberBrowser makes the browser of a request one that has signed in.
func (d *Auth) rememberBrowser(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	name := d.cookieOf(r, browserCookie)
	if _, known, err := d.attemptKey(r); err != nil {
		return err
	} else if !known { // a name from elsewhere may be known to others
		name = rand.Text()
	}
	if err := d.store.PutBrowser(ctx, secretDigest(name), d.now()); err != nil {
		return fmt.Errorf("remember the browser: %w", err)
	}
	http.SetCookie(w, d.cookie(r, browserCookie, name, int(browserLifetime/time.Second)))
	return nil
}

package browser

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// sessionFile holds the cookies as they were when the session was last known to be good.
	// The browser writes its own down half a minute late, and some never.
	sessionFile = "session.json"
	// accountFile holds the tag of the account that the session is of.
	accountFile = "account"
	// saveInterval is how often a session is written down while it is used.
	saveInterval = 10 * time.Minute
)

type savedSession struct {
	Cookies []*network.Cookie `json:"cookies"`
}

func browserCookies(ctx context.Context, p *process) ([]*network.Cookie, error) {
	got, err := cdp.Call(ctx, p.browser, storage.GetCookies, storage.GetCookiesParams{})
	if err != nil {
		return nil, fmt.Errorf("read the session: %w", err)
	}
	return got.Cookies, nil
}

// saveSession writes the cookies to the run's folder.
func saveSession(ctx context.Context, p *process, home string) error {
	all, err := browserCookies(ctx, p)
	if err != nil {
		return err
	}
	text, err := json.Marshal(savedSession{Cookies: all}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("encode the session: %w", err)
	}
	if err := replaceFile(filepath.Join(home, sessionFile), text); err != nil {
		return fmt.Errorf("keep the session: %w", err)
	}
	return nil
}

// restoreSession sets the cookies that the browser lost: those that it had not written to disk, and those with a newer
// value in the saved file.
func restoreSession(ctx context.Context, p *process, home string) error {
	text, err := os.ReadFile(filepath.Join(home, sessionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the kept session: %w", err)
	}
	var saved savedSession
	if json.Unmarshal(text, &saved, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil // it is not ours, or was cut: the browser's own is what there is
	}
	have, err := browserCookies(ctx, p)
	if err != nil {
		return err
	}
	lost := missingCookies(saved.Cookies, have, time.Now())
	if len(lost) == 0 {
		return nil
	}
	if _, err := cdp.Call(ctx, p.browser, storage.SetCookies, storage.SetCookiesParams{Cookies: lost}); err != nil {
		return fmt.Errorf("restore the session: %w", err)
	}
	return nil
}

// missingCookies lists what is to be set so that nothing of saved is lost. Of two values the one
// that lasts longer is the later one; a site moves the end of its session with each new one.
func missingCookies(saved, have []*network.Cookie, now time.Time) []*network.CookieParam {
	known := map[string]*network.Cookie{}
	for _, c := range have {
		known[cookieKey(c)] = c
	}
	var lost []*network.CookieParam
	for _, c := range saved {
		if c == nil || !c.Session && c.Expires <= float64(now.Unix()) {
			continue
		}
		if h := known[cookieKey(c)]; h != nil && (h.Value == c.Value || c.Session || c.Expires <= h.Expires) {
			continue
		}
		lost = append(lost, cookieParam(c))
	}
	return lost
}

func cookieKey(c *network.Cookie) string {
	key := ""
	if c.PartitionKey != nil {
		key = c.PartitionKey.TopLevelSite
	}
	return strings.Join([]string{c.Name, c.Domain, c.Path, key}, "\x00")
}

func cookieParam(c *network.Cookie) *network.CookieParam {
	p := &network.CookieParam{
		Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Secure: c.Secure, HTTPOnly: c.HTTPOnly,
		SameSite: c.SameSite, Priority: c.Priority, SourceScheme: c.SourceScheme, SourcePort: c.SourcePort,
		PartitionKey: c.PartitionKey,
	}
	if !strings.HasPrefix(c.Domain, ".") {
		// A host-only cookie has no domain; the URL determines its host.
		scheme := "http"
		if c.Secure || c.SourceScheme == network.CookieSourceSchemeSecure {
			scheme = "https"
		}
		p.Domain, p.URL = "", (&url.URL{Scheme: scheme, Host: c.Domain, Path: c.Path}).String()
	}
	if !c.Session {
		p.Expires = cdp.TimeSinceEpoch(c.Expires)
	}
	return p
}

// sessionMark returns a text that changes with the site's session: with the cookies that match the pattern, or with
// any cookie of the site.
func sessionMark(all []*network.Cookie, host, pattern string) string {
	var parts []string
	for _, c := range all {
		domain := strings.TrimPrefix(c.Domain, ".")
		if (host == domain || strings.HasSuffix(host, "."+domain)) && matchesPattern(c.Name, pattern) {
			parts = append(parts, cookieKey(c)+"\x00"+c.Value)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\x01")
}

func matchesPattern(name, pattern string) bool {
	if beginning, star := strings.CutSuffix(pattern, "*"); star {
		return strings.HasPrefix(name, beginning)
	}
	return pattern == "" || name == pattern
}

package browser

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
)

const (
	// metadataLimit bounds what a question to the owner waits for (RT-13).
	metadataLimit = 2 * time.Second
	maxTitle      = 120
)

// metadata gives address and title of a page, as the browser's own process knows them: a
// page that does not answer is no hindrance. After the limit it is what was known before,
// and one line says so.
func metadata(ctx context.Context, t *tab, known place, log *slog.Logger) place {
	limited, cancel := context.WithTimeout(ctx, metadataLimit)
	defer cancel()
	got, err := cdp.Call(limited, t.p.browser, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: t.id})
	switch {
	case err == nil && got.TargetInfo != nil:
		if at := bare(got.TargetInfo.URL); at != "" {
			return place{address: at, title: titleOf(got.TargetInfo.Title, got.TargetInfo.URL)}
		}
	case limited.Err() != nil && ctx.Err() == nil:
		log.Warn("page_metadata_timeout", "after", metadataLimit)
	}
	return known
}

// titleOf is what a page calls itself; the browser puts the address in place of no title.
func titleOf(title, address string) string {
	if _, rest, _ := strings.Cut(address, "://"); title == rest || title == address {
		return ""
	}
	return shown(title)
}

// bare is an address without what may be secret in it: user, query and fragment.
func bare(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// shown is a page's text as it may be put into ours: one line, and not long.
func shown(text string) string {
	clean := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if runes := []rune(clean); len(runes) > maxTitle {
		clean = string(runes[:maxTitle-1]) + "…"
	}
	return clean
}

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

// pageMetadata returns address and title of a page from the browser process, so that a hanging page does not matter.
// After the time limit it returns the known values and logs a line.
func pageMetadata(ctx context.Context, t *tab, known pagePlace, log *slog.Logger) pagePlace {
	limited, cancel := context.WithTimeout(ctx, metadataLimit)
	defer cancel()
	got, err := cdp.Call(limited, t.p.browser, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: t.id})
	switch {
	case err == nil && got.TargetInfo != nil:
		if at := bareAddress(got.TargetInfo.URL); at != "" {
			return pagePlace{address: at, title: pageTitle(got.TargetInfo.Title, got.TargetInfo.URL)}
		}
	case limited.Err() != nil && ctx.Err() == nil:
		log.Warn("page_metadata_timeout", "after", metadataLimit)
	}
	return known
}

// pageTitle is what a page calls itself; the browser puts the address in place of no title.
func pageTitle(title, address string) string {
	if _, rest, _ := strings.Cut(address, "://"); title == rest || title == address {
		return ""
	}
	return displayText(title)
}

// bareAddress is an address without what may be secret in it: user, query and fragment.
func bareAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// displayText is a page's text as it may be put into ours: one line, and not long.
func displayText(text string) string {
	clean := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if runes := []rune(clean); len(runes) > maxTitle {
		clean = string(runes[:maxTitle-1]) + "…"
	}
	return clean
}

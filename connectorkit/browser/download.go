package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/browser/internal/devtools"
)

const (
	downloadsDir = "downloads"
	// cutOffWithin bounds how long the browser may take to let go of a download.
	cutOffWithin = 5 * time.Second
)

// Download saves the file that trigger makes the page download and returns its path. The file has at most limit bytes
// and exists until the run ends. Outside of Download the browser saves nothing.
func (p *Page) Download(ctx context.Context, limit int64, trigger func(context.Context) error) (string, error) {
	b := p.b
	dir := filepath.Join(b.binding.Home, downloadsDir)
	if err := b.makeOwn(dir); err != nil {
		return "", fmt.Errorf("make the folder of downloads: %w", err)
	}
	begun, endBegun := b.process.browser.Subscribe(chromium.DownloadWillBegin.Method)
	defer endBegun()
	moved, endMoved := b.process.browser.Subscribe(chromium.DownloadProgress.Method)
	defer endMoved()
	yes := true
	allow := chromium.SetDownloadBehaviorParams{Behavior: chromium.SetDownloadBehaviorBehaviorAllowAndName,
		DownloadPath: dir, EventsEnabled: &yes}
	if _, err := cdp.Call(ctx, b.process.browser, chromium.SetDownloadBehavior, allow); err != nil {
		return "", err
	}
	defer func() {
		deny := chromium.SetDownloadBehaviorParams{Behavior: chromium.SetDownloadBehaviorBehaviorDeny}
		b.process.browser.Post(chromium.SetDownloadBehavior.Method, deny)
	}()
	if err := trigger(ctx); err != nil {
		return "", err
	}
	var guid string
	for {
		select {
		case raw, ok := <-begun:
			if !ok {
				return "", devtools.ErrLost
			}
			var e chromium.EventDownloadWillBegin
			if devtools.Decode(raw, &e) != nil {
				continue
			}
			if guid != "" { // one was asked for
				b.cancelDownload(e.GUID)
				continue
			}
			guid = e.GUID
		case raw, ok := <-moved:
			if !ok {
				return "", devtools.ErrLost
			}
			var e chromium.EventDownloadProgress
			if devtools.Decode(raw, &e) != nil || guid != "" && e.GUID != guid {
				continue
			}
			name := filepath.Join(dir, e.GUID)
			switch {
			case int64(e.ReceivedBytes) > limit, int64(e.TotalBytes) > limit:
				b.cancelDownload(e.GUID)
				awaitDownload(ctx, moved, e)
				return "", errors.Join(fmt.Errorf("the download exceeds %d bytes", limit), fileMissing(name))
			case e.State == chromium.DownloadProgressStateCompleted:
				return name, nil
			case e.State == chromium.DownloadProgressStateCanceled:
				return "", errors.Join(errors.New("the download was cut off"), fileMissing(name))
			}
		case <-ctx.Done():
			if guid != "" {
				b.cancelDownload(guid)
			}
			return "", context.Cause(ctx)
		}
	}
}

func (b *Browser) cancelDownload(guid string) {
	b.process.browser.Post(chromium.CancelDownload.Method, chromium.CancelDownloadParams{GUID: guid})
}

// awaitDownload waits until nothing more is written of a download that was cut off: one that is
// quicker than that is complete.
func awaitDownload(ctx context.Context, moved <-chan jsontext.Value, last chromium.EventDownloadProgress) {
	limit := time.NewTimer(cutOffWithin)
	defer limit.Stop()
	for last.State != chromium.DownloadProgressStateCompleted && last.State != chromium.DownloadProgressStateCanceled {
		select {
		case raw, ok := <-moved:
			if !ok {
				return
			}
			var e chromium.EventDownloadProgress
			if devtools.Decode(raw, &e) == nil && e.GUID == last.GUID {
				last = e
			}
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// makeOwn makes a folder that the browser's user may write to.
func (b *Browser) makeOwn(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if u := b.binding.User; u != nil && os.Geteuid() == 0 {
		return os.Chown(dir, int(u.UID), int(u.GID))
	}
	return nil
}

func fileMissing(name string) error {
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

package records

import (
	"context"
	"net/http"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// Pictures returns JPEG thumbnails of the files of records, by the hash of their content.
type Pictures interface {
	// Get returns nil if there is no picture.
	Get(ctx context.Context, sha256 string) ([]byte, error)
}

// unseen is the icon for a file without a small picture.
const unseen = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" width="480" height="480" ` +
	`fill="none" stroke="#8a8780" stroke-width="1"><rect x="16" y="18" width="16" height="12" rx="1.5"/>` +
	`<path d="m17 28 4-4 3 3 3-3 4 4M15 15l18 18"/></svg>`

// thumbnail sends a small picture of a file, or an icon if there is none.
func (p *pages) thumbnail(w http.ResponseWriter, r *http.Request) {
	f, ok := p.fileOf(w, r)
	if !ok {
		return
	}
	kind, body := "image/svg+xml", []byte(unseen)
	if p.Pictures != nil && ui.IsPicture(f.MIME) {
		small, err := p.Pictures.Get(r.Context(), f.SHA256)
		p.LogFailure(r, err)
		if len(small) > 0 {
			kind, body = "image/jpeg", small
		}
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body) // the browser may have gone
}

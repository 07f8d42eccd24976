package readapi

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// content is an answer that is a file.
type content struct {
	blob store.Blob
	file blob.File
}

// blob returns a file. Knowing its hash is not enough: it is found only through a record and a field that the reader
// may see.
func (a *api) blob(r *http.Request, who grants.Access) (any, error) {
	if _, err := parseQuery(r); err != nil {
		return nil, err
	}
	if err := onceOnly(who); err != nil {
		return nil, err
	}
	found, err := a.findBlob(r, who)
	if errors.Is(err, store.ErrNotFound) {
		return nil, noSuchFile()
	}
	if err != nil {
		return nil, err
	}
	file, err := a.Blobs.Open(r.Context(), found.SHA256)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, fmt.Errorf("the file of a record is missing: %s", found.SHA256)
	}
	if err != nil {
		return nil, err
	}
	return &content{found, file}, nil
}

func noSuchFile() error {
	return grants.Refused(grants.CodeNotFound, "", "There is no such file.", "Use a hash that a record names.")
}

func (a *api) findBlob(r *http.Request, who grants.Access) (store.Blob, error) {
	hash := r.PathValue("sha256")
	if a.Blobs == nil {
		return store.Blob{}, store.ErrNotFound
	}
	if who.Grant() == nil {
		return a.Store.FindBlob(r.Context(), hash, nil)
	}
	views, err := a.Grants.Views(r.Context(), who, "", "")
	if err != nil {
		return store.Blob{}, err
	}
	for _, v := range views {
		found, err := a.Store.FindBlob(r.Context(), hash, []store.AccessFilter{v.Part(nil)})
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return found, fmt.Errorf("find a file: %w", err)
		}
		return found, a.Grants.Used(r.Context(), who, v, 1, nil)
	}
	return store.Blob{}, store.ErrNotFound
}

// serve writes the file or the requested ranges. A browser never shows it as a page of this server.
func (c *content) serve(w http.ResponseWriter, r *http.Request) {
	defer func() { _ = c.file.Close() }()
	h := w.Header()
	h.Set("Content-Type", c.blob.MIME)
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": c.blob.Name})
	if c.blob.Name == "" || disposition == "" {
		disposition = "attachment"
	}
	h.Set("Content-Disposition", disposition)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("ETag", `"`+c.blob.SHA256+`"`)
	http.ServeContent(w, r, "", time.Time{}, c.file)
}

// giveBlobs adds to records what the reader may know of their files.
func (a *api) giveBlobs(r *http.Request, all []foundRecord, fields []string, records []grantview.Record) error {
	ids := make([]int64, len(all))
	for i := range all {
		ids[i] = all[i].record.ID
	}
	files, err := a.Store.RecordBlobs(r.Context(), ids)
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	for i, f := range all {
		for _, b := range files[f.record.ID] {
			if f.view.Shows(b.Field) && (len(fields) == 0 || slices.Contains(fields, b.Field)) {
				records[i].Blobs = append(records[i].Blobs, grantview.Blob(b))
			}
		}
	}
	return nil
}

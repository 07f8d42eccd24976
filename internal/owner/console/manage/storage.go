package manage

import (
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// storageAddress is where the room that things take is shown.
const storageAddress = "/settings/storage"

// littleFree is how much of a disk is nearly nothing.
const littleFree = 1 << 30

// storagePage is what takes how much room, and what would come back.
type storagePage struct {
	api.Storage
	// Backup is when the last backup was made, as far as the trail tells; nil when it tells of none.
	Backup   *time.Time
	KeptDays int // of the trail
}

func (p *pages) storage(w http.ResponseWriter, r *http.Request) {
	page := &storagePage{}
	var err error
	if page.Storage, err = p.Owner.Storage(r.Context()); err != nil {
		p.fail(w, r, "settings", err)
		return
	}
	trail, err := p.Owner.Audit(r.Context(), api.AuditQuery{Kind: "backup", Limit: lastBackups})
	if err != nil {
		p.fail(w, r, "settings", err)
		return
	}
	page.KeptDays = trail.KeptDays
	for _, e := range trail.Entries {
		if e.Outcome == "done" {
			page.Backup = &e.LastAt
			break
		}
	}
	p.show(w, r, http.StatusOK, p.frame(w, r, "Storage", "settings"), storageBody(page, p.Now()))
}

// lastBackups is among how many entries of the trail the last backup that succeeded is looked for.
const lastBackups = 20

// full says that little is left on the disk.
func (page *storagePage) full() bool {
	return page.DiskFreeBytes != nil && *page.DiskFreeBytes < littleFree
}

// share is how much of the largest source another one takes, in percent.
func (page *storagePage) share(bytes int64) string {
	most := int64(1)
	for _, src := range page.Sources {
		most = max(most, src.Bytes)
	}
	return strconv.FormatFloat(float64(bytes)*100/float64(most), 'f', 1, 64) + "%"
}

// streamWords says what a stream takes.
func streamWords(st api.StorageStream) string {
	words := text.Count(st.Records, "record", "records") + ", " + sizeWords(st.RecordBytes)
	if st.Files > 0 {
		words += "; " + text.Count(st.Files, "file", "files") + ", " + text.Bytes(st.FileBytes)
	}
	return words
}

// sizeWords is a size that may not be counted yet.
func sizeWords(n *int64) string {
	if n == nil {
		return "still counting"
	}
	return text.Bytes(*n)
}

package admin

import (
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/diskuse"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// littleFree is how much of a disk is nearly nothing.
const littleFree = 1 << 30

// storagePage is what takes how much room, and what would come back.
type storagePage struct {
	diskuse.Storage
	// Backup is the time of the last backup in the audit trail. Nil means that the trail has none.
	Backup   *time.Time
	KeptDays int // of the trail
}

func (p *adminPages) storage(w http.ResponseWriter, r *http.Request) {
	page := &storagePage{}
	var err error
	if page.Storage, err = p.Owner.Storage(r.Context()); err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	trail, err := p.Owner.Audit(r.Context(), api.AuditQuery{Kind: "backup", Limit: lastBackups})
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	page.KeptDays = trail.KeptDays
	for _, e := range trail.Entries {
		if e.Outcome == "done" {
			page.Backup = &e.LastAt
			break
		}
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "Storage", "settings"), storageBody(page, p.Now()))
}

// lastBackups is among how many entries of the trail the last backup that succeeded is looked for.
const lastBackups = 20

// full reports whether the disk is nearly full.
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

// streamWords returns how much storage a stream uses.
func streamWords(st diskuse.StorageStream) string {
	line := text.Count(st.Records, "record", "records") + ", " + words.SizeOrCounting(st.RecordBytes)
	if st.Files > 0 {
		line += "; " + text.Count(st.Files, "file", "files") + ", " + text.Bytes(st.FileBytes)
	}
	return line
}

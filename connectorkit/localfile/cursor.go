package localfile

import (
	"encoding/binary"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	cursorVersion     = 1
	maxCursorEntries  = 512
	maxCursorBytes    = 80 << 10 // of the entries, encoded
	maxHistoryEntries = 8        // entries of the walk through history
	maxStateBytes     = 4 << 10  // of one file; a larger one is not kept
	digestBuckets     = 1024
	maxReceipts       = 512
	maxListedFiles    = 128 // entries of files without a place
)

// fileCursor is a bookmark: what of the tree has been read.
type fileCursor struct {
	V int `json:"v"`
	// Streams are those that the bookmark speaks for.
	Streams []string `json:"streams"`
	// Settings are those under which it was read.
	Settings string `json:"settings,omitzero"`
	// Watermark is the change time up to which every file was read whole.
	Watermark int64 `json:"watermark,string"`
	// From and Until bound the change times that the bookmark speaks for; zero is open.
	From  int64 `json:"from,string,omitzero"`
	Until int64 `json:"until,string,omitzero"`
	// Looked is when the last whole pass began.
	Looked int64 `json:"looked,string,omitzero"`
	// Files are the places in the files that changed last.
	Files []*fileEntry `json:"files,omitempty"`
	// Settled is a digest of the files that were read whole and have no entry. A file that
	// appears among them with old times changes it, and so does one that is gone.
	Settled []byte `json:"settled,omitempty"`
	// Skipped counts lines that were left out, by store and kind.
	Skipped map[string]map[string]int64 `json:"skipped,omitempty"`
	// Receipts are digests of contents that were read whole, the latest last.
	Receipts []string `json:"receipts,omitempty"`
	// Memory is the source's own, and Kept counts how often it was kept: of two bookmarks, the one
	// that was written last has it.
	Memory jsontext.Value `json:"memory,omitzero"`
	Kept   int64          `json:"kept,omitzero"`
	// Unknown are the names in the account that no store fits.
	Unknown []string `json:"unknown,omitempty"`
}

// fileEntry is the place in one file.
type fileEntry struct {
	ID     string         `json:"i,omitzero"`
	Path   string         `json:"p"`
	Size   int64          `json:"s"`
	Offset int64          `json:"o"`          // of the content, behind the last line that was read
	Head   string         `json:"h,omitzero"` // hash of its first 64 KiB, as far as it was read
	Tail   string         `json:"t,omitzero"` // hash of the 64 KiB before the offset
	Change int64          `json:"c,string"`
	Open   bool           `json:"m,omitzero"` // there was more to read
	Torn   bool           `json:"x,omitzero"` // its unfinished last line is a gap
	Bad    bool           `json:"b,omitzero"` // it could not be read, and is a gap
	Final  bool           `json:"f,omitzero"` // as it is, it will never be read
	State  jsontext.Value `json:"a,omitzero"`
}

// readCursor reads a bookmark. One that is not ours, that speaks for fewer streams than this run
// collects or that was made under other settings, reads as none: the tree is read again, which writes nothing twice.
// So does any, when a stream starts again. Streams that are collected in part are not among the streams.
func readCursor(raw jsontext.Value, streams []string, settings string, anew bool) *fileCursor {
	c := &fileCursor{}
	fresh := &fileCursor{V: cursorVersion, Streams: streams, Settings: settings}
	if len(raw) == 0 || raw.Kind() != '{' || json.Unmarshal(raw, c) != nil || c.V != cursorVersion {
		return fresh
	}
	fresh.Unknown = c.Unknown // accounts that may apply no more
	if c.Settings != settings {
		return fresh
	}
	if anew || slices.ContainsFunc(streams, func(s string) bool { return !slices.Contains(c.Streams, s) }) {
		fresh.Memory, fresh.Kept = c.Memory, c.Kept
		return fresh
	}
	if len(c.Settled) != 0 && len(c.Settled) != 4*digestBuckets {
		return fresh
	}
	c.Streams = streams
	return c
}

func (c *fileCursor) bucketSum(bucket int) uint32 {
	if len(c.Settled) == 0 {
		return 0
	}
	return binary.LittleEndian.Uint32(c.Settled[4*bucket:])
}

func (c *fileCursor) toggleDigest(bucket int, sum uint32) {
	if len(c.Settled) == 0 {
		c.Settled = make([]byte, 4*digestBuckets)
	}
	at := c.Settled[4*bucket:]
	binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)^sum)
}

// putEntry keeps the place in a file, and settles the files that changed longest ago when there
// are too many.
func (c *fileCursor) putEntry(e *fileEntry, limit int) {
	if len(e.State) > maxStateBytes {
		e.State = nil
		e.Head, e.Tail = "", "" // without its state the file cannot be read on
	}
	c.Files = slices.DeleteFunc(c.Files, func(o *fileEntry) bool { return o.Path == e.Path || o == e })
	c.Files = append(c.Files, e)
	for len(c.Files) > limit || c.encodedSize() > maxCursorBytes {
		listed := 0
		for _, o := range c.Files {
			if o.Head == "" {
				listed++
			}
		}
		var oldest *fileEntry
		for _, o := range c.Files {
			if o != e && !o.Open && (listed <= maxListedFiles || o.Head == "") && (oldest == nil || o.isEarlier(oldest)) {
				oldest = o
			}
		}
		if oldest == nil {
			return
		}
		c.settleEntry(oldest)
	}
}

// isEarlier reports whether e is dropped before o.
func (e *fileEntry) isEarlier(o *fileEntry) bool {
	if e.Bad != o.Bad {
		return o.Bad
	}
	return e.Change < o.Change
}

// settleEntry replaces a file's entry by its part in the digest.
func (c *fileCursor) settleEntry(e *fileEntry) {
	c.dropEntry(e)
	c.toggleDigest(settledSum(e.Path, e.Size, e.Change))
}

func (c *fileCursor) dropEntry(e *fileEntry) {
	c.Files = slices.DeleteFunc(c.Files, func(o *fileEntry) bool { return o == e })
}

func (c *fileCursor) encodedSize() int {
	n := 0
	for _, e := range c.Files {
		n += 150 + len(e.ID) + len(e.State)
	}
	return n
}

// mergeCursor takes over what another bookmark has read.
func (c *fileCursor) mergeCursor(o *fileCursor) {
	for len(o.Files) > 0 {
		o.settleEntry(o.Files[0])
	}
	for b := range digestBuckets {
		if sum := o.bucketSum(b); sum != 0 {
			c.toggleDigest(b, sum)
		}
	}
	for _, digest := range o.Receipts {
		c.addReceipt(digest)
	}
	for store, kinds := range o.Skipped {
		for kind, n := range kinds {
			c.countSkipped(store, kind, n)
		}
	}
}

// addReceipt stores a receipt and drops the oldest if there are too many.
func (c *fileCursor) addReceipt(digest string) {
	if !slices.Contains(c.Receipts, digest) {
		c.Receipts = append(c.Receipts, digest)
		c.Receipts = c.Receipts[max(0, len(c.Receipts)-maxReceipts):]
	}
}

func (c *fileCursor) countSkipped(store, kind string, n int64) {
	if c.Skipped == nil {
		c.Skipped = map[string]map[string]int64{}
	}
	if c.Skipped[store] == nil {
		c.Skipped[store] = map[string]int64{}
	}
	if _, known := c.Skipped[store][kind]; !known && len(c.Skipped[store]) >= 40 {
		kind = "other"
	}
	c.Skipped[store][kind] += n
}

package localfile

import (
	"encoding/binary"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	version    = 1
	maxEntries = 512
	maxBytes   = 80 << 10 // of the entries, encoded
	maxHistory = 8        // entries of the walk through history
	maxState   = 4 << 10  // of one file; a larger one is not kept
	buckets    = 1024
	maxReceipt = 512
	maxListed  = 128 // entries of files without a place
)

// cursor is a bookmark: what of the tree has been read.
type cursor struct {
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
	Files []*entry `json:"files,omitempty"`
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

// entry is the place in one file.
type entry struct {
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

// cursorOf reads a bookmark. One that is not ours, that speaks for fewer streams than this run
// collects or that was made under other settings, reads as none: the tree is read again, which writes nothing twice.
// So does any, when a stream starts again. Streams that are collected in part are not among the streams.
func cursorOf(raw jsontext.Value, streams []string, settings string, anew bool) *cursor {
	c := &cursor{}
	fresh := &cursor{V: version, Streams: streams, Settings: settings}
	if len(raw) == 0 || raw.Kind() != '{' || json.Unmarshal(raw, c) != nil || c.V != version {
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
	if len(c.Settled) != 0 && len(c.Settled) != 4*buckets {
		return fresh
	}
	c.Streams = streams
	return c
}

func (c *cursor) sum(bucket int) uint32 {
	if len(c.Settled) == 0 {
		return 0
	}
	return binary.LittleEndian.Uint32(c.Settled[4*bucket:])
}

func (c *cursor) toggle(bucket int, sum uint32) {
	if len(c.Settled) == 0 {
		c.Settled = make([]byte, 4*buckets)
	}
	at := c.Settled[4*bucket:]
	binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)^sum)
}

// put keeps the place in a file, and settles the files that changed longest ago when there
// are too many.
func (c *cursor) put(e *entry, limit int) {
	if len(e.State) > maxState {
		e.State = nil
		e.Head, e.Tail = "", "" // without its state the file cannot be read on
	}
	c.Files = slices.DeleteFunc(c.Files, func(o *entry) bool { return o.Path == e.Path || o == e })
	c.Files = append(c.Files, e)
	for len(c.Files) > limit || c.weight() > maxBytes {
		listed := 0
		for _, o := range c.Files {
			if o.Head == "" {
				listed++
			}
		}
		var oldest *entry
		for _, o := range c.Files {
			if o != e && !o.Open && (listed <= maxListed || o.Head == "") && (oldest == nil || o.before(oldest)) {
				oldest = o
			}
		}
		if oldest == nil {
			return
		}
		c.settle(oldest)
	}
}

// before reports which of two entries is given up first.
func (e *entry) before(o *entry) bool {
	if e.Bad != o.Bad {
		return o.Bad
	}
	return e.Change < o.Change
}

// settle gives a file's entry up for its part in the digest.
func (c *cursor) settle(e *entry) {
	c.drop(e)
	c.toggle(settledSum(e.Path, e.Size, e.Change))
}

func (c *cursor) drop(e *entry) {
	c.Files = slices.DeleteFunc(c.Files, func(o *entry) bool { return o == e })
}

func (c *cursor) weight() int {
	n := 0
	for _, e := range c.Files {
		n += 150 + len(e.ID) + len(e.State)
	}
	return n
}

// merge takes over what another bookmark has read.
func (c *cursor) merge(o *cursor) {
	for len(o.Files) > 0 {
		o.settle(o.Files[0])
	}
	for b := range buckets {
		if sum := o.sum(b); sum != 0 {
			c.toggle(b, sum)
		}
	}
	for _, digest := range o.Receipts {
		c.receive(digest)
	}
	for store, kinds := range o.Skipped {
		for kind, n := range kinds {
			c.skip(store, kind, n)
		}
	}
}

// receive keeps a receipt, and gives up the oldest when there are too many.
func (c *cursor) receive(digest string) {
	if !slices.Contains(c.Receipts, digest) {
		c.Receipts = append(c.Receipts, digest)
		c.Receipts = c.Receipts[max(0, len(c.Receipts)-maxReceipt):]
	}
}

func (c *cursor) skip(store, kind string, n int64) {
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

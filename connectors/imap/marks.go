package imap

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// folderMark is how far a folder is read.
type folderMark struct {
	Validity uint32 `json:"v"`
	ID       string `json:"i,omitzero"` // of the folder, on servers that have one
	Next     uint32 `json:"n,omitzero"` // the UID that the next message gets
	Modseq   uint64 `json:"m,omitzero,string"`
	Have     uidSet `json:"u"`           // what was sent
	Again    uidSet `json:"p,omitempty"` // of that, what has changed and was not sent again yet
	// Blocks are digests of the flags, by block of UIDs, for servers that do not report changes.
	Blocks map[string]string `json:"b,omitempty"`
	// Attached are, for bodies, the messages by number of attachments.
	Attached map[string]uidSet `json:"a,omitempty"`
	// Large are, for bodies, the messages with a file above the owner's limit.
	Large uidSet `json:"l,omitempty"`
}

// folderMarks are the bookmark of a stream.
type folderMarks struct {
	Folders map[string]*folderMark `json:"folders"`
	// Brought are, for bodies, the streams that received the messages marked as sent.
	Brought []string `json:"brought,omitempty"`
	// Largest is, for bodies, the owner's size limit when they were read.
	Largest int64 `json:"largest,omitzero"`
}

func parseFolderMarks(v jsontext.Value) folderMarks {
	var m folderMarks
	if len(v) == 0 || json.Unmarshal(v, &m) != nil {
		m = folderMarks{} // one that is not ours: everything is read again, which loses nothing
	}
	for name, f := range m.Folders {
		if f == nil {
			delete(m.Folders, name)
		}
	}
	if m.Folders == nil {
		m.Folders = map[string]*folderMark{}
	}
	return m
}

func uidBlock(uid uint32) string { return strconv.FormatUint(uint64(uid>>uidBlockBits), 36) }

// flagDigest returns a digest of flags. Digests of a block can be combined in any order.
func flagDigest(r *fetchedMessage) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %q", r.uid, messageFlags(r.flags)) // a hash never fails
	return h.Sum64()
}

// noteFlags notes the flags of a message that is new.
func (m *folderMark) noteFlags(r *fetchedMessage) {
	if m.Blocks == nil {
		m.Blocks = map[string]string{}
	}
	digest, _ := strconv.ParseUint(m.Blocks[uidBlock(r.uid)], 36, 64) // none is zero
	m.Blocks[uidBlock(r.uid)] = strconv.FormatUint(digest^flagDigest(r), 36)
}

package imap

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// mark is how far a folder is read.
type mark struct {
	Validity uint32 `json:"v"`
	ID       string `json:"i,omitzero"` // of the folder, on servers that have one
	Next     uint32 `json:"n,omitzero"` // the UID that the next message gets
	Modseq   uint64 `json:"m,omitzero,string"`
	Have     uids   `json:"u"`           // what was sent
	Again    uids   `json:"p,omitempty"` // of that, what has changed and was not sent again yet
	// Blocks are digests of the flags, by block of UIDs, for servers that do not say what changed.
	Blocks map[string]string `json:"b,omitempty"`
	// Attached are, for bodies, the messages that brought so many attachments.
	Attached map[string]uids `json:"a,omitempty"`
	// Large are, for bodies, the messages that brought something that is larger than the owner keeps.
	Large uids `json:"l,omitempty"`
}

// marks are the bookmark of a stream.
type marks struct {
	Folders map[string]*mark `json:"folders"`
	// Brought are, for bodies, the streams that got what is marked as sent.
	Brought []string `json:"brought,omitempty"`
	// Largest is, for bodies, the largest file that was kept when they were read.
	Largest int64 `json:"largest,omitzero"`
}

func marksOf(v jsontext.Value) marks {
	var m marks
	if len(v) == 0 || json.Unmarshal(v, &m) != nil {
		m = marks{} // one that is not ours: everything is read again, which loses nothing
	}
	for name, f := range m.Folders {
		if f == nil {
			delete(m.Folders, name)
		}
	}
	if m.Folders == nil {
		m.Folders = map[string]*mark{}
	}
	return m
}

func blockOf(uid uint32) string { return strconv.FormatUint(uint64(uid>>block), 36) }

// flagDigest tells flags apart, so that those of a block can be put together in any order.
func flagDigest(r *fetched) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %q", r.uid, flagsOf(r.flags)) // a hash never fails
	return h.Sum64()
}

// addFlags notes the flags of a message that is new.
func (m *mark) addFlags(r *fetched) {
	if m.Blocks == nil {
		m.Blocks = map[string]string{}
	}
	digest, _ := strconv.ParseUint(m.Blocks[blockOf(r.uid)], 36, 64) // none is zero
	m.Blocks[blockOf(r.uid)] = strconv.FormatUint(digest^flagDigest(r), 36)
}

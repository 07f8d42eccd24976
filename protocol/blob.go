package protocol

import (
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of the files of one record.
const (
	MaxBlobs    = 200  // files of one record
	maxBlobText = 4096 // bytes of a path, and of an encoded name
)

// Blob is a file that belongs to a record. A connector identifies it by its path below the working directory of
// its run. A device, which has stored it already, identifies it by the hash and size of its content.
type Blob struct {
	// Field is the member of the record's data that the file belongs to. A reader with access to the field also
	// has access to the file.
	Field string `json:"field"`
	Path  string `json:"path,omitzero"`
	MIME  string `json:"mime,omitzero"`
	Name  string `json:"name,omitzero"` // name shown to people

	SHA256 string `json:"sha256,omitzero"` // lower-case hex
	Bytes  int64  `json:"bytes,omitzero"`
}

// IsBlobHash reports whether s is a SHA-256 hash in lower-case hex.
func IsBlobHash(s string) bool {
	if len(s) != hex.EncodedLen(32) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func blobsOf(v jsontext.Value) ([]Blob, bool) {
	blobs := []Blob{}
	if v.Kind() != '[' || json.Unmarshal(v, &blobs) != nil {
		return nil, false
	}
	return blobs, true
}

// checkBlobs validates the files of a record, which are identified by path or, if uploaded, by hash.
func (r *Record) checkBlobs(uploaded bool) *Violation {
	if r.Blobs == nil {
		return nil
	}
	broken := func(rule string) *Violation {
		return &Violation{Subtype: InvalidField, Expected: []string{rule}}
	}
	if r.Op == OpDelete {
		return broken("blobs: absent from a deletion")
	}
	if len(r.Blobs) > MaxBlobs {
		return broken("blobs: at most " + strconv.Itoa(MaxBlobs))
	}
	for i := range r.Blobs {
		b := &r.Blobs[i]
		switch {
		case !r.hasField(b.Field):
			return broken("blobs.field: a member of data")
		case len(b.Path) > maxBlobText || len(b.Name) > maxBlobText || len(b.MIME) > maxBlobText:
			return broken("blobs: texts of at most " + strconv.Itoa(maxBlobText) + " bytes")
		case !uploaded && b.Path == "":
			return broken("blobs.path: a non-empty string")
		case uploaded && (!IsBlobHash(b.SHA256) || b.Bytes < 0):
			return broken("blobs.sha256: 64 digits in hex, and blobs.bytes: a number from 0")
		}
	}
	return nil
}

func (r *Record) hasField(name string) bool {
	for i := range r.fields {
		if r.fields[i].Name == name {
			return true
		}
	}
	return false
}

package dav

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
)

// RecordKey makes the key of a record: the same for the same thing in the same collection.
func RecordKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.AppendUvarint(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil)[:keyDigestBytes])
}

// How much is kept of a digest: an account has thousands of objects, and each costs the
// bookmark these bytes.
const (
	keyDigestBytes  = 12
	pathDigestBytes = 8
	versionBytes    = 6
)

type (
	pathDigest    [pathDigestBytes]byte
	versionDigest [versionBytes]byte
	keyDigest     [keyDigestBytes]byte
)

func digestPath(path string) (m pathDigest) {
	sum := sha256.Sum256([]byte(path))
	copy(m[:], sum[:])
	return m
}

// digestVersion is never zero, which means a version that is not known.
func digestVersion(etag string) (v versionDigest) {
	if etag == "" {
		return v
	}
	sum := sha256.Sum256([]byte(etag))
	copy(v[:], sum[:])
	v[0] |= 1
	return v
}

// rememberedObject is what is remembered of one: which version was read, and the keys of its records.
type rememberedObject struct {
	version versionDigest
	keys    []keyDigest
}

// collectionMemory is what the bookmark holds of one collection.
type collectionMemory struct {
	// Token and CTag are those of the last time that everything was read.
	Token string `json:"token,omitzero"`
	CTag  string `json:"ctag,omitzero"`
	// Full is when all of it was last listed, in Unix seconds.
	Full int64 `json:"full,omitzero"`
	// Again are objects that could not be read, to be asked for in every run.
	Again []string `json:"again,omitempty"`
	// Known is packed, because it is most of the bookmark.
	Known string `json:"known,omitzero"`

	objects map[pathDigest]rememberedObject
	holders map[keyDigest]int // how many objects have a record of the key
}

// readMemory reads a bookmark; one that is not ours remembers nothing.
func readMemory(text string) *collectionMemory {
	m := &collectionMemory{}
	packed, err := []byte(nil), json.Unmarshal([]byte(text), m)
	if err == nil {
		packed, err = base64.RawStdEncoding.DecodeString(m.Known)
	}
	if err != nil || !m.unpackMemory(packed) {
		m = &collectionMemory{}
		m.unpackMemory(nil)
	}
	m.Known = ""
	return m
}

func (m *collectionMemory) unpackMemory(b []byte) bool {
	m.objects, m.holders = map[pathDigest]rememberedObject{}, map[keyDigest]int{}
	for len(b) > 0 {
		var at pathDigest
		var o rememberedObject
		if len(b) < pathDigestBytes+versionBytes {
			return false
		}
		copy(at[:], b)
		copy(o.version[:], b[pathDigestBytes:])
		b = b[pathDigestBytes+versionBytes:]
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b))/keyDigestBytes {
			return false
		}
		b = b[size:]
		if uint64(len(b)) < n*keyDigestBytes {
			return false
		}
		for range n {
			o.keys = append(o.keys, keyDigest(b[:keyDigestBytes]))
			b = b[keyDigestBytes:]
		}
		m.objects[at] = o
		for _, k := range o.keys {
			m.holders[k]++
		}
	}
	return true
}

func (m *collectionMemory) encodeMemory() string {
	var b []byte
	for _, at := range slices.SortedFunc(maps.Keys(m.objects),
		func(x, y pathDigest) int { return slices.Compare(x[:], y[:]) }) {
		o := m.objects[at]
		b = append(append(b, at[:]...), o.version[:]...)
		b = binary.AppendUvarint(b, uint64(len(o.keys)))
		for _, k := range o.keys {
			b = append(b, k[:]...)
		}
	}
	out := *m
	out.Known = base64.RawStdEncoding.EncodeToString(b)
	text, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		return "{}"
	}
	return string(text)
}

// storeObject stores an object that was read, and returns the keys of records that no longer exist.
func (m *collectionMemory) storeObject(at pathDigest, v versionDigest, keys []string) (gone []string) {
	now := rememberedObject{version: v}
	for _, text := range keys {
		var k keyDigest
		if b, err := hex.DecodeString(text); err == nil && copy(k[:], b) == keyDigestBytes && !slices.Contains(now.keys, k) {
			now.keys = append(now.keys, k)
			m.holders[k]++
		}
	}
	before := m.objects[at]
	m.objects[at] = now
	return m.releaseKeys(before)
}

// remembersPath reports whether an object is remembered.
func (m *collectionMemory) remembersPath(path string) bool {
	_, there := m.objects[digestPath(path)]
	return there
}

// removeObject removes an object and returns the keys of records that no longer exist. A record that
// another object has as well, because the object was renamed, is still there.
func (m *collectionMemory) removeObject(at pathDigest) (gone []string) {
	before := m.objects[at]
	delete(m.objects, at)
	return m.releaseKeys(before)
}

func (m *collectionMemory) releaseKeys(o rememberedObject) (gone []string) {
	for _, k := range o.keys {
		if m.holders[k]--; m.holders[k] <= 0 {
			delete(m.holders, k)
			gone = append(gone, hex.EncodeToString(k[:]))
		}
	}
	return gone
}

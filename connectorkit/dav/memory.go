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

// Key makes the key of a record: the same for the same thing in the same collection.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.AppendUvarint(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil)[:keyBytes])
}

// How much is kept of a digest: an account has thousands of objects, and each costs the
// bookmark these bytes.
const (
	keyBytes     = 12
	pathBytes    = 8
	versionBytes = 6
)

type (
	pathMark [pathBytes]byte
	version  [versionBytes]byte
	key      [keyBytes]byte
)

func markOf(path string) (m pathMark) {
	sum := sha256.Sum256([]byte(path))
	copy(m[:], sum[:])
	return m
}

// versionOf is never zero, which means a version that is not known.
func versionOf(etag string) (v version) {
	if etag == "" {
		return v
	}
	sum := sha256.Sum256([]byte(etag))
	copy(v[:], sum[:])
	v[0] |= 1
	return v
}

// object is what is remembered of one: which version was read, and the keys of its records.
type object struct {
	version version
	keys    []key
}

// memory is what the bookmark holds of one collection.
type memory struct {
	// Token and CTag are those of the last time that everything was read.
	Token string `json:"token,omitzero"`
	CTag  string `json:"ctag,omitzero"`
	// Full is when all of it was last listed, in Unix seconds.
	Full int64 `json:"full,omitzero"`
	// Again are objects that could not be read, to be asked for in every run.
	Again []string `json:"again,omitempty"`
	// Known is packed, because it is most of the bookmark.
	Known string `json:"known,omitzero"`

	objects map[pathMark]object
	holders map[key]int // how many objects have a record of the key
}

// memoryOf reads a bookmark; one that is not ours remembers nothing.
func memoryOf(text string) *memory {
	m := &memory{}
	packed, err := []byte(nil), json.Unmarshal([]byte(text), m)
	if err == nil {
		packed, err = base64.RawStdEncoding.DecodeString(m.Known)
	}
	if err != nil || !m.unpack(packed) {
		m = &memory{}
		m.unpack(nil)
	}
	m.Known = ""
	return m
}

func (m *memory) unpack(b []byte) bool {
	m.objects, m.holders = map[pathMark]object{}, map[key]int{}
	for len(b) > 0 {
		var at pathMark
		var o object
		if len(b) < pathBytes+versionBytes {
			return false
		}
		copy(at[:], b)
		copy(o.version[:], b[pathBytes:])
		b = b[pathBytes+versionBytes:]
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b))/keyBytes {
			return false
		}
		b = b[size:]
		if uint64(len(b)) < n*keyBytes {
			return false
		}
		for range n {
			o.keys = append(o.keys, key(b[:keyBytes]))
			b = b[keyBytes:]
		}
		m.objects[at] = o
		for _, k := range o.keys {
			m.holders[k]++
		}
	}
	return true
}

func (m *memory) encode() string {
	var b []byte
	for _, at := range slices.SortedFunc(maps.Keys(m.objects), func(x, y pathMark) int { return slices.Compare(x[:], y[:]) }) {
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

// put takes over an object that was read and gives the keys whose records are no more.
func (m *memory) put(at pathMark, v version, keys []string) (gone []string) {
	now := object{version: v}
	for _, text := range keys {
		var k key
		if b, err := hex.DecodeString(text); err == nil && copy(k[:], b) == keyBytes && !slices.Contains(now.keys, k) {
			now.keys = append(now.keys, k)
			m.holders[k]++
		}
	}
	before := m.objects[at]
	m.objects[at] = now
	return m.release(before)
}

// has reports whether an object is remembered.
func (m *memory) has(path string) bool {
	_, there := m.objects[markOf(path)]
	return there
}

// remove forgets an object and gives the keys whose records are no more. A record that
// another object has as well, because the object was renamed, is still there.
func (m *memory) remove(at pathMark) (gone []string) {
	before := m.objects[at]
	delete(m.objects, at)
	return m.release(before)
}

func (m *memory) release(o object) (gone []string) {
	for _, k := range o.keys {
		if m.holders[k]--; m.holders[k] <= 0 {
			delete(m.holders, k)
			gone = append(gone, hex.EncodeToString(k[:]))
		}
	}
	return gone
}

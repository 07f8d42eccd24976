package notes

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

const (
	hashBytes = 8
	// maxKnown bounds the index; of more notes, those at the end of the alphabet are told apart by
	// their paths alone.
	maxKnown = 50_000
	maxBytes = 64 << 20 // of the index, unpacked
)

// index knows which record every file is. A file that is new and has the content of one that is
// gone is that one, renamed: it keeps the key.
type index struct {
	deletes bool
	present func(root, rel string) bool
	files   map[string]*known // by place
	keys    map[string]string // to places
	byHash  map[string][]string
	byID    map[string]string // ids in heads to places
}

// known is one file of the index.
type known struct {
	Key  string `json:"k,omitzero"` // empty: its place
	ID   string `json:"i,omitzero"` // that its head says
	Hash []byte `json:"h"`
}

func newIndex(deletes bool) *index {
	return &index{deletes: deletes, present: func(string, string) bool { return false }, files: map[string]*known{}, keys: map[string]string{}, byHash: map[string][]string{}, byID: map[string]string{}}
}

func placeOf(root, rel string) string { return root + "/" + rel }

func (k *known) key(place string) string {
	if k.Key == "" {
		return place
	}
	return k.Key
}

// Load takes what was kept.
func (x *index) Load(stored jsontext.Value) {
	var packed []byte
	if len(stored) == 0 || json.Unmarshal(stored, &packed) != nil {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxBytes))
	var files map[string]*known
	if err != nil || json.Unmarshal(raw, &files) != nil {
		return
	}
	for place, k := range files {
		if k != nil {
			x.set(place, k)
		}
	}
}

func (x *index) set(place string, k *known) {
	x.files[place] = k
	x.keys[k.key(place)] = place
	x.byHash[string(k.Hash)] = append(x.byHash[string(k.Hash)], place)
	if k.ID != "" {
		x.byID[k.ID] = place
	}
}

func (x *index) drop(place string) {
	k := x.files[place]
	if k == nil {
		return
	}
	delete(x.files, place)
	if x.keys[k.key(place)] == place {
		delete(x.keys, k.key(place))
	}
	if x.byID[k.ID] == place {
		delete(x.byID, k.ID)
	}
	x.byHash[string(k.Hash)] = slices.DeleteFunc(x.byHash[string(k.Hash)], func(p string) bool { return p == place })
}

// Walked says what is there.
func (x *index) Walked(present func(root, rel string) bool) { x.present = present }

// there reports whether the walk met a place.
func (x *index) there(place string) bool {
	for _, p := range places {
		if rel, ok := cutPlace(place, p.name); ok {
			return x.present(p.name, rel)
		}
	}
	return false
}

func cutPlace(place, root string) (rel string, ok bool) {
	if len(place) > len(root) && place[:len(root)] == root && place[len(root)] == '/' {
		return place[len(root)+1:], true
	}
	return "", false
}

// key is the key of a file's record. A file that is known keeps its key, unless its head says by
// now that it is another note. A new one is the note with the id in its head, or with its content,
// that is not where it was; else it is a note by its own id, or by its place.
func (x *index) key(root, rel, own string, hash []byte) string {
	place := placeOf(root, rel)
	before := x.files[place]
	key, old := place, ""
	switch twin := x.byID[own]; {
	case before != nil && (before.ID == own || before.ID == "" || own == ""):
		key = before.key(place)
	case own != "" && twin != "" && twin != place && !x.there(twin):
		old = twin
	case own != "" && (twin == "" || twin == place):
		key = "id/" + own
	case own == "":
		old = x.renamed(place, hash)
	}
	if old != "" {
		key = x.files[old].key(old)
		x.drop(old)
	}
	for n := 2; !x.free(key, place); n++ { // a file lies where another one was once
		key = fmt.Sprintf("%s#%d", place, n)
	}
	x.drop(place)
	if other := x.keys[key]; other != "" { // of a file that is gone
		x.drop(other)
	}
	k := &known{Hash: bytes.Clone(hash), ID: own}
	switch holder := x.byID[own]; {
	case own == "" && before != nil:
		k.ID = before.ID
	case holder != "" && holder != place: // a copy
		k.ID = ""
	}
	if key != place {
		k.Key = key
	}
	x.set(place, k)
	return key
}

// free reports whether a key is nobody's but the file's at a place.
func (x *index) free(key, place string) bool {
	other, taken := x.keys[key]
	return !taken || other == place || !x.there(other) && other != ""
}

// renamed is a place that is gone and had the same content, of the same name if there is one.
func (x *index) renamed(place string, hash []byte) string {
	found := ""
	for _, old := range x.byHash[string(hash)] {
		if x.there(old) {
			continue
		}
		if path.Base(old) == path.Base(place) {
			return old
		}
		if found == "" || old < found {
			found = old
		}
	}
	return found
}

// Key returns the key of a file's record.
func (x *index) Key(root, rel string) (string, bool) {
	place := placeOf(root, rel)
	k := x.files[place]
	if k == nil {
		return "", false
	}
	return k.key(place), true
}

// Keep is what the next run needs.
func (x *index) Keep() any {
	files := x.files
	if len(files) > maxKnown {
		files = map[string]*known{}
		for _, place := range slices.Sorted(maps.Keys(x.files))[:maxKnown] {
			files[place] = x.files[place]
		}
	}
	raw, err := json.Marshal(files, json.Deterministic(true))
	if err != nil {
		return nil
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(raw); err != nil || w.Close() != nil {
		return nil
	}
	return packed.Bytes()
}

// many is how many notes make it suspicious that half of them are gone at once.
const many = 20

// End deletes the records of notes that are gone, if the owner wants that and everything was
// looked at.
func (x *index) End(whole bool, emit func(stream string, rec connectorkit.Record)) {
	if !x.deletes || !whole {
		return
	}
	var gone []string
	for place := range x.files {
		if !x.there(place) {
			gone = append(gone, place)
		}
	}
	if len(x.files) >= many && 2*len(gone) > len(x.files) {
		return
	}
	slices.Sort(gone)
	for _, place := range gone {
		emit("notes", connectorkit.Delete(x.files[place].key(place)))
		x.drop(place)
	}
}

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
	contentHashBytes = 8
	// maxIndexedFiles bounds the index. Of more notes, those at the end of the alphabet are identified only by their
	// paths.
	maxIndexedFiles = 50_000
	maxIndexBytes   = 64 << 20 // of the index, unpacked
)

// noteIndex maps files to records. A new file with the content of a missing one is that note, renamed, and keeps its
// key.
type noteIndex struct {
	deletes bool
	present func(root, rel string) bool
	files   map[string]*indexedFile // by place
	keys    map[string]string       // to places
	byHash  map[string][]string
	byID    map[string]string // ids in heads to places
}

// indexedFile is one file of the index.
type indexedFile struct {
	Key  string `json:"k,omitzero"` // empty: its place
	ID   string `json:"i,omitzero"` // from its front matter
	Hash []byte `json:"h"`
}

func newNoteIndex(deletes bool) *noteIndex {
	return &noteIndex{deletes: deletes, present: func(string, string) bool { return false },
		files: map[string]*indexedFile{},
		keys:  map[string]string{}, byHash: map[string][]string{}, byID: map[string]string{}}
}

func filePlace(root, rel string) string { return root + "/" + rel }

func (k *indexedFile) recordKey(place string) string {
	if k.Key == "" {
		return place
	}
	return k.Key
}

// Load restores the stored index.
func (x *noteIndex) Load(stored jsontext.Value) {
	var packed []byte
	if len(stored) == 0 || json.Unmarshal(stored, &packed) != nil {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxIndexBytes))
	var files map[string]*indexedFile
	if err != nil || json.Unmarshal(raw, &files) != nil {
		return
	}
	for place, k := range files {
		if k != nil {
			x.setPlace(place, k)
		}
	}
}

func (x *noteIndex) setPlace(place string, k *indexedFile) {
	x.files[place] = k
	x.keys[k.recordKey(place)] = place
	x.byHash[string(k.Hash)] = append(x.byHash[string(k.Hash)], place)
	if k.ID != "" {
		x.byID[k.ID] = place
	}
}

func (x *noteIndex) dropPlace(place string) {
	k := x.files[place]
	if k == nil {
		return
	}
	delete(x.files, place)
	if x.keys[k.recordKey(place)] == place {
		delete(x.keys, k.recordKey(place))
	}
	if x.byID[k.ID] == place {
		delete(x.byID, k.ID)
	}
	x.byHash[string(k.Hash)] = slices.DeleteFunc(x.byHash[string(k.Hash)], func(p string) bool { return p == place })
}

// Walked stores which files the walk found.
func (x *noteIndex) Walked(present func(root, rel string) bool) { x.present = present }

// walkMetPlace reports whether the walk met a place.
func (x *noteIndex) walkMetPlace(place string) bool {
	for _, p := range noteFolders {
		if rel, ok := relativeToRoot(place, p.name); ok {
			return x.present(p.name, rel)
		}
	}
	return false
}

func relativeToRoot(place, root string) (rel string, ok bool) {
	if len(place) > len(root) && place[:len(root)] == root && place[len(root)] == '/' {
		return place[len(root)+1:], true
	}
	return "", false
}

// assignKey returns the key of a file's record. A known file keeps its key, unless its front matter now has another
// id. A new file gets the key of a missing note with the same id or content; else its own id or its path is the key.
func (x *noteIndex) assignKey(root, rel, own string, hash []byte) string {
	place := filePlace(root, rel)
	before := x.files[place]
	key, old := place, ""
	switch twin := x.byID[own]; {
	case before != nil && (before.ID == own || before.ID == "" || own == ""):
		key = before.recordKey(place)
	case own != "" && twin != "" && twin != place && !x.walkMetPlace(twin):
		old = twin
	case own != "" && (twin == "" || twin == place):
		key = "id/" + own
	case own == "":
		old = x.findRenamedPlace(place, hash)
	}
	if old != "" {
		key = x.files[old].recordKey(old)
		x.dropPlace(old)
	}
	for n := 2; !x.keyIsFree(key, place); n++ { // a file lies where another one was once
		key = fmt.Sprintf("%s#%d", place, n)
	}
	x.dropPlace(place)
	if other := x.keys[key]; other != "" { // of a file that is gone
		x.dropPlace(other)
	}
	k := &indexedFile{Hash: bytes.Clone(hash), ID: own}
	switch holder := x.byID[own]; {
	case own == "" && before != nil:
		k.ID = before.ID
	case holder != "" && holder != place: // a copy
		k.ID = ""
	}
	if key != place {
		k.Key = key
	}
	x.setPlace(place, k)
	return key
}

// keyIsFree reports whether no other file has the key.
func (x *noteIndex) keyIsFree(key, place string) bool {
	other, taken := x.keys[key]
	return !taken || other == place || !x.walkMetPlace(other) && other != ""
}

// findRenamedPlace returns a missing place with the same content, preferably with the same name.
func (x *noteIndex) findRenamedPlace(place string, hash []byte) string {
	found := ""
	for _, old := range x.byHash[string(hash)] {
		if x.walkMetPlace(old) {
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
func (x *noteIndex) Key(root, rel string) (string, bool) {
	place := filePlace(root, rel)
	k := x.files[place]
	if k == nil {
		return "", false
	}
	return k.recordKey(place), true
}

// Keep is what the next run needs.
func (x *noteIndex) Keep() any {
	files := x.files
	if len(files) > maxIndexedFiles {
		files = map[string]*indexedFile{}
		for _, place := range slices.Sorted(maps.Keys(x.files))[:maxIndexedFiles] {
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

// massDeletionMinimum is the number of notes from which deleting half of them at once is suspicious.
const massDeletionMinimum = 20

// End deletes the records of missing notes, if the owner wants that and the walk was complete.
func (x *noteIndex) End(whole bool, emit func(stream string, rec connectorkit.Record)) {
	if !x.deletes || !whole {
		return
	}
	var gone []string
	for place := range x.files {
		if !x.walkMetPlace(place) {
			gone = append(gone, place)
		}
	}
	if len(x.files) >= massDeletionMinimum && 2*len(gone) > len(x.files) {
		return
	}
	slices.Sort(gone)
	for _, place := range gone {
		emit("notes", connectorkit.Delete(x.files[place].recordKey(place)))
		x.dropPlace(place)
	}
}

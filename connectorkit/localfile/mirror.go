package localfile

import (
	"context"
	"slices"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// deleteGoneFiles deletes the stored records of files that are gone, once after a bookmark was forgotten: when every
// folder could be looked at, every file was read and its key is known, and a second look finds no other file.
func (r *sourceReader) deleteGoneFiles(ctx context.Context) error {
	if r.src.Mirror == "" || !r.selected[r.src.Mirror] || !r.walkIsComplete() {
		return nil
	}
	var keys []string
	for _, f := range r.walk.files {
		key, known := r.src.Memory.Key(f.root.Name, f.rel)
		switch {
		case known:
			keys = append(keys, key)
		case f.standing != fileExcluded && slices.Contains(f.store.Streams, r.src.Mirror):
			return nil
		}
	}
	return r.f.Compare(ctx, r.src.Mirror, connectorkit.Whole{Keys: slices.Values(keys), Gone: r.confirmGone})
}

// confirmGone returns the keys, if a second look finds no file that the first one did not: files that were moved while
// the folders were read are not gone.
func (r *sourceReader) confirmGone(ctx context.Context, keys []string) ([]string, error) {
	folders, err := r.f.Folders()
	if err != nil {
		return nil, err
	}
	again, err := r.src.walkRoots(ctx, folders)
	if err != nil {
		return nil, err
	}
	defer again.closeTrees()
	if !again.allFoldersListed() {
		return nil, connectorkit.ErrNotConfirmed
	}
	for _, f := range again.files {
		if r.walk.fileAt(f.root.Name, f.rel) == nil {
			return nil, connectorkit.ErrNotConfirmed
		}
	}
	return keys, nil
}

package foreign

import (
	"maps"
	"slices"
)

// maxVersionKeys bounds the keys that a stream's bookmark remembers. Beyond it no deletion is inferred.
const maxVersionKeys = 10_000

// tableVersions remembers the keys of a stream, to find those that are missing in a new version of the whole table.
type tableVersions struct {
	// Current is the version that is being received, Keys its keys so far.
	Current int64    `json:"current"`
	Keys    []string `json:"keys,omitempty"`
	// Live are the keys that are stored.
	Live []string `json:"live,omitempty"`
	// Full means that there were too many keys to remember.
	Full bool `json:"full,omitzero"`
	// Activated means that the tap declared the current version to be the whole table.
	Activated bool `json:"activated,omitzero"`

	came, live map[string]bool
}

func stringSet(keys []string) map[string]bool {
	set := make(map[string]bool, len(keys))
	for _, k := range keys {
		set[k] = true
	}
	return set
}

// load prepares the content of a bookmark.
func (v *tableVersions) load() *tableVersions {
	if v == nil {
		return nil
	}
	v.came, v.live = stringSet(v.Keys), stringSet(v.Live)
	return v
}

// begin makes a version the current one.
func (v *tableVersions) begin(version int64) {
	if v.Current != version {
		v.Current, v.Activated, v.came = version, false, map[string]bool{}
	}
}

// addKey records a record of the current version.
func (v *tableVersions) addKey(key string) {
	if v.Full || key == "" {
		return
	}
	v.came[key], v.live[key] = true, true
	if len(v.live) > maxVersionKeys {
		v.Full, v.came, v.live = true, nil, nil
	}
}

// missingKeys returns the stored keys that are missing in the activated version, sorted.
func (v *tableVersions) missingKeys() []string {
	if !v.Activated || v.Full {
		return nil
	}
	return slices.Sorted(func(yield func(string) bool) {
		for k := range v.live {
			if !v.came[k] && !yield(k) {
				return
			}
		}
	})
}

// settle removes the deleted keys.
func (v *tableVersions) settle() {
	if v.Activated && !v.Full {
		v.live = maps.Clone(v.came)
	}
}

// forBookmark returns the form for the bookmark, or nil: the streams of most taps have no versions.
func (v *tableVersions) forBookmark() *tableVersions {
	if v == nil {
		return nil
	}
	return &tableVersions{
		Current:   v.Current,
		Keys:      slices.Sorted(maps.Keys(v.came)),
		Live:      slices.Sorted(maps.Keys(v.live)),
		Full:      v.Full,
		Activated: v.Activated,
	}
}

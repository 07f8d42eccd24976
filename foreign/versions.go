package foreign

import (
	"maps"
	"slices"
)

// maxVersionKeys bounds the keys of a stream that its bookmark remembers. Beyond it no
// deletion is inferred.
const maxVersionKeys = 10_000

// versions is what a stream remembers of the keys that it has, so that it can tell what did not
// come with a new version of the whole table.
type versions struct {
	// Current is the version whose records are coming, Keys those that came with it.
	Current int64    `json:"current"`
	Keys    []string `json:"keys,omitempty"`
	// Live are the keys that are stored.
	Live []string `json:"live,omitempty"`
	// Full says that there were too many keys to remember.
	Full bool `json:"full,omitzero"`
	// Activated says that the tap declared the current version to be the whole table.
	Activated bool `json:"activated,omitzero"`

	came, live map[string]bool
}

func setOf(keys []string) map[string]bool {
	set := make(map[string]bool, len(keys))
	for _, k := range keys {
		set[k] = true
	}
	return set
}

// load prepares what a bookmark holds.
func (v *versions) load() *versions {
	if v == nil {
		return nil
	}
	v.came, v.live = setOf(v.Keys), setOf(v.Live)
	return v
}

// begin makes a version the one that is coming.
func (v *versions) begin(version int64) {
	if v.Current != version {
		v.Current, v.Activated, v.came = version, false, map[string]bool{}
	}
}

// saw notes a record of the current version.
func (v *versions) saw(key string) {
	if v.Full || key == "" {
		return
	}
	v.came[key], v.live[key] = true, true
	if len(v.live) > maxVersionKeys {
		v.Full, v.came, v.live = true, nil, nil
	}
}

// gone are the keys that are stored and did not come with the activated version, sorted.
func (v *versions) gone() []string {
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

// settle forgets what was deleted.
func (v *versions) settle() {
	if v.Activated && !v.Full {
		v.live = maps.Clone(v.came)
	}
}

// kept is the form for the bookmark. The streams of most taps have no versions.
func (v *versions) kept() *versions {
	if v == nil {
		return nil
	}
	return &versions{
		Current: v.Current, Keys: slices.Sorted(maps.Keys(v.came)), Live: slices.Sorted(maps.Keys(v.live)), Full: v.Full, Activated: v.Activated,
	}
}

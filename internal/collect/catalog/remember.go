package catalog

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/manifest/folder"
)

// Remember returns a finder for a long-lived process. It asks the catalog once per connector, and again when the host
// program or the connector's folder was replaced. It does not cache errors.
func Remember(c Catalog) Finder { return &cachedFinder{catalog: c} }

type cachedFinder struct {
	catalog Catalog
	mu      sync.Mutex
	found   map[string]cachedEntry
}

type cachedEntry struct {
	Connector
	of      [5]fileState
	inPlace bool // the owner's choice when it was found
}

// fileState distinguishes a file from a later one with the same name.
type fileState struct {
	size     int64
	modified time.Time
}

func (r *cachedFinder) Find(ctx context.Context, name string) (Connector, error) {
	r.mu.Lock()
	known, ok := r.found[name]
	r.mu.Unlock()
	choice, err := r.catalog.choice(ctx, name)
	if err != nil {
		return Connector{}, err
	}
	if ok && known.of == r.states(known.Connector) && known.inPlace == choice.InPlace {
		return r.catalog.withChoice(ctx, known.Connector)
	}
	c, err := r.catalog.Find(ctx, name)
	if err != nil {
		return c, err
	}
	now := r.states(c)
	if c.Dir != "" { // its files may have changed before their states were taken
		if c, err = r.catalog.Find(ctx, name); err != nil {
			return c, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil {
		r.found = map[string]cachedEntry{}
	}
	r.found[name] = cachedEntry{c, now, choice.InPlace}
	return c, nil
}

// states are of everything that an answer about the connector rests on.
func (r *cachedFinder) states(c Connector) (out [5]fileState) {
	paths := [5]string{r.catalog.Host, r.catalog.Dir} // another folder there may be the one that is meant
	if c.Dir != "" {
		paths[2], paths[3] = filepath.Join(c.Dir, folder.Manifest), filepath.Join(c.Dir, folder.Executable)
		paths[4] = filepath.Join(c.Dir, folder.Adapter)
	}
	for i, path := range paths {
		if info, err := os.Stat(path); path != "" && err == nil {
			out[i] = fileState{info.Size(), info.ModTime()}
		}
	}
	return out
}

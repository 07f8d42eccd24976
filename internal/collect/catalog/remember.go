package catalog

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Remember gives a finder for a process that lives long: it asks the catalog
// once per connector, and again when the host program or the connector's folder
// has been replaced since. An error is not remembered.
func Remember(c Catalog) Finder { return &remembered{catalog: c} }

type remembered struct {
	catalog Catalog
	mu      sync.Mutex
	found   map[string]memory
}

type memory struct {
	Connector
	of [4]state
}

// state tells a file from a later one of the same name.
type state struct {
	size     int64
	modified time.Time
}

func (r *remembered) Find(ctx context.Context, name string) (Connector, error) {
	now := r.states(name)
	r.mu.Lock()
	known, ok := r.found[name]
	r.mu.Unlock()
	if ok && known.of == now {
		return known.Connector, nil
	}
	c, err := r.catalog.Find(ctx, name)
	if err != nil {
		return c, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil {
		r.found = map[string]memory{}
	}
	r.found[name] = memory{c, now}
	return c, nil
}

// states are of everything that an answer about the connector rests on.
func (r *remembered) states(name string) (out [4]state) {
	dir := filepath.Join(r.catalog.Dir, name)
	for i, path := range []string{r.catalog.Host, filepath.Join(dir, manifestFile), filepath.Join(dir, "connector"), filepath.Join(dir, adapterFile)} {
		if info, err := os.Stat(path); path != "" && err == nil {
			out[i] = state{info.Size(), info.ModTime()}
		}
	}
	return out
}

package catalog

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/manifest/folder"
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
	of [5]state
}

// state tells a file from a later one of the same name.
type state struct {
	size     int64
	modified time.Time
}

func (r *remembered) Find(ctx context.Context, name string) (Connector, error) {
	r.mu.Lock()
	known, ok := r.found[name]
	r.mu.Unlock()
	if ok && known.of == r.states(known.Connector) {
		return r.catalog.withChosen(ctx, known.Connector)
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
		r.found = map[string]memory{}
	}
	r.found[name] = memory{c, now}
	return c, nil
}

// states are of everything that an answer about the connector rests on.
func (r *remembered) states(c Connector) (out [5]state) {
	paths := [5]string{r.catalog.Host, r.catalog.Dir} // another folder there may be the one that is meant
	if c.Dir != "" {
		paths[2], paths[3] = filepath.Join(c.Dir, folder.Manifest), filepath.Join(c.Dir, folder.Executable)
		paths[4] = filepath.Join(c.Dir, folder.Adapter)
	}
	for i, path := range paths {
		if info, err := os.Stat(path); path != "" && err == nil {
			out[i] = state{info.Size(), info.ModTime()}
		}
	}
	return out
}

package sqlstore

import (
	"context"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// indexCache caches the indexes of streams, so that a page needs no query of the database's catalogue. It only
// affects speed. Entries are at most indexCacheTTL old, and all are dropped when this process changes an index.
type indexCache struct {
	mu      sync.Mutex
	streams map[streamName]cachedStream
}

type streamName struct{ connectionID, name string }

type cachedStream struct {
	indexedStream
	at time.Time
}

// indexCacheTTL is how long a change of indexes by another process may stay unnoticed.
const indexCacheTTL = 10 * time.Second

func (k *indexCache) get(n streamName) (indexedStream, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.streams[n]
	return s.indexedStream, ok && time.Since(s.at) < indexCacheTTL
}

func (k *indexCache) put(n streamName, s indexedStream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.streams == nil {
		k.streams = map[streamName]cachedStream{}
	}
	k.streams[n] = cachedStream{s, time.Now()}
}

func (k *indexCache) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.streams)
}

// cachedIndexes returns the stream of a filter with its indexes, possibly from the cache. The id of a stream never
// changes. Everything else may be outdated and must not affect the result.
func (db *DB) cachedIndexes(ctx context.Context, p store.AccessFilter) (indexedStream, error) {
	name := streamName{p.ConnectionID, p.Stream}
	if s, ok := db.known.get(name); ok {
		return s, nil
	}
	s, err := db.indexedStreamOf(ctx, db.readers(ctx), p)
	if err == nil && s.id != 0 {
		db.known.put(name, s)
	}
	return s, err
}

// retryWithoutCache calls read, and calls it again with fresh indexes when a cached one no longer exists.
func (db *DB) retryWithoutCache(ctx context.Context, read func() error) error {
	err := read()
	if err == nil || ctx.Err() != nil || !db.dialect.IsMissingIndex(err) {
		return err
	}
	db.known.forget()
	return read()
}

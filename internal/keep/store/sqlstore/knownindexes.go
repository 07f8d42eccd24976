package sqlstore

import (
	"context"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// knownIndexes are the indexes of streams as they were found lately, so that a page is not preceded by a look into
// the catalogue of the database. They only decide how soon records are found: what a store knows is at most
// longestKnown old, and nothing of it once it has made or dropped an index itself.
type knownIndexes struct {
	mu      sync.Mutex
	streams map[streamName]knownStream
}

type streamName struct{ connectionID, name string }

type knownStream struct {
	indexedStream
	at time.Time
}

// longestKnown is how long another process may make or drop an index unnoticed.
const longestKnown = 10 * time.Second

func (k *knownIndexes) get(n streamName) (indexedStream, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.streams[n]
	return s.indexedStream, ok && time.Since(s.at) < longestKnown
}

func (k *knownIndexes) put(n streamName, s indexedStream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.streams == nil {
		k.streams = map[streamName]knownStream{}
	}
	k.streams[n] = knownStream{s, time.Now()}
}

func (k *knownIndexes) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.streams)
}

// lately is the stream of a part with the indexes that it had lately. A stream keeps its number for ever; what else
// is told of it may be old, and none of it may decide what is found.
func (db *DB) lately(ctx context.Context, p store.Part) (indexedStream, error) {
	name := streamName{p.ConnectionID, p.Stream}
	if s, ok := db.known.get(name); ok {
		return s, nil
	}
	s, err := db.indexed(ctx, db.readers(ctx), p)
	if err == nil && s.id != 0 {
		db.known.put(name, s)
	}
	return s, err
}

// byKnown reads by the indexes that are known. One that another process has dropped since fails a statement that
// names it: it is read once more by those that there are.
func (db *DB) byKnown(ctx context.Context, read func() error) error {
	err := read()
	if err == nil || ctx.Err() != nil || !db.dialect.NoIndex(err) {
		return err
	}
	db.known.forget()
	return read()
}

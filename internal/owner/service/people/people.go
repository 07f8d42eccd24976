// Package people finds out who wrote to the owner, over all sources, and keeps which names and addresses the owner
// joined or took apart. Names and addresses are kept with the records only: a decision of the owner names them by a
// digest.
package people

import (
	"context"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/person"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Store is what people are counted in, and where decisions are kept.
type Store interface {
	EachCorrespondence(ctx context.Context, q store.CorrespondentQuery, use func(store.Correspondence)) error
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
}

// RecordReader reads streams and the records that name authors.
type RecordReader interface {
	Streams(ctx context.Context, connectionID string) ([]api.Stream, error)
	Records(ctx context.Context, q api.RecordQuery) (api.RecordPage, error)
}

// Directory counts people when somebody asks for them, and remembers the counts until the records change.
type Directory struct {
	store Store
	read  RecordReader
	now   func() time.Time

	mu      sync.Mutex // held while counting
	streams map[streamName]*tally
	took    time.Duration // by the last counting
	asOf    time.Time
	again   sync.Mutex // held while counting in the background
	decided sync.Mutex // held while a decision changes
}

type streamName struct{ connection, stream string }

// tally is what was counted in a stream.
type tally struct {
	seq, purged int64
	traces      []*trace
}

// New returns the directory over a store.
func New(s Store, read RecordReader, now func() time.Time) *Directory {
	return &Directory{store: s, read: read, now: now, streams: map[streamName]*tally{}}
}

const (
	// quickly is how long counting may take to be done for every question.
	quickly = 100 * time.Millisecond
	// pauseFactor and leastPause are how long counts that take longer are used: so many times as long as they took.
	pauseFactor = 20
	leastPause  = time.Minute
	// longest bounds a counting in the background.
	longest = 10 * time.Minute
)

// snapshot returns what is counted. What was counted quickly is counted again whenever records changed; what takes long
// is counted again in the background, and the answer meanwhile is the one before.
func (d *Directory) snapshot(ctx context.Context) ([]*trace, time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	age := d.now().Sub(d.asOf)
	switch {
	case d.asOf.IsZero() || d.took < quickly:
		if err := d.count(ctx); err != nil {
			return nil, d.asOf, err
		}
	case (age < 0 || age > max(leastPause, pauseFactor*d.took)) && d.again.TryLock():
		later := context.WithoutCancel(ctx)
		go func() {
			defer d.again.Unlock()
			bounded, cancel := context.WithTimeout(later, longest)
			defer cancel()
			fresh := &Directory{store: d.store, read: d.read, now: d.now, streams: d.copyStreams()}
			if fresh.count(bounded) != nil {
				return // the counts before stay, and the next question tries again
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.streams, d.took, d.asOf = fresh.streams, fresh.took, fresh.asOf
		}()
	}
	var all []*trace
	for _, c := range d.streams {
		all = append(all, c.traces...)
	}
	return all, d.asOf, nil
}

func (d *Directory) copyStreams() map[streamName]*tally {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make(map[streamName]*tally, len(d.streams))
	for name, c := range d.streams {
		out[name] = c
	}
	return out
}

// count counts the streams that changed.
func (d *Directory) count(ctx context.Context) error {
	began := d.now()
	all, err := d.read.Streams(ctx, "")
	if err != nil {
		return err
	}
	next := map[streamName]*tally{}
	for i := range all {
		s := &all[i]
		if !isWritten(s) {
			continue
		}
		name := streamName{s.ConnectionID, s.Name}
		if had := d.streams[name]; had != nil && had.seq == s.LastSeq && had.purged == s.PurgedSeq {
			next[name] = had
			continue
		}
		if next[name], err = d.countStream(ctx, s, all); err != nil {
			return err
		}
	}
	d.streams, d.asOf = next, d.now()
	d.took = d.asOf.Sub(began)
	return nil
}

// isWritten reports whether the records of a stream were written by people to each other.
func isWritten(s *api.Stream) bool {
	roles := s.Display.Roles
	return manifest.DisplayKind(s.Display.Kind) == manifest.KindMessage && roles["speaker"] == "" &&
		(roles["author"] != "" || roles["address"] != "") && s.Records > 0
}

// countStream counts one stream.
func (d *Directory) countStream(ctx context.Context, s *api.Stream, all []api.Stream) (*tally, error) {
	out := &tally{seq: s.LastSeq, purged: s.PurgedSeq}
	roles := s.Display.Roles
	byName := map[[2]string]*trace{}
	err := d.store.EachCorrespondence(ctx, store.CorrespondentQuery{ConnectionID: s.ConnectionID, Stream: s.Name,
		Author: roles["author"], Address: roles["address"], Mine: roles["mine"]}, func(c store.Correspondence) {
		key := [2]string{c.Author, c.Address}
		t := byName[key]
		if t == nil {
			t = &trace{connection: s.ConnectionID, connectionName: s.ConnectionName, name: c.Author, address: c.Address,
				Trace: person.Trace{Stream: s.Name, Author: c.Author, Address: c.Address}}
			byName[key] = t
			out.traces = append(out.traces, t)
		}
		t.add(c)
	})
	if err != nil {
		return nil, faults.OwnerError(err, "count who wrote")
	}
	if related := s.Display.Related["author"]; related != "" {
		err = d.nameTraces(ctx, out.traces, s.ConnectionID, related, all)
	}
	for _, t := range out.traces {
		t.identify()
	}
	return out, err
}

// namesAtOnce is how many names one question looks up.
const namesAtOnce = 100

// nameTraces looks up the names of authors that records refer to by the key of another stream.
func (d *Directory) nameTraces(ctx context.Context, traces []*trace, connection, stream string,
	all []api.Stream) error {
	var roles map[string]string
	for i := range all {
		if all[i].ConnectionID == connection && all[i].Name == stream {
			roles = all[i].Display.Roles
		}
	}
	if roles == nil {
		return nil // nothing of it is stored
	}
	byKey := map[string][]*trace{}
	var keys []string
	for _, t := range traces {
		if byKey[t.Author] == nil {
			keys = append(keys, t.Author)
		}
		byKey[t.Author] = append(byKey[t.Author], t)
	}
	for len(keys) > 0 {
		n := min(len(keys), namesAtOnce)
		found, err := d.read.Records(ctx, api.RecordQuery{ConnectionID: connection, Stream: stream, Keys: keys[:n],
			Limit: n})
		if err != nil {
			return err
		}
		for _, r := range found.Records {
			name, address := fieldText(r.Data, roles["title"]), fieldText(r.Data, roles["address"])
			for _, t := range byKey[r.Key] {
				if name != "" {
					t.name = name
				}
				if t.address == "" {
					t.address = address
				}
			}
		}
		keys = keys[n:]
	}
	return nil
}

package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// maxFieldIndexes bounds the indexes of a stream: each makes writing slower.
const maxFieldIndexes = 8

// indexedKeys are the keys of a stream that are worth an index, in the order in which
// readers need them most. Expanded are the fields by which its records are found from others.
func indexedKeys(s *manifest.Stream, expanded []string) (keys []fieldKey) {
	kinds := s.ValueKinds()
	add := func(key func(field string) fieldKey, fields []string) {
		for _, f := range fields {
			if k := key(f); k.indexable() && !slices.Contains(keys, k) && len(keys) < maxFieldIndexes {
				keys = append(keys, k)
			}
		}
	}
	byKind := func(field string) fieldKey { return keyOf(field, kinds[field]) }
	given := func(field string) []string {
		if field == "" {
			return nil
		}
		return []string{field}
	}
	// Days and conversations are what the owner reads by. The time that is kept beside the data has
	// an index of its own.
	if roles := s.Roles(); roles.Time != s.ConsentTimeField {
		add(timeKey, given(roles.Time))
	}
	add(textKey, given(s.Roles().Thread))
	add(textKey, expanded)
	q := s.Query
	if q == nil {
		return keys
	}
	add(textKey, q.Filter)
	add(byKind, slices.Sorted(maps.Keys(q.RangeFilters)))
	if a := q.Aggregations; a != nil {
		add(timeKey, a.GroupByTime)
		add(textKey, a.GroupBy)
		add(byKind, slices.Concat(a.Sum, a.Min, a.Max))
		add(textKey, a.CountDistinct)
	}
	return keys
}

func (db *DB) IndexFields(ctx context.Context, above int64, now time.Time) (done bool, err error) {
	var making string
	look := func(from Querier) (c IndexChange, err error) {
		c, err = db.indexChange(ctx, from, above, now)
		making = c.Make
		return c, err
	}
	// Nobody is kept waiting just to find that there is nothing to do.
	if c, err := look(db.reader); err != nil || c == (IndexChange{}) {
		return true, err
	}
	changed, err := db.dialect.ChangeIndex(ctx, db.writer, look)
	db.known.forget()
	if errors.Is(err, store.ErrTooLong) {
		db.slow.failed(making, now)
		return false, errors.Join(fmt.Errorf("make index %s: %w", making, err), db.giveUp(ctx, making, now))
	}
	if err == nil && changed && making != "" {
		err = db.succeeded(ctx, making)
	}
	return !changed, db.dialect.Classify(err)
}

// indexChange finds one index that is there and should not be, or one that should be there
// and is not.
func (db *DB) indexChange(ctx context.Context, from Querier, above int64, now time.Time) (c IndexChange, err error) {
	there, err := db.indexesThere(ctx, from)
	if err != nil {
		return c, err
	}
	wanted, err := db.wantedIndexes(ctx, from, above)
	if err != nil {
		return c, err
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if _, want := wanted[name]; !want || there[name] == IndexLeft {
			return IndexChange{Drop: name}, nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		state, exists := there[name]
		// One that was begun is gone on with: from then on every commit keeps it.
		if (!exists && wanted[name].now || state == IndexBegun) && !db.slow.waits(name, now) {
			c = wanted[name].IndexChange
			c.Longest = db.slow.longest(name)
			return c, nil
		}
	}
	return c, nil
}

// indexesThere are the indexes of records that are made here, by name.
func (db *DB) indexesThere(ctx context.Context, from Querier) (map[string]IndexState, error) {
	there := map[string]IndexState{}
	err := eachRow(ctx, db, from, db.dialect.FieldIndexes(), nil, func(row scanner) (bool, error) {
		var name string
		var state IndexState
		err := row.Scan(&name, &state)
		if name == timeIndex || strings.HasPrefix(name, FieldIndexPrefix) {
			there[name] = state
		}
		return true, err
	})
	return there, err
}

// wantedIndex is an index that there should be.
type wantedIndex struct {
	IndexChange
	connectionID, connection, stream, field string
	due                                     bool // the stream is large enough for it to be made
	now                                     bool // and no run is filling it
}

// isHeld is an expression for whether a run holds the stream s.
const isHeld = `CASE WHEN EXISTS (SELECT 1 FROM run_leases l WHERE l.connection_id = s.connection_id AND l.run_id IS NOT NULL) THEN 1 ELSE 0 END`

// wantedIndexes are the indexes that there should be, by name. Those of a stream that is
// not to get them now may stay.
func (db *DB) wantedIndexes(ctx context.Context, from Querier, above int64) (map[string]wantedIndex, error) {
	type large struct {
		id, live                               int64
		name, connector, connectionID, display string
		held                                   bool
	}
	streams, err := list(ctx, db, from, func(s scanner) (l large, err error) {
		err = s.Scan(&l.id, &l.name, &l.live, &l.connector, &l.connectionID, &l.display, &l.held)
		return l, err
	}, `SELECT s.stream_id, s.name, s.live_records, c.connector_id, c.connection_id, c.display_name, `+isHeld+`
		FROM streams s JOIN connections c ON c.connection_id = s.connection_id WHERE s.live_records * 2 >= ? ORDER BY s.stream_id`, above)
	if err != nil {
		return nil, err
	}
	wanted := map[string]wantedIndex{timeIndex: {IndexChange: byTime, due: true, now: true}}
	for _, l := range streams {
		declared, err := db.declaredBy(ctx, l.connector)
		if err != nil {
			return nil, err
		}
		for _, k := range declared.keys[l.name] {
			name := k.index(l.id)
			wanted[name] = wantedIndex{connectionID: l.connectionID, connection: l.display, stream: l.name, field: k.field, due: l.live >= above, now: l.live >= above && !l.held,
				IndexChange: IndexChange{Make: name, StreamID: l.id, Columns: k.literally(db.dialect, "data") + ", seq", Where: "stream_id = " + strconv.FormatInt(l.id, 10) + " AND deleted = 0"}}
		}
	}
	return wanted, nil
}

// declaredBy is what the newest manifest of a connector says; nothing when there is none.
func (db *DB) declaredBy(ctx context.Context, connectorID string) (*declaration, error) {
	body, number, err := db.Manifest(ctx, connectorID)
	if errors.Is(err, store.ErrNotFound) {
		return &declaration{}, nil
	}
	if err != nil {
		return nil, err
	}
	of := generation{connectorID, number}
	d := db.declarations.get(of)
	if d == nil {
		d = readDeclaration(body)
		db.declarations.put(of, d)
	}
	return d, nil
}

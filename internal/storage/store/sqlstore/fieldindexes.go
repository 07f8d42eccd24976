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

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// maxFieldIndexes bounds the indexes of a stream: each makes writing slower.
const maxFieldIndexes = 8

// indexedKeys returns the keys of a stream that are worth an index, most useful first. Expanded are the fields by
// which other streams refer to its records.
func indexedKeys(s *manifest.Stream, expanded []string) (keys []fieldKey) {
	kinds := s.ValueKinds()
	add := func(key func(field string) fieldKey, fields []string) {
		for _, f := range fields {
			if k := key(f); k.indexable() && !slices.Contains(keys, k) && len(keys) < maxFieldIndexes {
				keys = append(keys, k)
			}
		}
	}
	byKind := func(field string) fieldKey { return fieldKeyOf(field, kinds[field]) }
	given := func(field string) []string {
		if field == "" {
			return nil
		}
		return []string{field}
	}
	// The owner reads by day and by conversation. The semantic time has its own index.
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
	look := func(from sqldialect.Querier) (c sqldialect.IndexChange, err error) {
		c, err = db.indexChange(ctx, from, above, now)
		making = c.Make
		return c, err
	}
	// Check without a lock first, so that a call without work blocks no one.
	if c, err := look(db.reader); err != nil || c == (sqldialect.IndexChange{}) {
		return true, err
	}
	changed, err := db.dialect.ChangeIndex(ctx, db.writer, look)
	db.known.forget()
	if errors.Is(err, store.ErrTooLong) {
		db.slow.Failed(making, now)
		return false, errors.Join(fmt.Errorf("build index %s: %w", making, err), db.recordAbandoned(ctx, making, now))
	}
	if err == nil && changed && making != "" {
		err = db.clearAbandoned(ctx, making)
	}
	return !changed, db.dialect.ClassifyError(err)
}

// indexChange finds one existing index that is not wanted, or a wanted one that is missing.
func (db *DB) indexChange(
	ctx context.Context, from sqldialect.Querier, above int64, now time.Time,
) (c sqldialect.IndexChange, err error) {
	there, err := db.existingIndexes(ctx, from)
	if err != nil {
		return c, err
	}
	wanted, err := db.wantedIndexes(ctx, from, above)
	if err != nil {
		return c, err
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if _, want := wanted[name]; !want || there[name] == sqldialect.IndexLeft {
			return sqldialect.IndexChange{Drop: name}, nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		state, exists := there[name]
		// Finish an index that was started: from then on every commit maintains it.
		if (!exists && wanted[name].now || state == sqldialect.IndexBegun) && !db.slow.IsWaiting(name, now) {
			c = wanted[name].IndexChange
			c.Longest = db.slow.TimeLimit(name)
			return c, nil
		}
	}
	return c, nil
}

// existingIndexes returns the state of the managed indexes of records, by name.
func (db *DB) existingIndexes(ctx context.Context, from sqldialect.Querier) (map[string]sqldialect.IndexState, error) {
	there := map[string]sqldialect.IndexState{}
	err := eachRow(ctx, db, from, db.dialect.FieldIndexQuery(), nil, func(row scanner) (bool, error) {
		var name string
		var state sqldialect.IndexState
		err := row.Scan(&name, &state)
		if name == timeIndex || strings.HasPrefix(name, FieldIndexPrefix) {
			there[name] = state
		}
		return true, err
	})
	return there, err
}

// wantedIndex is an index that should exist.
type wantedIndex struct {
	sqldialect.IndexChange
	connectionID, connection, stream, field string
	due                                     bool // the stream is large enough to build it
	now                                     bool // due, and no run is active
}

// runHoldsStream is an expression for whether a run holds the stream s.
const runHoldsStream = `CASE WHEN EXISTS (SELECT 1 FROM run_leases l WHERE l.connection_id = s.connection_id
	AND l.run_id IS NOT NULL) THEN 1 ELSE 0 END`

// wantedIndexes returns the indexes that should exist, by name. It includes those of smaller streams, which are not
// built but may stay.
func (db *DB) wantedIndexes(ctx context.Context, from sqldialect.Querier, above int64) (map[string]wantedIndex, error) {
	type large struct {
		id, live                               int64
		name, connector, connectionID, display string
		held                                   bool
	}
	streams, err := listRows(ctx, db, from, func(s scanner) (l large, err error) {
		err = s.Scan(&l.id, &l.name, &l.live, &l.connector, &l.connectionID, &l.display, &l.held)
		return l, err
	}, `SELECT s.stream_id, s.name, s.live_records, c.connector_id, c.connection_id, c.display_name, `+runHoldsStream+`
		FROM streams s JOIN connections c ON c.connection_id = s.connection_id WHERE s.live_records * 2 >= ?
		ORDER BY s.stream_id`, above)
	if err != nil {
		return nil, err
	}
	wanted := map[string]wantedIndex{timeIndex: {IndexChange: timeIndexChange, due: true, now: true}}
	for _, l := range streams {
		declared, err := db.connectorDeclaration(ctx, l.connector)
		if err != nil {
			return nil, err
		}
		for _, k := range declared.keys[l.name] {
			name := k.index(l.id)
			wanted[name] = wantedIndex{connectionID: l.connectionID, connection: l.display, stream: l.name, field: k.field,
				due: l.live >= above, now: l.live >= above && !l.held,
				IndexChange: sqldialect.IndexChange{Make: name, StreamID: l.id, Columns: k.literalExpression(db.dialect, "data") +
					", seq",
					Where: "stream_id = " + strconv.FormatInt(l.id, 10) + " AND deleted = 0"}}
		}
	}
	return wanted, nil
}

// connectorDeclaration returns the declaration in the newest manifest of a connector, or nil.
func (db *DB) connectorDeclaration(ctx context.Context, connectorID string) (*declaration, error) {
	body, number, err := db.Manifest(ctx, connectorID)
	if errors.Is(err, store.ErrNotFound) {
		return &declaration{}, nil
	}
	if err != nil {
		return nil, err
	}
	of := manifestID{connectorID, number}
	d := db.declarations.get(of)
	if d == nil {
		d = readDeclaration(body)
		db.declarations.put(of, d)
	}
	return d, nil
}

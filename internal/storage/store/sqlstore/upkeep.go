package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"
)

func (db *DB) Upkeep(ctx context.Context, above int64) (u store.Upkeep, err error) {
	u.Streams, err = listRows(ctx, db, db.reader, func(row scanner) (s store.StreamUpkeep, err error) {
		err = row.Scan(&s.ConnectionID, &s.Connection, &s.Stream, &s.Changes, &s.Counted, &s.Searchable, &s.Held)
		return s, err
	}, `SELECT s.connection_id, c.display_name, s.name, s.last_seq, CASE WHEN s.count_seq < s.time_seq THEN s.count_seq
		ELSE s.time_seq END,
			CASE WHEN s.search_fields = '[]' THEN s.last_seq ELSE s.search_seq END, `+runHoldsStream+`
		FROM streams s JOIN connections c ON c.connection_id = s.connection_id
		WHERE `+needsBackfill+` ORDER BY s.connection_id, s.name`)
	if err != nil {
		return u, fmt.Errorf("find streams to backfill: %w", err)
	}
	there, err := db.existingIndexes(ctx, db.reader)
	if err != nil {
		return u, fmt.Errorf("list the indexes: %w", err)
	}
	wanted, err := db.wantedIndexes(ctx, db.reader, above)
	if err != nil {
		return u, fmt.Errorf("find what is to be indexed: %w", err)
	}
	given, err := db.abandonedIndexes(ctx)
	if err != nil {
		return u, err
	}
	percent := map[string]int64{}
	if progress := db.dialect.IndexProgressQuery(); progress != "" {
		err = eachRow(ctx, db, db.reader, progress, nil, func(row scanner) (bool, error) {
			var name string
			var done int64
			err := row.Scan(&name, &done)
			percent[name] = done
			return true, err
		})
		if err != nil {
			return u, fmt.Errorf("read the progress of indexes: %w", err)
		}
	}
	for name, w := range wanted {
		is, exists := there[name]
		if !exists && !w.due {
			continue // the stream is too small
		}
		i := store.FieldIndex{ConnectionID: w.connectionID, Connection: w.connection, Stream: w.stream, Field: w.field,
			State: store.IndexWaiting}
		done, being := percent[name]
		at, gaveUp := given[name]
		switch {
		case is == sqldialect.IndexUsable:
			i.State = store.IndexReady
		case being:
			i.State, i.Percent = store.IndexBuilding, &done
		case exists:
			i.State = store.IndexBuilding
		case gaveUp:
			i.State, i.GivenUp = store.IndexAbandoned, &at
		}
		u.Indexes = append(u.Indexes, i)
	}
	slices.SortFunc(u.Indexes, func(a, b store.FieldIndex) int {
		return cmp.Or(cmp.Compare(a.ConnectionID, b.ConnectionID), cmp.Compare(a.Stream, b.Stream),
			cmp.Compare(a.Field, b.Field))
	})
	return u, nil
}

// abandonedSetting is the prefix of the setting that records an abandoned index for other processes.
const abandonedSetting = "index given up: "

func (db *DB) recordAbandoned(ctx context.Context, index string, now time.Time) error {
	return db.PutSetting(ctx, abandonedSetting+index, nil, now)
}

// clearAbandoned removes the record of an abandoned index.
func (db *DB) clearAbandoned(ctx context.Context, index string) error {
	given, err := db.abandonedIndexes(ctx)
	if _, gaveUp := given[index]; err != nil || !gaveUp {
		return err // avoid a needless write transaction
	}
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM settings WHERE name = ?`, abandonedSetting+index)
		return err
	})
}

func (db *DB) abandonedIndexes(ctx context.Context) (map[string]time.Time, error) {
	given := map[string]time.Time{}
	err := eachRow(ctx, db, db.reader, `SELECT name, updated_at FROM settings WHERE name > ? AND name < ?`,
		[]any{abandonedSetting, abandonedSetting + "~"}, func(row scanner) (bool, error) {
			var name string
			var at time.Time
			err := row.Scan(&name, intoTime(&at))
			given[name[min(len(name), len(abandonedSetting)):]] = at
			return true, err
		})
	if err != nil {
		return nil, fmt.Errorf("list abandoned indexes: %w", err)
	}
	return given, nil
}

package sqlstore

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) AddSearch(ctx context.Context, s store.Search) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO saved_searches (search_id, name, address, created_at) VALUES (?, ?, ?, ?)`, s.ID,
			s.Name, s.Address, formatTime(s.CreatedAt))
		return err
	})
}

func (db *DB) Searches(ctx context.Context) ([]store.Search, error) {
	return listRows(ctx, db, db.reader, func(row scanner) (s store.Search, err error) {
		err = row.Scan(&s.ID, &s.Name, &s.Address, intoTime(&s.CreatedAt))
		return s, err
	}, `SELECT search_id, name, address, created_at FROM saved_searches ORDER BY name, search_id`)
}

func (db *DB) RenameSearch(ctx context.Context, id, name string) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE saved_searches SET name = ? WHERE search_id = ?`, name, id))
	})
}

func (db *DB) DeleteSearch(ctx context.Context, id string) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`DELETE FROM saved_searches WHERE search_id = ?`, id))
	})
}

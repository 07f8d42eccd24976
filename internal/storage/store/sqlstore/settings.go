package sqlstore

import (
	"context"
	"fmt"
	"time"
)

const settingQuery = `SELECT value FROM settings WHERE name = ?`

func scanSetting(s scanner) (value []byte, err error) { return value, s.Scan(&value) }

func (db *DB) Setting(ctx context.Context, name string) ([]byte, error) {
	return getRow(db, db.row(ctx, settingQuery, name), scanSetting)
}

func (db *DB) PutSetting(ctx context.Context, name string, value []byte, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(insertSetting+` DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
			name, nonNilBytes(value), formatTime(now))
		return err
	})
}

// InitSetting reads after its own attempt to write, which waits for all others, so that every process reads the same
// value.
func (db *DB) InitSetting(ctx context.Context, name string, value []byte, now time.Time) (counts []byte, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(insertSetting+` DO NOTHING`, name, nonNilBytes(value), formatTime(now)); err != nil {
			return err
		}
		counts, err = scanSetting(tx.row(settingQuery, name))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", name, err)
	}
	return counts, nil
}

const insertSetting = `INSERT INTO settings (name, value, updated_at) VALUES (?, ?, ?) ON CONFLICT (name)`

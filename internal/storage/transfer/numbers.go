package transfer

import (
	"context"
	"fmt"
)

// continueNumbers lets the destination number new rows after the highest number that the source ever used, so that the
// number of a row that was deleted is not used again.
func (s *side) continueNumbers(ctx context.Context, to *side, tables []table) error {
	for _, t := range tables {
		column, err := identity(ctx, s, to, t.name)
		if err != nil {
			return err
		}
		if column == "" {
			continue
		}
		last, err := s.lastNumber(ctx, t.name, column)
		if err != nil {
			return fmt.Errorf("read the last number of %s: %w", t.name, err)
		}
		if last == 0 {
			continue
		}
		if err := to.setLastNumber(ctx, t.name, column, last); err != nil {
			return fmt.Errorf("set the last number of %s: %w", t.name, err)
		}
	}
	return nil
}

// identity returns the column of a table that PostgreSQL numbers; empty: none.
func identity(ctx context.Context, a, b *side, table string) (column string, err error) {
	server := a
	if b.postgres {
		server = b
	}
	err = server.tx.QueryRowContext(ctx, `SELECT coalesce(max(column_name), '') FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'YES'`, table).Scan(&column)
	return column, err
}

func (s *side) lastNumber(ctx context.Context, table, column string) (last int64, err error) {
	query := `SELECT coalesce(max(` + column + `), 0) FROM ` + table
	if err := s.tx.QueryRowContext(ctx, query).Scan(&last); err != nil {
		return 0, err
	}
	var issued int64
	if s.postgres {
		err = s.tx.QueryRowContext(ctx, `SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass),
			0)`, table, column).Scan(&issued)
	} else {
		err = s.tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?`,
			table).Scan(&issued)
	}
	return max(last, issued), err
}

func (s *side) setLastNumber(ctx context.Context, table, column string, last int64) (err error) {
	if s.postgres {
		_, err = s.tx.ExecContext(ctx, `SELECT setval(pg_get_serial_sequence($1, $2), $3)`, table, column, last)
		return err
	}
	_, err = s.tx.ExecContext(ctx, `UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?`, last, table)
	return err
}

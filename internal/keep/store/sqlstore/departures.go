package sqlstore

import (
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// A reader that follows the changes of a part has to hear of a record that left it, and
// nothing of what became of it: which version was the last within the bounds, and when
// another took its place, is found in the history of the record.

// bounds is a condition that a version of a record is within the bounds of a part, with
// its arguments; without text when there are none.
type bounds struct {
	text string
	args []any
}

// boundsOf writes the condition for the versions of a table.
func boundsOf(d Dialect, p store.Part, table string) (b bounds, err error) {
	add := func(condition string, args ...any) {
		if b.text == "" {
			b.text = table + ".data IS NOT NULL"
		}
		b.text += " AND " + condition
		b.args = append(b.args, args...)
	}
	if p.Since != "" {
		add(table+".semantic_time >= ?", p.Since)
	}
	if p.Until != "" {
		add(table+".semantic_time < ? AND "+table+".semantic_time <> ''", p.Until)
	}
	if p.Among != nil {
		list, err := d.List(storableOnly(p.Among.Values))
		if err != nil {
			return b, err
		}
		add(`record_among(`+table+`.data, ?, `+d.Texts()+`)`, p.Among.Field, list)
	}
	return b, nil
}

// storableField reports whether any record can have the field.
func storableField(a *store.FieldAmong) bool { return a == nil || storable(a.Field) }

// leavingOf is the rest of a statement over the versions v within the bounds that another
// took the place of: n, or the record r as it is now.
func leavingOf(d Dialect, p store.Part) (text string, args []any, err error) {
	b, err := boundsOf(d, p, "v")
	return ` FROM record_history v LEFT JOIN record_history n ON n.record_id = v.record_id AND n.version = v.version + 1
		WHERE v.record_id = r.id AND ` + b.text, b.args, err
}

// withDepartures adds the condition that a record is within the bounds, or left them after
// what the reader knows. What is asked by a field's value is asked of tombstones alone
// then: of a record that left, nothing that it holds now may be told.
func (p *recordPage) withDepartures(d Dialect, within bounds) error {
	leaving, args, err := leavingOf(d, p.Part)
	if err != nil {
		return err
	}
	knownAt := ""
	if !p.KnownAt.IsZero() {
		knownAt = stamp(p.KnownAt)
	}
	left := `EXISTS (SELECT 1` + leaving + ` AND coalesce(n.seq, r.seq) > ? AND coalesce(n.changed_at, r.changed_at) >= ?)`
	if len(p.Where)+len(p.Compare) > 0 {
		left = `r.data IS NULL AND ` + left
	}
	all := append(append([]any(nil), within.args...), args...)
	p.add(opaque(within.text+` OR `+left), append(all, p.Known, knownAt)...)
	return nil
}

// departed leaves of a record outside the bounds its key, and when it left.
func departed(r store.StoredRecord, left string) (store.StoredRecord, error) {
	gone := store.StoredRecord{ID: r.ID, ConnectionID: r.ConnectionID, Stream: r.Stream, Key: r.Key, Seq: r.Seq, Deleted: true, EmittedAt: left}
	return gone, intoTime(&gone.ChangedAt).Scan(left)
}

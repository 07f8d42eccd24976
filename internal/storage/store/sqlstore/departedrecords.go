package sqlstore

import (
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"
)

// A reader that follows changes must learn that a record stopped matching its filter, but nothing about its new
// content. The history of the record shows its last matching version, and when another version replaced it.

// versionBounds is the condition that a version of a record matches a filter, with its arguments. The text is empty
// when there is no limit.
type versionBounds struct {
	text string
	args []any
}

// versionBoundsOf returns the condition for the versions of a table.
func versionBoundsOf(d sqldialect.Dialect, p store.AccessFilter, table string) (b versionBounds, err error) {
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
	if p.AllowedValues != nil {
		list, err := d.ListArgument(onlyStorable(p.AllowedValues.Values))
		if err != nil {
			return b, err
		}
		add(`record_among(`+table+`.data, ?, `+d.ListPlaceholder()+`)`, p.AllowedValues.Field, list)
	}
	return b, nil
}

// isStorableField reports whether any record can have the field.
func isStorableField(a *store.AllowedValues) bool { return a == nil || isStorable(a.Field) }

// departureQuery returns the rest of a statement over matching versions v that were replaced: by a version n, or by
// the current record r.
func departureQuery(d sqldialect.Dialect, p store.AccessFilter) (text string, args []any, err error) {
	b, err := versionBoundsOf(d, p, "v")
	return ` FROM record_history v LEFT JOIN record_history n ON n.record_id = v.record_id AND n.version = v.version + 1
		WHERE v.record_id = r.id AND ` + b.text, b.args, err
}

// withDepartures adds the condition that a record matches, or stopped matching after what the reader knows. Field
// values are then compared only for tombstones, so that nothing about a departed record's content is revealed.
func (p *recordPage) withDepartures(d sqldialect.Dialect, within versionBounds) error {
	leaving, args, err := departureQuery(d, p.AccessFilter)
	if err != nil {
		return err
	}
	knownAt := ""
	if !p.KnownAt.IsZero() {
		knownAt = formatTime(p.KnownAt)
	}
	left := `EXISTS (SELECT 1` + leaving + ` AND coalesce(n.seq, r.seq) > ? AND coalesce(n.changed_at, r.changed_at) >= ?)`
	if len(p.Where)+len(p.Compare) > 0 {
		left = `r.data IS NULL AND ` + left
	}
	all := append(append([]any(nil), within.args...), args...)
	p.addCondition(opaqueCondition(within.text+` OR `+left), append(all, p.Known, knownAt)...)
	return nil
}

// departedRecord reduces a record that stopped matching to its key and the time.
func departedRecord(r store.StoredRecord, left string) (store.StoredRecord, error) {
	gone := store.StoredRecord{ID: r.ID, ConnectionID: r.ConnectionID, Stream: r.Stream, Key: r.Key, Seq: r.Seq,
		Deleted: true, EmittedAt: left}
	return gone, intoTime(&gone.ChangedAt).Scan(left)
}

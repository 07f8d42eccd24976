package sqlstore

import (
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/recordfields"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A condition on a field reads only that field, so its cost never depends on other fields of the record. Both
// databases have the functions record_holds and record_pick; those of SQLite are in this program. PostgreSQL cannot
// parse records with certain escapes: then record_holds returns NULL and record_pick returns the whole record, and
// this program does the rest. Which records these are does not depend on the query.

// addFieldValues adds the conditions on fields. A value that the databases reject as a parameter can only match
// records that are checked in this program.
func (f *sqlFilter) addFieldValues(data string, where []store.FieldValue) {
	for _, w := range where {
		var field, value any = w.Field, w.Value
		if !isStorable(w.Field, w.Value) {
			field, value = "", nil
		}
		f.addCondition(`record_holds(`+data+`, ?, ?) IS NOT FALSE`, field, value)
	}
}

// arePossible reports whether any record can have the values. None has invalid UTF-8.
func arePossible(where []store.FieldValue) bool {
	for _, w := range where {
		if !utf8.ValidString(w.Field) || !utf8.ValidString(w.Value) {
			return false
		}
	}
	return true
}

// holdsAll reports whether an object has all of the values.
func holdsAll(data []byte, where []store.FieldValue) bool {
	for _, w := range where {
		if !recordfields.HoldsField(data, w.Field, w.Value) {
			return false
		}
	}
	return true
}

// fieldsToRead returns the fields that a page must read: those it returns and those it filters by. Nil means all.
func fieldsToRead(given []string, where []store.FieldValue) []string {
	if given == nil {
		return nil
	}
	fields := given[:len(given):len(given)]
	for _, w := range where {
		fields = append(fields, w.Field)
	}
	return onlyStorable(fields)
}

// onlyStorable drops texts that no record can have as a name or key.
func onlyStorable(texts []string) []string {
	kept := make([]string, 0, len(texts))
	for _, text := range texts {
		if isStorable(text) {
			kept = append(kept, text)
		}
	}
	return kept
}

// isStorable reports whether both databases can store the texts. Other texts match nothing, and PostgreSQL would
// reject them as parameters.
func isStorable(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return false
		}
	}
	return true
}

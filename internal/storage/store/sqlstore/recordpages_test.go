package sqlstore

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// plainDialect implements what the statements of this test need.
type plainDialect struct{ sqldialect.Dialect }

func (plainDialect) ListPlaceholder() string            { return "?" }
func (plainDialect) ListArgument([]string) (any, error) { return "list", nil }
func (plainDialect) InList(column string) string        { return column + " IN (?)" }
func (plainDialect) InKeyList(column string) string     { return column + " IN (?)" }
func (plainDialect) ByteOrder(_ bool, e string) string  { return e }

// TestFilterReadsOnlyItsField checks that a filter compares its value only with its own field: the record's text is
// an argument only of the functions that read fields, and the value is an argument of only one of them.
func TestFilterReadsOnlyItsField(t *testing.T) {
	for _, tombstones := range []bool{false, true} {
		q := store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "c", Stream: "s", Fields: []string{"folder"},
			Since: "x", Keys: []string{"k"}, AllowedValues: &store.AllowedValues{Field: "place"}},
			Where: []store.FieldValue{{Field: "folder", Value: "guess"}}, Limit: 10,
			Compare: []store.Comparison{{Field: "folder", Kind: manifest.ValueText, Op: manifest.RangeLT, Value: "bound"}}}
		p, err := newRecordPage(plainDialect{}, q, tombstones, readPath{})
		if err != nil {
			t.Fatal(err)
		}
		text, args := p.statement(0, 10)
		guesses := 0
		for i, arg := range args {
			if arg == "guess" {
				guesses++
				if before := nth(text, "?", i); !strings.HasSuffix(before, ", ?, ") ||
					!regexp.MustCompile(`record_holds\([^?]*\?, $`).MatchString(before) {
					t.Errorf("the guess is an argument of %s", before[max(0, len(before)-60):])
				}
			}
		}
		if guesses != 1 {
			t.Errorf("the guess is %d arguments of %s", guesses, text)
		}
		// Without these functions and the test for tombstones, nothing reads data.
		rest := regexp.MustCompile(`record_holds\((?:r\.data|coalesce\(r\.data, o\.data\)), \?, \?\)|`+
			`record_text\((?:r\.data|coalesce\(r\.data, o\.data\)), \?\) < \?|record_pick\([or]\.data, \?\)|[rv]\.data IS `+
			`(NOT )?NULL|record_among\([rv]\.data, \?, \?\)`).ReplaceAllString(text, "")
		if strings.Contains(rest, ".data") {
			t.Errorf("the statement reads data in another way: %s", rest)
		}
	}
}

// nth returns the text before the nth occurrence of a mark, from zero.
func nth(text, mark string, n int) string {
	at := 0
	for range n {
		at += strings.Index(text[at:], mark) + len(mark)
	}
	return text[:at+strings.Index(text[at:], mark)]
}

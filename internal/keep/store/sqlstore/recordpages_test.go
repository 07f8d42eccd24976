package sqlstore

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// plainDialect is enough of one to write a statement.
type plainDialect struct{ Dialect }

func (plainDialect) Texts() string                    { return "?" }
func (plainDialect) List([]string) (any, error)       { return "list", nil }
func (plainDialect) Among(column string) string       { return column + " IN (?)" }
func (plainDialect) AmongKeys(column string) string   { return column + " IN (?)" }
func (plainDialect) Bytewise(_ bool, e string) string { return e }

// A statement that filters holds a guess against the one field that it is about: the
// text of the record is an argument of the functions that read fields, and of
// nothing that could look through it, and the guess is an argument of one alone.
func TestFilterAsksTheFieldAlone(t *testing.T) {
	for _, tombstones := range []bool{false, true} {
		q := store.RecordQuery{Part: store.Part{ConnectionID: "c", Stream: "s", Fields: []string{"folder"}, Since: "x", Keys: []string{"k"}, Among: &store.FieldAmong{Field: "place"}},
			Where: []store.FieldValue{{Field: "folder", Value: "guess"}}, Limit: 10,
			Compare: []store.Comparison{{Field: "folder", Kind: manifest.ValueText, Op: manifest.RangeLT, Value: "bound"}}}
		p, err := pageOf(plainDialect{}, q, tombstones, path{})
		if err != nil {
			t.Fatal(err)
		}
		text, args := p.statement(0, 10)
		guesses := 0
		for i, arg := range args {
			if arg == "guess" {
				guesses++
				if before := nth(text, "?", i); !strings.HasSuffix(before, ", ?, ") || !regexp.MustCompile(`record_holds\([^?]*\?, $`).MatchString(before) {
					t.Errorf("the guess is an argument of %s", before[max(0, len(before)-60):])
				}
			}
		}
		if guesses != 1 {
			t.Errorf("the guess is %d arguments of %s", guesses, text)
		}
		// What is left without the functions and the test for tombstones reads no data.
		rest := regexp.MustCompile(`record_holds\((?:r\.data|coalesce\(r\.data, o\.data\)), \?, \?\)|record_text\((?:r\.data|coalesce\(r\.data, o\.data\)), \?\) < \?|record_pick\([or]\.data, \?\)|[rv]\.data IS (NOT )?NULL|record_among\([rv]\.data, \?, \?\)`).ReplaceAllString(text, "")
		if strings.Contains(rest, ".data") {
			t.Errorf("the statement reads data in another way: %s", rest)
		}
	}
}

// nth gives what stands before the nth occurrence of a mark, from zero.
func nth(text, mark string, n int) string {
	at := 0
	for range n {
		at += strings.Index(text[at:], mark) + len(mark)
	}
	return text[:at+strings.Index(text[at:], mark)]
}

package sqlstore

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TimeLayout is the stored form of times: UTC and of fixed width, so that text order is time order.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

func formatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// parseTime parses a time in TimeLayout without the cost of time.Parse, which handles everything else.
func parseTime(s string) (time.Time, error) {
	if len(s) != len(TimeLayout) {
		return time.Parse(TimeLayout, s)
	}
	number := func(from, to int) (n int) {
		for _, c := range []byte(s[from:to]) {
			if c < '0' || c > '9' {
				return -1
			}
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second, micro := number(11, 13), number(14, 16), number(17, 19), number(20, 26)
	separated := s[4] == '-' && s[7] == '-' && s[10] == 'T' && s[13] == ':' && s[16] == ':' && s[19] == '.' && s[26] == 'Z'
	// Every month has days 1 to 28; time.Parse handles later days.
	if !separated || year < 0 || month < 1 || month > 12 || day < 1 || day > 28 || hour < 0 || hour > 23 ||
		minute < 0 || minute > 59 || second < 0 || second > 59 || micro < 0 {
		return time.Parse(TimeLayout, s)
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, micro*1000, time.UTC), nil
}

// storedTime returns the time as it reads back.
func storedTime(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func timeOrNull(t *time.Time) any {
	if t == nil {
		return nil
	}
	return formatTime(*t)
}

// jsonOrNull returns a JSON value unchanged, and NULL for an empty one.
func jsonOrNull(v jsontext.Value) any {
	if len(v) == 0 {
		return nil
	}
	return string(v)
}

// textOrNull returns NULL for an empty string.
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// nonNilBytes returns an empty value, not NULL, for no bytes.
func nonNilBytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// blobOrNull returns NULL for no bytes.
func blobOrNull(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// jsonStrings encodes a list of names; a nil list is an empty one.
func jsonStrings(list []string) (string, error) {
	if list == nil {
		list = []string{}
	}
	b, err := json.Marshal(list)
	return string(b), err
}

func parseStrings(s string) ([]string, error) {
	var list []string
	err := json.Unmarshal([]byte(s), &list)
	return list, err
}

// The functions below return scan targets.

func intoTime(dst *time.Time) sql.Scanner {
	return textScanner(func(s string, ok bool) (err error) {
		*dst, err = time.Time{}, nil
		if ok {
			*dst, err = time.Parse(TimeLayout, s)
		}
		return err
	})
}

func intoTimePtr(dst **time.Time) sql.Scanner {
	return textScanner(func(s string, ok bool) error {
		*dst = nil
		if !ok {
			return nil
		}
		t, err := time.Parse(TimeLayout, s)
		*dst = &t
		return err
	})
}

func intoJSON(dst *jsontext.Value) sql.Scanner {
	return textScanner(func(s string, ok bool) error {
		*dst = nil
		if ok {
			*dst = jsontext.Value(s)
		}
		return nil
	})
}

func intoBytes(dst *[]byte) sql.Scanner {
	return textScanner(func(s string, _ bool) error { *dst = []byte(s); return nil })
}

func intoString(dst *string) sql.Scanner {
	return textScanner(func(s string, _ bool) error { *dst = s; return nil })
}

// textScanner receives a text column; ok is false for NULL.
type textScanner func(s string, ok bool) error

func (f textScanner) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		return f("", false)
	case string:
		return f(v, true)
	case []byte:
		return f(string(v), true)
	default:
		return fmt.Errorf("column holds %T instead of text", src)
	}
}

// limitOrDefault returns the limit, or usual if it is not positive.
func limitOrDefault(limit, usual int) int {
	if limit <= 0 {
		return usual
	}
	return limit
}

// sqlFilter collects conditions. Conditions with an empty value are skipped.
type sqlFilter struct {
	conditions []string
	args       []any
}

func (f *sqlFilter) addEqual(column, value string) {
	if value != "" {
		f.addCondition(column+" = ?", value)
	}
}

func (f *sqlFilter) addCondition(condition string, args ...any) {
	f.conditions = append(f.conditions, condition)
	f.args = append(f.args, args...)
}

// whereClause returns the WHERE clause, or "".
func (f *sqlFilter) whereClause() string {
	if len(f.conditions) == 0 {
		return ""
	}
	return " WHERE " + f.andClause()
}

// andClause joins the conditions.
func (f *sqlFilter) andClause() string { return strings.Join(f.conditions, " AND ") }

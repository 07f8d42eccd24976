package sqlstore

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Layout is how times are kept: UTC and of fixed width, so that text order is time order.
const Layout = "2006-01-02T15:04:05.000000Z"

func stamp(t time.Time) string { return t.UTC().Format(Layout) }

// readStamp reads a time as stamp writes it, without the cost of a layout, and
// leaves everything else to time.Parse.
func readStamp(s string) (time.Time, error) {
	if len(s) != len(Layout) {
		return time.Parse(Layout, s)
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
	// Up to the 28th every month has the day; the rest is left to those who know months.
	if !separated || year < 0 || month < 1 || month > 12 || day < 1 || day > 28 || hour < 0 || hour > 23 ||
		minute < 0 || minute > 59 || second < 0 || second > 59 || micro < 0 {
		return time.Parse(Layout, s)
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, micro*1000, time.UTC), nil
}

// storedTime is the time as it reads back.
func storedTime(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func stampOrNull(t *time.Time) any {
	if t == nil {
		return nil
	}
	return stamp(*t)
}

// text keeps the bytes of a JSON value as they are; nothing becomes NULL.
func text(v jsontext.Value) any {
	if len(v) == 0 {
		return nil
	}
	return string(v)
}

// textOrNull keeps an empty string as NULL.
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// blob keeps no bytes as an empty value.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// blobOrNull keeps no bytes as NULL.
func blobOrNull(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

func number(b bool) int {
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

// The functions below make scan targets.

func intoTime(dst *time.Time) sql.Scanner {
	return scanText(func(s string, ok bool) (err error) {
		*dst, err = time.Time{}, nil
		if ok {
			*dst, err = time.Parse(Layout, s)
		}
		return err
	})
}

func intoTimePtr(dst **time.Time) sql.Scanner {
	return scanText(func(s string, ok bool) error {
		*dst = nil
		if !ok {
			return nil
		}
		t, err := time.Parse(Layout, s)
		*dst = &t
		return err
	})
}

func intoJSON(dst *jsontext.Value) sql.Scanner {
	return scanText(func(s string, ok bool) error {
		*dst = nil
		if ok {
			*dst = jsontext.Value(s)
		}
		return nil
	})
}

func intoBytes(dst *[]byte) sql.Scanner {
	return scanText(func(s string, _ bool) error { *dst = []byte(s); return nil })
}

func intoString(dst *string) sql.Scanner {
	return scanText(func(s string, _ bool) error { *dst = s; return nil })
}

// scanText receives a text column; ok is false for NULL.
type scanText func(s string, ok bool) error

func (f scanText) Scan(src any) error {
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

// limitOr gives the limit that was asked for, or the usual one.
func limitOr(limit, usual int) int {
	if limit <= 0 {
		return usual
	}
	return limit
}

// filter collects the conditions of a list; an empty value is none.
type filter struct {
	conditions []string
	args       []any
}

func (f *filter) is(column, value string) {
	if value != "" {
		f.add(column+" = ?", value)
	}
}

func (f *filter) add(condition string, args ...any) {
	f.conditions = append(f.conditions, condition)
	f.args = append(f.args, args...)
}

// where gives the clause, or nothing.
func (f *filter) where() string {
	if len(f.conditions) == 0 {
		return ""
	}
	return " WHERE " + f.all()
}

// all joins the conditions.
func (f *filter) all() string { return strings.Join(f.conditions, " AND ") }

package localarchive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestTable compares the rows of tables, with their numbers and lengths.
func TestTable(t *testing.T) {
	long := strings.Repeat("x", maxLineBytes+1)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"plain", "a,b\r\n\r\n \x00\nc,,\n", []string{`0 5 ["a" "b"]`, `1 4 ["c" "" ""]`}},
		{"quoted", "\"a,\"\"b\"\"\",c\n\"\",x", []string{`0 12 ["a,\"b\"" "c"]`, `1 4 ["" "x"]`}},
		{"several lines", "\"a\nb\",c\nd\n", []string{`0 8 ["a\nb" "c"]`, `1 2 ["d"]`}},
		{"quote within", "\"a\"b\",c\na\"b\n", []string{`0 8 ["a\"b" "c"]`, `1 4 ["a\"b"]`}},
		{"quote that is never closed", "\"a\nb,c\nd\n", []string{`0 3 error`, `1 4 ["b" "c"]`, `2 2 ["d"]`}},
		{"quote that another row closes", "\"a\n\"b\",c\n", []string{`0 3 error`, `1 6 ["b" "c"]`}},
		{"broken characters", "a\xff\x00b\n", []string{`0 5 ["a�b"]`}},
		{"no end of the last line", "a\n\"b\nc", []string{`0 2 ["a"]`, `1 3 error`, `2 1 ["c"]`}},
		{"long line", "a\n" + long + "\nb\n", []string{`0 2 ["a"]`, `1 0 error`, `2 2 ["b"]`}},
		{"long line at the end", "a\n" + long, []string{`0 2 ["a"]`, `1 0 error`}},
		{"longest line", long[1:maxLineBytes] + "\n", []string{fmt.Sprintf("0 %d [%q]", maxLineBytes, long[1:maxLineBytes])}},
	} {
		table := NewTable(strings.NewReader(c.text))
		var got []string
		for {
			fields, err := table.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			row := fmt.Sprintf("%d %d %q", table.Row, table.Length, fields)
			if err != nil {
				row = fmt.Sprintf("%d %d error", table.Row, table.Length)
			}
			got = append(got, row)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %.300q, want %.300q", c.name, got, c.want)
		}
	}
	few := NewTable(strings.NewReader("\"a\nbc\"\n"))
	few.Most = 3 // the first line fills it
	if fields, err := few.Next(); !errors.Is(err, ErrRowUnreadable) {
		t.Errorf("a row of more than the maximum: %q, %v", fields, err)
	}
}

// TestLists compares the elements of documents, and how reading them ends.
func TestLists(t *testing.T) {
	stop := errors.New("stop")
	for _, c := range []struct {
		name, text string
		from       ListPlace
		want       string
	}{
		{"list", `[1, {"a":[2]}]`, ListPlace{}, `/0=1 /1={"a":[2]}`},
		{"script", `window.x = [1,2]`, ListPlace{Index: 1}, `/1=2`},
		{"members", `{"a":[1],"x":{"a":[0]},"b":[2,3],"c":4,"a":5}`, ListPlace{}, `a/0=1 x b/0=2 b/1=3 c`},
		{"continued", `{"a":[1],"x":0,"b":[2,3],"y":0}`, ListPlace{"b", 1}, `b/1=3 y`},
		{"continued at the beginning", `{"a":[1],"x":0,"b":[2]}`, ListPlace{"a", 0}, `a/0=1 x b/0=2`},
		{"stopped", `["stop",2]`, ListPlace{}, `/0="stop" stop`},
		{"stopped in a member", `{"a":["stop",2]}`, ListPlace{}, `a/0="stop" stop`},
		{"empty", ``, ListPlace{}, `damaged`}, {"no list", strings.Repeat(" ", 70<<10), ListPlace{}, `damaged`},
		{"far away", strings.Repeat(" ", 60<<10) + "[1]", ListPlace{}, `/0=1`},
		{"torn list", `[1,`, ListPlace{}, `/0=1 damaged`}, {"torn element", `[1,{"a`, ListPlace{}, `/0=1 damaged`},
		{"torn before the place", `[{"a`, ListPlace{Index: 1}, `damaged`},
		{"torn document", `{"a":[1]`, ListPlace{}, `a/0=1 damaged`},
		{"torn member", `{"x":{"y"`, ListPlace{}, `x damaged`}, {"torn name", `{"a`, ListPlace{}, `damaged`},
		{"no names", `{1}`, ListPlace{}, `damaged`}, {"not closed", `[1}`, ListPlace{}, `/0=1 damaged`},
		{"too large", `[1,"` + strings.Repeat("x", maxElementBytes+1<<20) + `"]`, ListPlace{}, `/0=1 damaged`},
		{"too large for a member", `{"x":"` + strings.Repeat("x", maxElementBytes+1<<20) + `"}`, ListPlace{}, `x damaged`},
		{"large in pieces", `{"x":["` + strings.Repeat(strings.Repeat("x", 1<<20)+`","`, 17) + `"],"a":[1]}`,
			ListPlace{}, `x a/0=1`},
	} {
		var got []string
		err := ReadSomeLists(t.Context(), strings.NewReader(c.text), c.from, []string{"a", "b"},
			func(at ListPlace, element jsontext.Value) error {
				got = append(got, fmt.Sprintf("%s/%d=%s", at.List, at.Index, element))
				if string(element) == `"stop"` {
					return stop
				}
				return nil
			}, func(name string) { got = append(got, name) })
		switch {
		case errors.Is(err, stop):
			got = append(got, "stop")
		case errors.Is(err, ErrDamaged):
			got = append(got, "damaged")
		case err != nil:
			got = append(got, err.Error())
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %.200s, want %s", c.name, text, c.want)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ReadLists(gone, strings.NewReader("[1]"), ListPlace{}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the run: %v", err)
	}
}

package bookmarks

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestDiffValues(t *testing.T) {
	tests := []struct{ from, to, want string }{
		{`{"a":1}`, `{ "a" : 1 }`, ``},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":1,"c":3}}`, `/a/c 2 3;`},
		{`{"a":1}`, `{"b":1}`, `/a 1 ;/b  1;`},
		{`null`, `{"a":1}`, ` null {"a":1};`},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, `/a [1,2] [2,1];`},
		{``, ``, ``},
	}
	for _, tt := range tests {
		var got string
		for _, d := range compareValues("", jsontext.Value(tt.from), jsontext.Value(tt.to)) {
			got += d.Path + " " + string(d.From) + " " + string(d.To) + ";"
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}

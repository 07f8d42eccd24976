package rawjson

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzMembers holds that valid JSON is read as the standard decoder reads it.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[{"c":"\"}"}],"d\\":{"e":null} , "f" : -1.5e3,"g":""}`))
	f.Add([]byte(` { } `))
	f.Add([]byte(`{"\u0061":"\\\"","b":[[],{}," ]"]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want map[string]jsontext.Value
		if !jsontext.Value(raw).IsValid() || json.Unmarshal(raw, &want) != nil {
			return
		}
		got := map[string]jsontext.Value{}
		EachMember(raw, func(name, value []byte) bool {
			got[string(name)] = value
			return true
		})
		if len(got) != len(want) {
			t.Fatalf("%d members, want %d", len(got), len(want))
		}
		for name, value := range want {
			if !bytes.Equal(got[name], value) {
				t.Errorf("%q is %s, want %s", name, got[name], value)
			}
			compact := jsontext.Value(AppendCompact(nil, got[name]))
			if !compact.IsValid() {
				t.Errorf("%s becomes %s", value, compact)
			}
			var one, other any
			if json.Unmarshal(value, &one) != nil || json.Unmarshal(compact, &other) != nil ||
				fmt.Sprint(one) != fmt.Sprint(other) {
				t.Errorf("%s becomes %s", value, compact)
			}
			if list, ok := ElementsOf(value); ok {
				var rows []jsontext.Value
				if err := json.Unmarshal(value, &rows); err != nil || len(rows) != len(list) {
					t.Errorf("%s has %d elements: %v", value, len(list), err)
				}
			}
		}
	})
}

package recordfields

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// fieldSamples are objects in usual and unusual forms.
var fieldSamples = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":"x","b":[1,{"a":2}],"a":"y"}`, `{"a" : -0.5e+3 , "b" : null}`, "{\n\t\"a\":\"x\"\r\n}",
	`{"a":true,"b":false,"a":null}`,
	`{"a":"x\ny"}`, `{"\u0061":1}`, `{"b":"\ud800","a":"\ud800"}`, "{\"b\":\"\xff\",\"a\":1}", "{\"a\":\"\xff\"}",
	"{\"\xff\":1,\"a\":2}", `{"ü":"ä","a":"ö"}`,
	`{"a":{"b":[[],{},[1,2]]},"b":[]}`, `{"b":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `,"a":1}`,
	`{"a":1}trailing`, `{"a":1}{"a":2}`,
	`{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":-}`, `{"a":+1}`, `{"a":tru}`, `{"a":nullx}`, `{"a":1,}`,
	`{,"a":1}`, `{"a":1 "b":2}`, `{"a"1}`, `{"a":}`, `{"a":1`, `{"a":"x`, `{"a":"\x"}`, `{"a":"\u12"}`,
	"{\"a\":\"\x01\"}", "{\"b\":\"\x1f\",\"a\":1}", `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":{"b"}}`, `{"a":{1:2}}`, `[1]`,
	`"a"`, `1`, ``, ` `, `null`, `{"a":1]`, `{"a":[}]}`,
}

// FuzzEachField checks that the scanner and the decoder return the same members. Input that is not JSON may return
// anything.
func FuzzEachField(f *testing.F) {
	for _, s := range fieldSamples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameFields(t, data) })
}

func sameFields(t *testing.T, data []byte) {
	t.Helper()
	report := func(each func([]byte, func(string) bool, func(string, jsontext.Kind, string))) (all []string) {
		each(data, func(name string) bool { return name == "a" || name == "\uFFFD" },
			func(name string, kind jsontext.Kind, text string) {
				all = append(all, fmt.Sprintf("%s %s %q", name, kind, text))
			})
		return all
	}
	got, want := report(EachField[[]byte]), report(decodeFields)
	if dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true)); dec.SkipValue() != nil {
		return
	}
	if !slices.Equal(got, want) {
		t.Errorf("of %q:\n%v\nthe decoder says\n%v", data, got, want)
	}
}

// TestPlainObjectsAreScanned checks that plain objects are not left to the decoder, which takes ten times as long.
func TestPlainObjectsAreScanned(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`{"a":1}`,
		`{"a":"x","text":"said \"so\"\nand \u00fc","list":[1,-2.5e3,{"b":null,"c":[true,false]}]}`,
		` { "a" : 0.5 , "ü" : "ä" } `} {
		w := fieldScanner{data: s, wanted: func(name string) bool { return name == "a" }}
		if !w.object() || len(w.met) != 1 {
			t.Errorf("%s is not walked: %v", s, w.met)
		}
	}
}

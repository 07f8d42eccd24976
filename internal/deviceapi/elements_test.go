package deviceapi

import (
	"bytes"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzElements cuts any array as a decoder of JSON does.
func FuzzElements(f *testing.F) {
	for _, array := range []string{`[]`, `[ 1 , "a,]\\\"" ,{"b":[{}, "}"],"c":"\\"}, [[],[]] ,null ]`, `[-1e3]`, `[""]`,
		"[\n\t{}\r ]"} {
		f.Add(array)
	}
	f.Fuzz(func(t *testing.T, array string) {
		if v := jsontext.Value(array); v.Kind() != '[' || !v.IsValid() || array[0] != '[' {
			return
		}
		var want, got []string
		dec := jsontext.NewDecoder(bytes.NewBufferString(array))
		if _, err := dec.ReadToken(); err != nil {
			t.Fatal(err)
		}
		for dec.PeekKind() != ']' {
			v, err := dec.ReadValue()
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(v))
		}
		err := eachElement(jsontext.Value(array), func(n int, element jsontext.Value) error {
			if n != len(got) {
				t.Fatalf("element %d is number %d of %s", len(got), n, array)
			}
			got = append(got, string(bytes.TrimRight(element, " \n\t\r")))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("the elements of %s are %q, want %q (%v)", array, got, want, err)
		}
	})
}

package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-json-experiment/json"
)

// A number as a key keeps its literal text: ids beyond 2^53 lose nothing.
func TestKeysKeepLiteralText(t *testing.T) {
	for literal, want := range map[string]WireKey{
		`9007199254740993`: "9007199254740993", `1e3`: "1e3", `-0`: "-0", `1.50`: "1.50", `"a"`: "a", `"\u0061\n"`: "a\n",
		`null`: "",
	} {
		var got WireKey
		if err := json.Unmarshal([]byte(literal), &got); err != nil || got != want {
			t.Errorf("%s reads as %q (%v), want %q", literal, got, err, want)
		}
	}
	gap := decoded[*DetailGap](t, FromConnector, edited(t, TypeDetailGap, `{"record_key":12345678901234567890}`))
	if gap.RecordKey != "12345678901234567890" {
		t.Errorf("record_key %q", gap.RecordKey)
	}
	cov := decoded[*DetailCoverage](t, FromConnector, edited(t, TypeDetailCoverage,
		`{"required_keys":[12345678901234567890,"b",1.0],"hydrated_keys":["b"]}`))
	if diff := cmp.Diff(KeyList{"12345678901234567890", "b", "1.0"}, cov.RequiredKeys); diff != "" {
		t.Error(diff)
	}
}

func TestKeysRefused(t *testing.T) {
	for _, literal := range []string{`""`, `"a\u0000b"`, `true`, `[]`, `{}`} {
		var key WireKey
		if err := json.Unmarshal([]byte(literal), &key); err == nil {
			t.Errorf("%s is the key %q", literal, key)
		}
		var list KeyList
		if err := json.Unmarshal([]byte(`["a",`+literal+`]`), &list); err == nil {
			t.Errorf("%s is in the keys %q", literal, list)
		}
	}
	for _, literal := range []string{`"a"`, `7`, `{}`, `true`, `[null]`, `[["a"]]`} {
		var list KeyList
		if err := json.Unmarshal([]byte(literal), &list); err == nil {
			t.Errorf("%s is the keys %q", literal, list)
		}
	}
}

// A required set is present even when it is empty.
func TestKeyListIsNeverNullOnTheWire(t *testing.T) {
	for _, list := range []KeyList{nil, {}} {
		if b, err := json.Marshal(list); err != nil || string(b) != `[]` {
			t.Errorf("%#v is written as %s (%v)", list, b, err)
		}
	}
	line, err := AppendLine(nil, &DetailCoverage{Stream: "bodies", StateStream: "notes"})
	want := `{"type":"DETAIL_COVERAGE","stream":"bodies","state_stream":"notes","required_keys":[],` +
		`"hydrated_keys":[]}` + "\n"
	if string(line) != want || err != nil {
		t.Errorf("%s (%v)", line, err)
	}
}

// The canonical form of a compound key is one for one with its parts, and the
// wire's array and its canonical string are the same key.
func TestCompoundKeyIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(someText, 1, 4).Draw(t, "parts")
		key := CompoundKey(parts...)
		var back []string
		if err := json.Unmarshal([]byte(key), &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parts, back); diff != "" {
			t.Fatal(diff)
		}
		spaced, err := json.Marshal(parts, spread)
		if err != nil {
			t.Fatal(err)
		}
		quoted, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, wire := range [][]byte{spaced, quoted} {
			if got, ok := recordKey(wire); !ok || got != key {
				t.Fatalf("%s reads as %q, want %q", wire, got, key)
			}
		}
	})
}

package view_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// mergePatch applies a merge patch (RFC 7386). An absent patch changes nothing.
func mergePatch(target, patch json.RawMessage) json.RawMessage {
	if len(patch) == 0 {
		return target
	}
	var p map[string]json.RawMessage
	if json.Unmarshal(patch, &p) != nil || p == nil {
		return patch
	}
	var out map[string]json.RawMessage
	if json.Unmarshal(target, &out) != nil || out == nil {
		out = map[string]json.RawMessage{}
	}
	for name, value := range p {
		if string(value) == "null" {
			delete(out, name)
		} else {
			out[name] = mergePatch(out[name], value)
		}
	}
	merged, err := json.Marshal(out)
	if err != nil {
		panic(err) // a map of JSON is JSON
	}
	return merged
}

// plain is a value as JSON reads it.
func plain(t *testing.T, value any) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(encode(t, value)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func short(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// lookUp follows a path of member names.
func lookUp(t *testing.T, from any, path string) any {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		members, ok := from.(map[string]any)
		if !ok {
			t.Fatalf("no member %s on %s", name, path)
		}
		if from, ok = members[name]; !ok {
			t.Fatalf("no member %s on %s", name, path)
		}
	}
	return from
}

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

// example is a manifest that uses every key.
func example(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/fernpost.json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t testing.TB, b []byte) *Manifest {
	t.Helper()
	m, err := Parse(b)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return m
}

// remove, as the value of an edit, removes the key.
var remove = new(int)

// edits maps paths of the example to the JSON values to put there.
type edits map[string]any

// edited is the example with some values replaced. An index of a list's length
// appends to it.
func edited(t testing.TB, changes edits) []byte {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(example(t)))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for path, value := range changes {
		steps := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
		doc = put(t, doc, steps, value)
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t testing.TB, node any, steps []string, value any) any {
	t.Helper()
	if len(steps) == 0 {
		return value
	}
	switch node := node.(type) {
	case []any:
		i, err := strconv.Atoi(steps[0])
		if err != nil || i > len(node) {
			t.Fatalf("no element %s", steps[0])
		}
		if i == len(node) {
			node = append(node, nil)
		}
		node[i] = put(t, node[i], steps[1:], value)
		return node
	case map[string]any:
		if len(steps) == 1 && value == any(remove) {
			delete(node, steps[0])
			return node
		}
		node[steps[0]] = put(t, node[steps[0]], steps[1:], value)
		return node
	default:
		return put(t, map[string]any{}, steps, value)
	}
}

// problemsOf is what Parse finds wrong; it fails unless that is Problems.
func problemsOf(t testing.TB, b []byte) Problems {
	t.Helper()
	m, err := Parse(b)
	var ps Problems
	if !errors.As(err, &ps) || len(ps) == 0 {
		t.Fatalf("Parse error = %v, want Problems", err)
	}
	if m != nil {
		t.Error("Parse returns a manifest beside its problems")
	}
	return ps
}

func pathsOf(ps Problems) []string {
	paths := make([]string, len(ps))
	for i, p := range ps {
		paths[i] = p.Path
	}
	return paths
}

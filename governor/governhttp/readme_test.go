package governhttp_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsTheExample checks that the first Go code of the README is the body of ExampleNew.
func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_new_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(readme), "```go\n")
	code, _, closed := strings.Cut(code, "```")
	if !found || !closed {
		t.Fatal("the README has no Go code")
	}
	_, body, _ := strings.Cut(string(source), "func ExampleNew() {\n")
	body, _, _ = strings.Cut(body, "\t// Output:")
	if body = strings.ReplaceAll(strings.TrimPrefix(body, "\t"), "\n\t", "\n"); code != body {
		t.Errorf("the README shows\n%s\nand the example is\n%s", code, body)
	}
}

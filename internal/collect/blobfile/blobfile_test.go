package blobfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A file that grows while it is read is still limited.
func TestGrowingFileIsLimited(t *testing.T) {
	t.Parallel()
	tooLarge := errors.New("too large")
	r := &LimitReader{file: bytes.NewReader(make([]byte, 100)), limits: []SizeLimit{{10, tooLarge}}}
	if _, err := io.ReadAll(r); !errors.Is(err, tooLarge) || !errors.Is(r.Err(), tooLarge) {
		t.Errorf("reading ended with %v", err)
	}
}

// The result is a valid name on every system, and a valid name stays unchanged.
func TestFileName(t *testing.T) {
	t.Parallel()
	for declared, want := range map[string]string{
		"Map.pdf": "Map.pdf", "../../etc/passwd": "_.._etc_passwd", "a\u202egnp.exe": "agnp.exe",
		"con.txt": "_con.txt", ".. ": "", "a\r\nb: c": "ab_ c", "\x00\xff": "",
		"Straße 日本.txt": "Straße 日本.txt", `"><script>`: "___script_", "trailing. ": "trailing",
	} {
		if got := FileName(declared); got != want {
			t.Errorf("FileName(%q) = %q, want %q", declared, got, want)
		}
	}
	arbitraryBytes := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
	rapid.Check(t, func(t *rapid.T) {
		declared := rapid.OneOf(rapid.String(), arbitraryBytes).Draw(t, "name")
		name := FileName(declared)
		if strings.ContainsAny(name, "/\\\"<>|:*?\r\n\x00") || len(name) > maxFileName+1 ||
			name == "." || name == ".." || strings.ToValidUTF8(name, "") != name {
			t.Fatalf("FileName(%q) = %q", declared, name)
		}
		if again := FileName(name); again != name {
			t.Fatalf("FileName(%q) = %q, and FileName of that = %q", declared, name, again)
		}
	})
}

func TestMediaType(t *testing.T) {
	t.Parallel()
	for declared, want := range map[string]string{
		"text/html; charset=x": "text/html", "": unknownMediaType, "html": unknownMediaType,
		"text/html\r\nX: y": unknownMediaType, "a/b/c": unknownMediaType, "TEXT/Plain": "text/plain",
	} {
		if got := MediaType(declared); got != want {
			t.Errorf("MediaType(%q) = %q, want %q", declared, got, want)
		}
	}
}

package localarchive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// mostInflated bounds what one input may be unpacked to.
const mostInflated = 1 << 20

// FuzzWalk opens anything as an archive, from memory: it ends without harm, has the same result twice, and
// has every member of a zip that another reader has, with its content.
func FuzzWalk(f *testing.F) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"diary/a.txt": "one\ntwo\n", "diary/": "",
		"x/ü.json": strings.Repeat("long ", 400)} {
		if w, err := z.Create(name); err == nil && text != "" {
			_, _ = io.WriteString(w, text)
		}
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(b.Bytes()))
	f.Add(b.Bytes()[:b.Len()/2])
	b.Reset()
	packed := gzip.NewWriter(&b)
	in := tar.NewWriter(packed)
	if err := in.WriteHeader(&tar.Header{Name: "diary/a.txt", Mode: 0o600, Size: 3}); err == nil {
		_, _ = in.Write([]byte("one"))
	}
	_, _ = in.Close(), packed.Close()
	f.Add(bytes.Clone(b.Bytes()))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, content []byte) {
		first := walked(t, content)
		if again := walked(t, content); len(again) != len(first) {
			t.Fatalf("%d members, and the second time %d", len(first), len(again))
		}
		other, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil || !hasZipHeader(content) {
			return
		}
		named, total := map[string]int{}, uint64(0)
		for _, m := range other.File {
			named[m.Name]++
			total += m.UncompressedSize64
		}
		if total > mostInflated {
			return
		}
		for _, m := range other.File {
			ascii := strings.IndexFunc(m.Name, func(r rune) bool { return r >= 0x7f }) < 0
			if named[m.Name] > 1 || !ascii { // which of them counts, and how a name is read, differs
				continue
			}
			if m.Flags&1 != 0 || !m.Mode().IsRegular() || strings.HasSuffix(m.Name, "/") {
				continue
			}
			in, err := m.Open()
			if err != nil {
				continue
			}
			want, err := io.ReadAll(io.LimitReader(in, mostInflated))
			if got, ok := first[m.Name]; err == nil && (!ok || got != string(want) && got != unreadable) {
				t.Fatalf("%q is %q, and for another reader %q", m.Name, got, want)
			}
		}
	})
}

const unreadable = "\x00 it cannot be read"

// walked is every member of the content by its name.
func walked(t *testing.T, content []byte) map[string]string {
	t.Helper()
	members := map[string]string{}
	if len(content) == 0 {
		return members
	}
	a, err := openArchive(bytes.NewReader(content), int64(len(content)))
	if err != nil || a == nil {
		return members
	}
	left := int64(mostInflated)
	_ = a.walkMembers(t.Context(), func(e *Entry) error { // what is damaged ends the walk
		if e.folder || e.encrypted || len(members) > 1000 {
			return nil
		}
		members[e.Name] = unreadable
		in, err := e.open()
		if err != nil {
			return nil
		}
		defer in.Close()
		b, err := io.ReadAll(io.LimitReader(in, left))
		if left -= int64(len(b)); err == nil {
			members[e.Name] = string(b)
		}
		return nil
	})
	return members
}

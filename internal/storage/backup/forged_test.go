package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// TestDamagedArchive checks that a truncated or changed archive is rejected and the home stays unchanged.
func TestDamagedArchive(t *testing.T) {
	home, dir := newHome(t, 1), t.TempDir()
	to := newHome(t, 2)
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(dir, "key.txt")
	write(t, keyFile, identity.String()+"\n", 0o600)
	for name, seal := range map[string]Seal{"sealed": {Recipients: []string{identity.Recipient().String()}},
		"plain": {Plain: true}} {
		file := filepath.Join(dir, name)
		if _, err := Write(t.Context(), Options{Home: home, File: file, Seal: seal, Now: noon}); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		refuse := func(what string, content []byte) {
			t.Helper()
			broken := filepath.Join(dir, "broken")
			write(t, broken, string(content), 0o600)
			_, err := Restore(t.Context(),
				RestoreOptions{File: broken, Home: to, Force: true, Keys: Keys{Identities: keyFile, Plain: name == "plain"},
					Now: noon})
			var e *usererr.Error
			if !errors.As(err, &e) || e.Code != CodeDamaged && e.Code != CodeWrongKey {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		for _, at := range []int{0, 1, 30, len(whole) / 2, len(whole) - 20, len(whole) - 1} {
			refuse(fmt.Sprint("cut off at ", at), whole[:at])
		}
		for _, at := range []int{20, len(whole) / 3, len(whole) / 2, len(whole) - 12} {
			changed := bytes.Clone(whole)
			changed[at] ^= 0x40
			for ; name == "plain" && bytes.Equal(unpacked(t, changed), unpacked(t, whole)); at++ {
				changed[at], changed[at+1] = whole[at], whole[at+1]^0x40
			}
			refuse(fmt.Sprint("changed at ", at), changed)
		}
	}
	if n := connectionsIn(t, to); n != 2 || len(leftovers(t, filepath.Dir(to))) > 0 {
		t.Errorf("the old home has %d connections; beside it: %v", n, leftovers(t, filepath.Dir(to)))
	}
}

// unpacked returns the readable content of a plain archive. Two packed forms may have the same content: in a run of
// zeros it does not matter which are repeated.
func unpacked(t *testing.T, archive []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		content = append(content, err.Error()...)
	}
	return content
}

// forged creates a plain archive of any entries.
func forged(t *testing.T, h string, entries ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	entries = append([]tar.Header{{Name: headerFile, Typeflag: tar.TypeReg, Linkname: h}}, entries...)
	for _, e := range entries {
		content := ""
		if e.Typeflag == tar.TypeReg {
			content, e.Linkname = e.Linkname, ""
		}
		e.Size, e.Mode = int64(len(content)), 0o600
		if err := w.WriteHeader(&e); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "forged")
	write(t, file, b.String(), 0o600)
	return file
}

// TestForgedArchive checks that a forged archive writes nothing outside of its folder.
func TestForgedArchive(t *testing.T) {
	const fine = `{"format":1,"files":3,"content_bytes":100}`
	outside := filepath.Join(t.TempDir(), "outside")
	tests := []struct {
		name    string
		header  string
		entries []tar.Header
		code    string
	}{
		{"up", fine, []tar.Header{{Name: "../evil", Typeflag: tar.TypeReg, Linkname: "x"}}, CodeDamaged},
		{"up below", fine, []tar.Header{{Name: "connectors/../../evil", Typeflag: tar.TypeReg, Linkname: "x"}}, CodeDamaged},
		{"absolute", fine, []tar.Header{{Name: outside, Typeflag: tar.TypeReg, Linkname: "x"}}, CodeDamaged},
		{"another file", fine, []tar.Header{{Name: "remote.json", Typeflag: tar.TypeReg, Linkname: "{}"}}, CodeDamaged},
		{"a link", fine, []tar.Header{{Name: "connectors/out", Typeflag: tar.TypeSymlink, Linkname: outside}}, CodeDamaged},
		{"a hard link", fine, []tar.Header{{Name: "connectors/out", Typeflag: tar.TypeLink, Linkname: outside}}, CodeDamaged},
		{"more than it says", `{"format":1,"files":3,"content_bytes":5}`,
			[]tar.Header{{Name: "connectors/x/connector", Typeflag: tar.TypeReg, Linkname: "123456"}}, CodeDamaged},
		{"more files than it says", `{"format":1,"files":1,"content_bytes":5}`,
			[]tar.Header{{Name: "connectors/x", Typeflag: tar.TypeDir},
				{Name: "connectors/x/a", Typeflag: tar.TypeReg, Linkname: "1"},
				{Name: "connectors/x/b", Typeflag: tar.TypeReg, Linkname: "2"}}, CodeDamaged},
		{"another database than it says", `{"format":1,"files":3,"content_bytes":9,"database_bytes":7}`,
			[]tar.Header{{Name: databaseFile, Typeflag: tar.TypeReg, Linkname: "12345"}}, CodeDamaged},
		{"it says nothing", `{"format":1}`, []tar.Header{{Name: databaseFile, Typeflag: tar.TypeReg, Linkname: "12345"}},
			CodeDamaged},
		{"a device", fine, []tar.Header{{Name: "connectors/x", Typeflag: tar.TypeFifo}}, CodeDamaged},
		{"no database", fine, []tar.Header{{Name: sumsFile, Typeflag: tar.TypeReg, Linkname: "[]"}}, CodeDamaged},
		{"no sums", fine, nil, CodeDamaged},
		{"no header", `pear`, nil, CodeDamaged},
		{"newer", `{"format":4,"program_version":"9"}`, nil, CodeNewer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "home")
			_, err := Restore(t.Context(), RestoreOptions{File: forged(t, tt.header, tt.entries...), Home: to,
				Keys: Keys{Plain: true}, Now: noon})
			wantCode(t, err, tt.code)
			if _, err := os.Lstat(to); err == nil || len(leftovers(t, filepath.Dir(to))) > 0 {
				t.Error("something was left")
			}
		})
	}
}

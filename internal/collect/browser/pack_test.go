package browser

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// roomWith makes a room with files, by their names in it.
func roomWith(t testing.TB, files map[string]string) string {
	t.Helper()
	room := filepath.Join(t.TempDir(), folderPrefix+"A")
	for _, dir := range []string{homeDir, profileDir, workDir} {
		must(t, os.MkdirAll(filepath.Join(room, dir), 0o700))
	}
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(room, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(room, name), []byte(text), 0o600))
	}
	return room
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filesOf reads a room back, by name.
func filesOf(t testing.TB, room string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(room, path)
		must(t, err)
		if !d.Type().IsRegular() {
			out[name] = d.Type().String()
			return nil
		}
		text, err := os.ReadFile(path)
		out[name] = string(text)
		return err
	}))
	return out
}

func TestPackedProfileComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z .,~-]{0,20}[a-z]`), 0, 8, rapid.ID).Draw(rt, "names")
		files := map[string]string{}
		for i, name := range names {
			folder := []string{"", "Default/", "Default/Local Storage/leveldb/"}[i%3]
			files[profileDir+"/"+folder+name] = rapid.StringN(0, 300, -1).Draw(rt, "text")
		}
		files[homeDir+"/"+SessionFile] = `{"cookies":[]}`
		files[homeDir+"/"+AccountFile] = "ab12\n"
		whole, err := packProfile(roomWith(t, files))
		if err != nil || whole.trimmed || whole.account != "ab12" {
			rt.Fatalf("packed as %+v, %v", whole, err)
		}
		size := 0
		for _, text := range files {
			size += len(text)
		}
		if whole.bytes != int64(size) {
			rt.Errorf("%d bytes of %d", whole.bytes, size)
		}
		room := roomWith(t, nil)
		if err := unpackProfile(whole.plain, room, nil); err != nil {
			rt.Fatal(err)
		}
		got := filesOf(t, room)
		if len(got) != len(files) {
			rt.Errorf("%d files came back of %d", len(got), len(files))
		}
		for name, text := range files {
			if got[name] != text {
				rt.Errorf("%s came back as %q, was %q", name, got[name], text)
			}
		}
	})
}

// Caches and what else a browser makes again stays behind, as does everything that is no
// plain file: it could lead out of the profile.
func TestWhatIsNotPacked(t *testing.T) {
	room := roomWith(t, map[string]string{
		"profile/Local State": "state", "profile/Default/Cookies": "cookies", "profile/Default/Cache/Cache_Data/f_1": "x",
		"profile/Default/Code Cache/js/i": "x", "profile/GrShaderCache/data_0": "x", "profile/BrowserMetrics/a.pma": "x",
		"profile/Crashpad/reports/r.dmp": "x", "profile/Default/Service Worker/CacheStorage/1": "x",
		"profile/Default/Service Worker/Database/MANIFEST": "m",
		"home/session.json": "{}", "home/downloads/statement.pdf": "x", "home/.cache/fontconfig/x": "x", "work/litter": "x",
	})
	outside := filepath.Join(t.TempDir(), "secret.key")
	must(t, os.WriteFile(outside, []byte("not yours"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(room, "profile/Default/Login Data")))
	must(t, os.Symlink(filepath.Dir(outside), filepath.Join(room, "profile/Extensions")))
	must(t, os.Symlink(outside, filepath.Join(room, "home/account")))
	must(t, os.Symlink("host-1-77", filepath.Join(room, "profile/SingletonLock")))
	must(t, syscall.Mkfifo(filepath.Join(room, "profile/pipe"), 0o600))
	whole, err := packProfile(room)
	must(t, err)
	fresh := roomWith(t, nil)
	must(t, unpackProfile(whole.plain, fresh, nil))
	want := map[string]string{"profile/Local State": "state", "profile/Default/Cookies": "cookies",
		"profile/Default/Service Worker/Database/MANIFEST": "m", "home/session.json": "{}"}
	got := filesOf(t, fresh)
	for name, text := range got {
		if want[name] != text {
			t.Errorf("packed: %s = %q", name, text)
		}
	}
	if len(got) != len(want) || whole.account != "" {
		t.Errorf("packed %d files of %d, account %q", len(got), len(want), whole.account)
	}
}

// noise does not become smaller.
func noise(n int) string {
	out, x := make([]byte, n), uint64(88172645463325252)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = byte(x)
	}
	return string(out)
}

// Of a profile that is too large only the sign-in is kept.
func TestLargeProfileKeepsTheSession(t *testing.T) {
	whole, err := packProfile(roomWith(t, map[string]string{"profile/Default/History": noise(maxSealed + 1),
		"home/session.json": "{}", "home/account": "ab"}))
	if err != nil || !whole.trimmed || whole.account != "ab" {
		t.Fatalf("%v, trimmed %v, account %q", err, whole.trimmed, whole.account)
	}
	room := roomWith(t, nil)
	must(t, unpackProfile(whole.plain, room, nil))
	if got := filesOf(t, room); len(got) != 2 || got["home/session.json"] != "{}" {
		t.Errorf("kept: %v", got)
	}
}

// zipping are the ways in which profiles are packed, and were.
var zipping = map[string]func(io.Writer) io.WriteCloser{
	// without options it does not fail
	"zstd": func(w io.Writer) io.WriteCloser { zip, _ := zstd.NewWriter(w); return zip },
	"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
}

// archive makes a text as an attacker would.
func archive(t testing.TB, way string, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := zipping[way](&out)
	w := tar.NewWriter(zip)
	for _, h := range headers {
		h.Mode = 0o777
		must(t, w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err := w.Write(bytes.Repeat([]byte("x"), int(h.Size)))
			must(t, err)
		}
	}
	must(t, w.Close())
	must(t, zip.Close())
	return out.Bytes()
}

func TestHostileArchives(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 1} }
	for name, headers := range map[string][]tar.Header{
		"up":                  {file("profile/../../out")},
		"up from a folder":    {file("../out")},
		"absolute":            {file("/tmp/out")},
		"beside":              {file("work/connector")},
		"in the home":         {file("home/.bashrc")},
		"the folder itself":   {file("profile")},
		"not clean":           {file("profile/./a")},
		"symbolic link":       {{Typeflag: tar.TypeSymlink, Name: "profile/a", Linkname: "/etc/passwd"}},
		"through a link":      {{Typeflag: tar.TypeSymlink, Name: "profile/a", Linkname: "/tmp"}, file("profile/a/out")},
		"hard link":           {{Typeflag: tar.TypeLink, Name: "profile/a", Linkname: "/etc/passwd"}},
		"device":              {{Typeflag: tar.TypeChar, Name: "profile/a", Devmajor: 1, Devminor: 3}},
		"pipe":                {{Typeflag: tar.TypeFifo, Name: "profile/a"}},
		"folder":              {{Typeflag: tar.TypeDir, Name: "profile/a"}},
		"twice":               {file("profile/a"), file("profile/a")},
		"a file for a folder": {file("profile/a"), file("profile/a/b")},
		"a very long name":    {file("profile/" + strings.Repeat("n", 300))},
	} {
		for way := range zipping {
			room := roomWith(t, nil)
			if err := unpackProfile(archive(t, way, headers...), room, nil); !errors.Is(err, errHostile) {
				t.Errorf("%s, %s: %v", name, way, err)
			}
			for found := range filesOf(t, room) {
				if found != "profile/a" { // the good beginning of a bad archive
					t.Errorf("%s, %s: made %s", name, way, found)
				}
			}
			if left, _ := os.ReadDir(filepath.Dir(room)); len(left) != 1 {
				t.Errorf("%s, %s: made something outside", name, way)
			}
		}
	}
	bad := []string{"", "neither"}
	for way := range zipping {
		good := archive(t, way, tar.Header{Typeflag: tar.TypeReg, Name: "profile/a", Size: 9000}, file("home/account"))
		room := roomWith(t, nil)
		if err := unpackProfile(good, room, nil); err != nil || len(filesOf(t, room)) != 2 {
			t.Errorf("%s: %v, %d files", way, err, len(filesOf(t, room)))
		}
		for _, at := range []int{len(good) / 2, len(good) - 5} {
			changed := bytes.Clone(good)
			changed[at] ^= 0x55
			bad = append(bad, string(good[:at]), string(changed))
		}
	}
	for _, text := range bad {
		if err := unpackProfile([]byte(text), roomWith(t, nil), nil); !errors.Is(err, errHostile) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzUnpack puts any bytes where a packed profile is: nothing leaves the room, and what is
// taken packs to the same files again.
func FuzzUnpack(f *testing.F) {
	file := tar.Header{Typeflag: tar.TypeReg, Name: "profile/Default/Cookies", Size: 3}
	seed := func(h ...tar.Header) {
		zip, err := decompress(archive(f, "zstd", h...))
		must(f, err)
		var text bytes.Buffer
		_, err = text.ReadFrom(zip)
		must(f, err)
		f.Add(text.Bytes())
	}
	seed(file)
	seed(file, tar.Header{Typeflag: tar.TypeReg, Name: "home/session.json", Size: 2})
	seed(tar.Header{Typeflag: tar.TypeSymlink, Name: "profile/a", Linkname: "../.."}, file)
	seed(tar.Header{Typeflag: tar.TypeReg, Name: "profile/../../x", Size: 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		var plain bytes.Buffer
		zip := zipping["zstd"](&plain)
		_, _ = zip.Write(text)
		must(t, zip.Close())
		room := roomWith(t, nil)
		err := unpackProfile(plain.Bytes(), room, nil)
		if left, _ := os.ReadDir(filepath.Dir(room)); len(left) != 1 {
			t.Fatal("something was made outside of the room")
		}
		got := filesOf(t, room)
		for name := range got {
			if !isPackedName(name) {
				t.Fatalf("made %q", name)
			}
		}
		if err != nil {
			return
		}
		whole, err := packProfile(room)
		must(t, err)
		again := roomWith(t, nil)
		must(t, unpackProfile(whole.plain, again, nil))
		back := filesOf(t, again)
		for name, text := range got {
			if kept := back[name]; kept != text &&
				!slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return slices.Contains(excludedPaths, s) }) {
				t.Fatalf("%q came back as %q", name, kept)
			}
		}
	})
}

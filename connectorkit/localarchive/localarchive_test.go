package localarchive_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive/archivetest"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

const testManifest = `{
	"protocol_version": "0.1.0", "connector_id": "diary", "version": "1.0.0", "display_name": "Diary",
	"runtime_requirements": {"bindings": {"filesystem": {"required": true}}},
	"setup": {"modality": "manual_or_upload", "manual_or_upload": {"import_dir_env_var": "DIARY_DIR"}},
	"streams": [
		{"name": "entries", "semantics": "append_only", "primary_key": "id", "checkpoint": "slice",
		 "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"},` +
	` "text": {"type": "string"}}}},
		{"name": "coverage_diagnostics", "semantics": "mutable_state", "primary_key": "id", "checkpoint": "slice",` +
	` "schema": {"type": "object", "properties": {"id": {"type": "string"}}}}
	]
}`

// diary is a source of exports that hold diary/*.txt with one entry on each line.
func diary(t testing.TB, limits localarchive.ArchiveLimits) connectorkit.Connector {
	t.Helper()
	c, err := connectorkit.New([]byte(testManifest),
		func(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
			return []connectorkit.Collector{localarchive.Import{
				Dir: s.Env("DIARY_DIR"), Streams: []string{"entries"}, Empty: "put the diary into the folder", Limits: limits,
				Known:     []string{"**/diary.info"},
				LeftOut:   []localfile.LeftOut{{Name: "Sketches", Patterns: []string{"**/sketches/*.png"}}},
				Packaging: []string{"**/index.html"},
				Kinds: []localarchive.MemberKind{{Name: "diary", Patterns: []string{"**/diary/*.txt"}, Streams: []string{"entries"},
					Read: readDiary}},
			}.Source().Collector()}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type diaryPlace struct {
	Offset int64 `json:"o"`
	Row    int64 `json:"r"`
}

func readDiary(ctx context.Context, m *localarchive.Member) error {
	var at diaryPlace
	m.State(&at)
	in, err := m.Open(ctx, at.Offset)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if len(line) > 0 && (err == nil || err == io.EOF) {
			at.Offset += int64(len(line))
			if text := strings.TrimSpace(line); text == "bad" {
				m.Row(at.Row, int64(len(line)))
			} else if text == "skip" {
				m.Skip("skipped lines")
			} else {
				m.Emit("entries", connectorkit.Upsert(map[string]any{"id": text, "text": text}))
			}
			at.Row++
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := m.Place(ctx, func() any { return at }); err != nil {
			return err
		}
	}
}

func numbered(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %05d\n", prefix, i)
	}
	return b.String()
}

func kept(t testing.TB, dir string) *inprocess.MemoryRunner {
	return inprocess.NewMemoryRunner(t, diary(t, localarchive.ArchiveLimits{}), map[string]string{"DIARY_DIR": dir})
}

func ids(k *inprocess.MemoryRunner) []string {
	return slices.Sorted(maps.Keys(k.Records["entries"]))
}

func member(name, content string) archivetest.PackedFile {
	return archivetest.PackedFile{Name: name, Content: content}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n%s\nwant\n%s", what, g, w)
	}
}

// TestFormsAreAlike shows that an export brings the same whether it is a zip, a compressed
// tar, an unpacked folder or a single file with the wrong ending.
func TestFormsAreAlike(t *testing.T) {
	files := []archivetest.PackedFile{
		member("export/readme.html", "<p>"), member("export/diary/a.txt", numbered("a", 40)),
		member("export/diary/b.txt", "one\nbad\ntwo"), member("export/diary/ümlaut.txt", "drei\n"),
		member("__MACOSX/export/diary/._a.txt", "never"), member("export/diary/.DS_Store", "never"),
	}
	var want []string
	for form, write := range map[string]func(dir string){
		"zip":       func(dir string) { archivetest.WriteFile(t, dir+"/export.zip", archivetest.PackZip(t, files...)) },
		"tgz":       func(dir string) { archivetest.WriteFile(t, dir+"/export.tgz", archivetest.PackTarGzip(t, files...)) },
		"folder":    func(dir string) { archivetest.WriteUnpacked(t, dir, files...) },
		"wrong end": func(dir string) { archivetest.WriteFile(t, dir+"/diary/export.txt", archivetest.PackZip(t, files...)) },
	} {
		dir := t.TempDir()
		write(dir)
		k := kept(t, dir).Run()
		got := ids(k)
		if want == nil {
			want = got
		}
		if len(got) != 43 || !slices.Equal(got, want) {
			t.Errorf("%s brought %d entries: %v", form, len(got), got)
		}
		same(t, form+": declared", k.GapReasons(), map[string]int{"row_unreadable": 1})
		writes := k.Writes
		if k.Run(); k.Writes != writes {
			t.Errorf("%s: a second run wrote something", form)
		}
	}
}

// TestReceipts shows that an archive is read once, under whatever name and times, and that a
// newer one adds what is new.
func TestReceipts(t *testing.T) {
	dir := t.TempDir()
	first := archivetest.PackZip(t, member("diary/a.txt", numbered("a", 30)))
	archivetest.WriteFile(t, dir+"/export.zip", first)
	k := kept(t, dir).Run()
	same(t, "writes", k.Writes, 30)
	again := func(what string, writes, emitted int) {
		t.Helper()
		k.Writes, k.Emitted = 0, 0
		k.Run()
		same(t, what, []int{k.Writes, k.Emitted}, []int{writes, emitted})
	}
	archivetest.WriteFile(t, dir+"/export (1).zip", first)
	if err := os.Chtimes(dir+"/export.zip", time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	again("a copy and new times", 0, 0)
	archivetest.WriteFile(t, dir+"/later.zip", archivetest.PackZip(t, member("diary/a.txt", numbered("a", 45))))
	again("a newer export", 15, 45)
	for _, name := range []string{"export.zip", "export (1).zip", "later.zip"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	archivetest.WriteFile(t, dir+"/other.txt", nil)
	again("everything taken out", 0, 0)
	same(t, "entries", len(k.Records["entries"]), 45)
}

// TestKilledAnywhere cuts the output after every so many lines and runs on.
//
//pdpp:tier unraced
func TestKilledAnywhere(t *testing.T) {
	dir := t.TempDir()
	files := []archivetest.PackedFile{
		member("diary/a.txt", numbered("a", 2500)),
		member("diary/b.txt", numbered("b", 1200)),
		member("diary/c.txt", numbered("c", 7)),
	}
	archivetest.WriteFile(t, dir+"/export.zip", archivetest.PackZip(t, files...))
	archivetest.WriteFile(t, dir+"/export.tar.gz",
		archivetest.PackTarGzip(t, member("x/diary/d.txt", numbered("d", 2200))))
	archivetest.WriteUnpacked(t, dir, member("diary/e.txt", numbered("e", 2600)))
	for _, step := range []int{1100, 3000} {
		k := kept(t, dir)
		k.KillAt = step
		runs := 0
		for k.Run(); k.Done == nil && runs < 60; k.Run() {
			runs++
			if runs > 20 {
				k.KillAt += 500 // a run has to get as far as its first slice
			}
		}
		k.KillAt = 0
		k.Run()
		if n := len(k.Records["entries"]); n != 8507 || runs == 0 {
			t.Errorf("cut every %d lines: %d entries after %d cuts", step, n, runs)
		}
		same(t, "declared", len(k.Gaps()), 0)
	}
}

// TestResumesWithinAMember shows that a run goes on at the place of the last one instead of
// beginning again.
func TestResumesWithinAMember(t *testing.T) {
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/export.zip", archivetest.PackZip(t, member("diary/a.txt", numbered("a", 5000))))
	k := kept(t, dir)
	k.KillAt = 3500
	k.Run()
	before := len(k.Records["entries"])
	k.KillAt, k.Writes = 0, 0
	k.Run()
	if before < 3000 || k.Writes != 5000-before {
		t.Errorf("%d before the cut, %d after it", before, k.Writes)
	}
	if !slices.ContainsFunc(k.Progress, func(s string) bool { return strings.Contains(s, "finding the place") }) {
		t.Errorf("nobody was told: %v", k.Progress)
	}
}

// TestHostileArchives shows what is declared of archives as attackers and broken lines leave
// them; what can be read of them is kept.
func TestHostileArchives(t *testing.T) {
	good := archivetest.PackZip(t, member("diary/a.txt", numbered("a", 200)), member("diary/b.txt", numbered("b", 200)))
	flipped := bytes.Clone(good)
	flipped[60] ^= 0x55
	wrongSum := stored(t, "diary/a.txt", []byte("kept\n"), func(h *zip.FileHeader) { h.CRC32++ })
	for _, c := range []struct {
		name    string
		content []byte
		entries int
		reasons map[string]int
	}{
		{"whole", good, 400, map[string]int{}},
		{"cut in the second member", good[:len(good)-len(good)/3], -1,
			map[string]int{"archive_damaged": 1, "member_damaged": 1}},
		{"cut in the directory", good[:len(good)-30], 400, map[string]int{"archive_damaged": 1}},
		{"a flipped byte", flipped, -1, map[string]int{"member_damaged": 1}},
		{"a wrong checksum", wrongSum, 1, map[string]int{"member_damaged": 1}},
		{"with something before it", append([]byte("PK\x03\x04#!/bin/sh unpack me\n"), good...), 400, map[string]int{}},
		{"names that lead out", archivetest.PackZip(t, member("../../diary/a.txt", "x\n"), member("/diary/b.txt", "x\n"),
			member(`c:\diary\b.txt`, "x\n"), member("diary/c.txt", "kept\n")), 1, map[string]int{"member_unsafe": 3}},
		{"a link", stored(t, "diary/a.txt", []byte("/etc/passwd"),
			func(h *zip.FileHeader) { h.SetMode(os.ModeSymlink | 0o777) }), 0, map[string]int{"member_unsafe": 1}},
		{"encrypted", stored(t, "diary/a.txt", []byte("secret"), func(h *zip.FileHeader) { h.Flags |= 1 }), 0,
			map[string]int{"member_encrypted": 1}},
		{"an archive in it", archivetest.PackZip(t, member("diary/a.txt", "kept\n"), member("diary.zip", string(good))), 1,
			map[string]int{"archive_in_archive": 1}},
		{"of another kind", archivetest.PackZip(t, member("photos/a.jpg", "x")), 0,
			map[string]int{"archive_of_another_kind": 1}},
		{"of this kind, with nothing in it", archivetest.PackZip(t, member("x/diary.info", "x")), 0, map[string]int{}},
		{"no archive", []byte("Rar!\x1a\x07\x00 and more"), 0, map[string]int{"archive_form_unknown": 1}},
		{"empty", nil, 0, map[string]int{"archive_damaged": 1}},
		{"an empty zip", archivetest.PackZip(t), 0, map[string]int{"archive_of_another_kind": 1}},
		{"a member longer than it says",
			stored(t, "diary/a.txt", []byte("kept\nkept too\n"), func(h *zip.FileHeader) { h.UncompressedSize64 = 5 }), -1,
			map[string]int{"member_damaged": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			archivetest.WriteFile(t, dir+"/export.zip", c.content)
			k := kept(t, dir).Run()
			if n := len(k.Records["entries"]); c.entries >= 0 && n != c.entries || c.entries < 0 && (n == 0 || n > 400) {
				t.Errorf("%d entries", n)
			}
			same(t, "declared", k.GapReasons(), c.reasons)
			for _, g := range k.Gaps() {
				if localarchive.ReasonMessages[g.Reason] == "" {
					t.Errorf("no words for %s", g.Reason)
				}
			}
			// A good one in its place settles the gap of the whole file.
			archivetest.WriteFile(t, dir+"/export.zip",
				archivetest.PackZip(t, member("diary/a.txt", "mended\n"), member("diary/b.txt", "mended\n")))
			if err := os.Chtimes(dir+"/export.zip", time.Now().Add(-time.Minute), time.Now().Add(-time.Minute)); err != nil {
				t.Fatal(err)
			}
			k.Run()
			for _, g := range k.Gaps() {
				if g.Retryable {
					t.Errorf("%s still waits", g.Reason)
				}
			}
		})
	}
}

// stored writes a zip with one member that is not compressed and has a header with something
// else than is true.
func stored(t *testing.T, name string, content []byte, change func(*zip.FileHeader)) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(content),
		CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content))}
	change(h)
	w, err := z.CreateRaw(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBombs shows that an archive is stopped by what it inflates to, not by its declared size.
//
//pdpp:tier unraced
func TestBombs(t *testing.T) {
	zeros := strings.Repeat(strings.Repeat("0", 4095)+"\n", 4<<10)
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/export.zip",
		archivetest.PackZip(t, member("diary/a.txt", "kept\n"), member("diary/b.txt", zeros)))
	for name, limits := range map[string]localarchive.ArchiveLimits{"one member": {Entry: 1 << 20},
		"all members": {Total: 1 << 20}, "too many": {Entries: 1}} {
		k := inprocess.NewMemoryRunner(t, diary(t, limits), map[string]string{"DIARY_DIR": dir}).Run()
		same(t, name, k.GapReasons(), map[string]int{"archive_too_large": 1})
		if name != "too many" {
			same(t, name+": what came before", k.Fields("entries", "kept")["id"], "kept")
		}
	}
}

// TestMillionsOfMembers reads a zip64 directory with more members than 16 bits can count.
//
//pdpp:tier unraced
func TestMillionsOfMembers(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range 70_000 {
		if _, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("other/%06d", i), Method: zip.Store}); err != nil {
			t.Fatal(err)
		}
	}
	w, err := z.Create("diary/last.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "reached\n"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/export.zip", b.Bytes())
	k := inprocess.NewMemoryRunner(t, diary(t, localarchive.ArchiveLimits{Entries: 100_000}),
		map[string]string{"DIARY_DIR": dir}).Run()
	same(t, "entries", ids(k), []string{"reached"})
	same(t, "others", account(t, k, "export.zip").Unrecognized, map[string]int64{"other/#": 70_000})
}

// account returns what was reported about one file.
func account(t *testing.T, k *inprocess.MemoryRunner, file string) localfile.Coverage {
	t.Helper()
	for key := range k.Records[localfile.CoverageStream] {
		if c := archivetest.StoredCoverage(t, k, key); c.File == file {
			return c
		}
	}
	t.Fatalf("no account of %s", file)
	return localfile.Coverage{}
}

// TestLeftOut shows that whatever an export holds and is not collected is listed: known kinds by
// name, others by a pattern, in an archive, in a folder, and after a run that was cut short.
func TestLeftOut(t *testing.T) {
	files := []archivetest.PackedFile{
		member("diary/a.txt", numbered("a", 3000)), member("diary/b.txt", "skip\nskip\nlast\n"),
		member("sketches/1.png", "x"), member("sketches/2.png", "x"),
		member("maps/plan-2024-01.bin", "x"), member("maps/plan-2024-02.bin", "x"), member("index.html", "x"),
	}
	want := func(name string, got localfile.Coverage) {
		t.Helper()
		same(t, name, got.LeftOut, map[string]int64{"Sketches": 2, "skipped lines": 2})
		same(t, name, got.Unrecognized, map[string]int64{"maps/plan-#-#.bin": 2})
		same(t, name, got.Status, "unsupported")
	}
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/export.zip", archivetest.PackZip(t, files...))
	want("archive", account(t, kept(t, dir).Run(), "export.zip"))

	cut := kept(t, dir)
	for cut.KillAt = 1200; cut.Done == nil && cut.KillAt < 20_000; cut.KillAt *= 2 {
		cut.Try()
	}
	cut.KillAt = 0
	want("interrupted", account(t, cut.Run(), "export.zip"))

	dir = t.TempDir()
	archivetest.WriteUnpacked(t, dir, files...)
	archivetest.WriteUnpacked(t, dir, member("shopping.list", "x"))
	k := kept(t, dir).Run()
	same(t, "folder: known", archivetest.StoredCoverage(t, k, "left:Sketches").LeftOut, map[string]int64{"Sketches": 2})
	same(t, "folder: unknown", archivetest.StoredCoverage(t, k, "unknown:maps/plan-#-#.bin").Unrecognized,
		map[string]int64{"maps/plan-#-#.bin": 2})
	same(t, "folder: names", archivetest.StoredCoverage(t, k, "unknown:shopping.list").Files, []string{"shopping.list"})
	same(t, "folder: entries", account(t, k, "diary/b.txt").LeftOut, map[string]int64{"skipped lines": 2})
	same(t, "folder: packaging", archivetest.StoredCoverage(t, k, "packaging").FilesPresent, 1)
	if err := os.RemoveAll(dir + "/sketches"); err != nil {
		t.Fatal(err)
	}
	if k.Run(); k.Records[localfile.CoverageStream]["left:Sketches"] != "" {
		t.Error("what is no longer there is still listed")
	}

	files = files[:0]
	for i := range 5000 {
		letters := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8",
			"i", "9", "j").Replace(fmt.Sprint(i))
		files = append(files, member(letters+"/"+letters+"."+letters, "x"))
	}
	dir = t.TempDir()
	archivetest.WriteFile(t, dir+"/export.zip", archivetest.PackZip(t, append(files, member("diary/a.txt", "x\n"))...))
	var sum int64
	bounded := account(t, kept(t, dir).Run(), "export.zip").Unrecognized
	for _, n := range bounded {
		sum += n
	}
	if len(bounded) > 61 || sum != 5000 {
		t.Errorf("%d kinds for %d files", len(bounded), sum)
	}
}

// TestNothingOfThisSource shows what the owner reads when the folder holds something else.
func TestNothingOfThisSource(t *testing.T) {
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/holiday.jpg", []byte("x"))
	k := kept(t, dir)
	k.Try()
	if k.Done == nil || k.Done.Error == nil || !strings.Contains(k.Done.Error.Message, "put the diary into the folder") {
		t.Errorf("ended with %+v", k.Done)
	}
}

// TestWaitsUntilWritten shows that a file counts when it has not changed for ten seconds.
func TestWaitsUntilWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		content := archivetest.PackZip(t, member("diary/a.txt", numbered("a", 30)))
		put := func(n int) {
			if err := os.WriteFile(dir+"/export.zip", content[:n], 0o600); err != nil {
				t.Error(err)
			}
			if err := os.Chtimes(dir+"/export.zip", time.Now(), time.Now()); err != nil {
				t.Error(err)
			}
		}
		put(20)
		began := time.Now()
		go func() {
			for _, n := range []int{40, 80, len(content)} {
				time.Sleep(7 * time.Second)
				put(n)
			}
		}()
		k := kept(t, dir).Run()
		same(t, "entries", len(k.Records["entries"]), 30)
		same(t, "waited", time.Since(began), 31*time.Second)
		same(t, "declared", len(k.Gaps()), 0)
	})
}

// TestNamesOfOldZips reads names in the code page that zips had before UTF-8.
func TestNamesOfOldZips(t *testing.T) {
	raw := stored(t, "diary/ABC.txt", []byte("kept\n"), func(*zip.FileHeader) {})
	raw = bytes.ReplaceAll(raw, []byte("ABC"), []byte{0x81, 0x84, 0x94}) // ü ä ö
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/export.zip", raw)
	k := kept(t, dir).Run()
	same(t, "entries", ids(k), []string{"kept"})
}

// FuzzArchive holds the reader of zips to the library's: whatever the library can read whole
// is read, and nothing makes it fail otherwise than by a gap.
func FuzzArchive(f *testing.F) {
	f.Add(archivetest.PackZip(f, member("diary/a.txt", "one\ntwo\n"), member("x", "y")))
	f.Add(archivetest.PackTarGzip(f, member("diary/a.txt", "one\n")))
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		archivetest.WriteFile(t, dir+"/export.zip", content)
		k := kept(t, dir).Run()
		z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		want := map[string]bool{}
		for _, m := range z.File {
			name := strings.Trim(m.Name, "/")
			if ok, _ := filepath.Match("diary/*.txt", name); !ok || m.Flags&1 != 0 || !m.Mode().IsRegular() ||
				strings.HasSuffix(m.Name, "/") || strings.HasPrefix(m.Name, "/") {
				continue
			}
			in, err := m.Open()
			if err != nil {
				continue
			}
			b, err := io.ReadAll(in)
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(b)) {
				if text := strings.TrimSpace(line); text != "bad" && text != "" {
					want[strings.ToValidUTF8(text, "\uFFFD")] = true
				}
			}
		}
		for id := range want {
			if _, ok := k.Records["entries"][id]; !ok && len(k.Gaps()) == 0 {
				t.Errorf("%q is neither stored nor declared", id)
			}
		}
	})
}

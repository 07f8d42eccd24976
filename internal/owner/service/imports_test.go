package service

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/imports"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const albumManifest = `{"protocol_version":"0.1.0","connector_id":"album","version":"0.1.0","display_name":"Album",
"runtime_requirements":{"bindings":{"filesystem":{"required":true}}},
"setup":{"modality":"manual_or_upload","manual_or_upload":{"label":"Lists of pictures",` +
	`"accepted_file_extensions":[".txt"],"import_dir_env_var":"ALBUM_DIR","validation":{"max_file_bytes":1000}}},
"capabilities":{"refresh_policy":{"recommended_mode":"manual","rationale":"A person has to open the box."}},
"reason_display_messages":{"blurred":"A picture is blurred."},
"streams":[{"name":"coverage_diagnostics","semantics":"mutable_state","checkpoint":"slice","primary_key":"id",` +
	`"schema":{"type":"object","properties":{"id":{"type":"string"}}}},{"name":"pictures","semantics":"mutable_state",` +
	`"checkpoint":"slice","primary_key":"id","schema":{"type":"object","properties":{"id":{"type":"string"},` +
	`"text":{"type":"string"}}}}]}`

// albumConnector is a real process that reads every list in its folder: a key and a word on each line. It also emits
// one picture as a live source would, and cannot read blurred ones.
const albumConnector = `#!/bin/sh
read -r start
n=1
printf '%s\n' '{"type":"RECORD","stream":"pictures","key":"live","data":{"id":"live","text":"source"},'\
'"emitted_at":"2026-01-02T03:04:05Z"}'
cd "$ALBUM_DIR" || exit 1
for f in *.txt */*.txt; do
	[ -f "$f" ] || continue
	while read -r key text; do
		if [ "$text" = "blurred" ]; then
			printf '{"type":"DETAIL_GAP","stream":"pictures","record_key":"%s","reason":"blurred","retryable":false,"detail_locator":{"file":"%s"}}\n' "$key" "$f"
			continue
		fi
		printf '{"type":"RECORD","stream":"pictures","key":"%s","data":{"id":"%s","text":"%s"},"emitted_at":"2026-01-02T03:04:05Z","file":"%s"}\n' "$key" "$key" "$text" "$f"
		n=$((n+1))
	done < "$f"
	printf '{"type":"RECORD","stream":"coverage_diagnostics","key":"%s","data":{"id":"%s","file":"%s","left_out":{"Frames":2},"unrecognized":{"*.raw":1}},"emitted_at":"2026-01-02T03:04:05Z"}\n' "$f" "$f" "$f"
	n=$((n+1))
done
printf '%s\n' '{"type":"STATE","stream":"pictures","cursor":{"n":1}}'
printf '{"type":"DONE","status":"succeeded","records_emitted":%d}\n' "$n"
`

// newAlbumHarness is a bed with a connection that takes files into a folder of its own, within the private
// home.
func newAlbumHarness(t *testing.T, change ...func(*Config)) (*serviceHarness, string) {
	t.Helper()
	b := newServiceHarness(t, append(change, func(c *Config) {
		dir := filepath.Join(c.Home, "connectors", "album")
		for name, body := range map[string]string{"manifest.json": albumManifest, "connector": albumConnector} {
			if err := errors.Join(os.MkdirAll(dir, 0o700),
				os.WriteFile(filepath.Join(dir, name), []byte(body), 0o700)); err != nil {
				t.Fatal(err)
			}
		}
		c.Connectors = catalog.Catalog{Dir: filepath.Dir(dir), Private: []string{c.Home},
			Imports: filepath.Join(c.Home, "imports")}
	})...)
	d, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "album", AwaitFile: true})
	b.requireNoError(err)
	asked, err := b.Store.ListRunRequests(b.ctx(), d.ID)
	b.requireNoError(err)
	if len(asked) != 0 {
		t.Errorf("a run was asked for before there is a file: %+v", asked)
	}
	return b, d.ID
}

func (b *serviceHarness) importTextFile(id, name, content string) api.Import {
	b.t.Helper()
	b.at = b.at.Add(time.Minute)
	got, err := b.Import(b.ctx(), id, api.ImportFile{Name: name, Content: strings.NewReader(content)})
	b.requireNoError(err)
	return got
}

// read makes the run that was asked for.
func (b *serviceHarness) readFiles(id string) {
	b.t.Helper()
	b.at = b.at.Add(time.Minute)
	files := func(l *launch.Launcher, _ *launch.RunRequest) {
		l.Bindings = map[string]jsontext.Value{"filesystem": jsontext.Value("{}")}
	}
	if r := b.makeRun(id, files); r.Status != runner.Succeeded {
		b.t.Fatalf("the run ended as %s: %v\n%s", r.Status, r.Failure, r.StderrTail)
	}
}

// importedFiles lists the files of a connection's import folder.
func (b *serviceHarness) importedFiles(id string) (names []string) {
	b.t.Helper()
	root := filepath.Join(b.home, "imports", id)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		b.requireNoError(err)
	}
	return names
}

// A run of the real connector reads a received file, and the receipt counts the new records. The same content under
// another name changes nothing. Undoing deletes only records that no other file and no source delivered. Importing
// the file again restores them.
func TestImport(t *testing.T) {
	t.Parallel()
	b, id := newAlbumHarness(t)
	first := b.importTextFile(id, "first.txt", "a 1\nb 1\nlive source\nshadow blurred\n")
	if first.Status != api.ImportWaiting || len(first.SHA256) != 64 || *first.Bytes != 35 {
		t.Errorf("received as %+v", first)
	}
	asked, err := b.Store.ListRunRequests(b.ctx(), id)
	b.requireNoError(err)
	if len(asked) != 1 {
		t.Errorf("asked for are %+v", asked)
	}
	b.readFiles(id)
	second := b.importTextFile(id, "second.txt", "b 1\nc 1\na 2\n")
	again := b.importTextFile(id, "other name.txt", "b 1\nc 1\na 2\n")
	if !again.Already || again.ID != second.ID {
		t.Errorf("the same content is %+v", again)
	}
	b.readFiles(id)
	got, err := b.ImportByID(b.ctx(), first.ID)
	b.requireNoError(err)
	// The first run added a and b as new records. It received live both from the source and from the file.
	if got.Status != api.ImportRead || got.RunID == "" || got.New != 3 || len(got.Skipped) != 1 ||
		got.Skipped[0] != (api.ImportSkip{Reason: "blurred", Words: "A picture is blurred.", Count: 1}) {
		t.Errorf("first is %+v", got)
	}
	got, err = b.ImportByID(b.ctx(), second.ID)
	b.requireNoError(err)
	if got.Status != api.ImportRead || got.New != 1 || got.Changed != 1 || got.Same != 1 || *got.UndoDeletes != 1 ||
		*got.UndoKeeps != 2 {
		t.Errorf("second is %+v", got)
	}
	frames, raw := api.LeftOut{Kind: "Frames", Count: 2, Known: true}, api.LeftOut{Kind: "*.raw", Count: 1}
	if !slices.Equal(got.LeftOut, []api.LeftOut{frames, raw}) {
		t.Errorf("left out of second is %+v", got.LeftOut)
	}
	gaps, err := b.Gaps(b.ctx(), api.GapQuery{ConnectionID: id})
	b.requireNoError(err)
	frames.Count, raw.Count = 4, 2
	if !slices.Equal(gaps.LeftOut, []api.LeftOut{frames, raw}) {
		t.Errorf("left out of both is %+v", gaps.LeftOut)
	}
	why, err := b.Why(b.ctx(), id)
	b.requireNoError(err)
	if why.Steps[0].Fact != "Left out: Frames (4)." || why.Steps[1].Fact != "Not recognized: *.raw (2)." {
		t.Errorf("the chain begins with %+v", why.Steps[:2])
	}
	if names := strings.Join(b.importedFiles(id), " "); names != "first.txt second.txt" {
		t.Errorf("in the folder are %s", names)
	}
	undone, err := b.UndoImport(b.ctx(), first.ID)
	b.requireNoError(err)
	if undone.Status != api.ImportUndone || undone.Deleted != 0 {
		t.Errorf("undone as %+v", undone) // everything of it came from elsewhere too
	}
	if undone, err = b.UndoImport(b.ctx(), second.ID); err != nil || undone.Deleted != 3 {
		t.Errorf("undone as %+v, %v", undone, err)
	}
	for key, gone := range map[string]bool{"a": true, "b": true, "c": true, "live": false} {
		r, err := b.Store.Record(b.ctx(), id, "pictures", key)
		if err != nil || r.Deleted != gone {
			t.Errorf("%s is deleted: %t, %v", key, r.Deleted, err)
		}
	}
	if names := b.importedFiles(id); len(names) > 0 {
		t.Errorf("in the folder are %v", names)
	}
	if gaps, err := b.Gaps(b.ctx(), api.GapQuery{ConnectionID: id}); err != nil || len(gaps.Gaps) != 1 ||
		gaps.Gaps[0].IgnoredWhy == "" {
		t.Errorf("missing are %+v, %v", gaps.Gaps, err)
	}
	cursors, err := b.Store.Cursors(b.ctx(), id, "")
	b.requireNoError(err)
	for _, c := range cursors {
		if len(c.Cursor) > 0 && string(c.Cursor) != "null" {
			t.Errorf("the next run goes on from %s", c.Cursor)
		}
	}
	third := b.importTextFile(id, "second.txt", "b 1\nc 1\na 2\n")
	if third.Already || third.ID == second.ID {
		t.Errorf("given again after it was undone it is %+v", third)
	}
	b.readFiles(id)
	if got, err = b.ImportByID(b.ctx(), third.ID); err != nil || got.New != 3 {
		t.Errorf("read again it is %+v, %v", got, err)
	}
	all, err := b.Imports(b.ctx(), id)
	b.requireNoError(err)
	if len(all) != 3 || all[0].ID != third.ID {
		t.Errorf("receipts are %+v", all)
	}
}

// A file that is no such file, is too large, does not come to its end or has a name that leads
// elsewhere leaves nothing, or stays where it belongs.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	b, id := newAlbumHarness(t)
	give := func(name string, bytes int64, content io.Reader) (api.Import, error) {
		return b.Import(b.ctx(), id, api.ImportFile{Name: name, Bytes: bytes, Content: content})
	}
	for _, c := range []struct {
		name, file, code string
		bytes            int64
		content          io.Reader
	}{
		{"a picture", "IMG_2044.HEIC", api.CodeFileNotAccepted, 0, strings.NewReader("x")},
		{"no ending", "..", api.CodeFileNotAccepted, 0, strings.NewReader("x")},
		{"empty", "a.txt", api.CodeFileNotAccepted, 0, strings.NewReader("")},
		{"too large by its own word", "a.txt", api.CodeFileTooLarge, 1001, strings.NewReader("x")},
		{"too large", "a.txt", api.CodeFileTooLarge, 0, strings.NewReader(strings.Repeat("x", 1001))},
		{"shorter than it said", "a.txt", api.CodeFileCut, 10, strings.NewReader("x")},
		{"broken off", "a.txt", api.CodeFileCut, 0,
			io.MultiReader(strings.NewReader("a 1\n"), iotest.ErrReader(errors.New("the line broke")))},
	} {
		_, err := give(c.file, c.bytes, c.content)
		var problem *api.Error
		if !errors.As(err, &problem) || problem.Code != c.code || problem.Next == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if names := b.importedFiles(id); len(names) > 0 {
		t.Fatalf("refused files left %v", names)
	}
	if all, err := b.Imports(b.ctx(), id); err != nil || len(all) > 0 {
		t.Fatalf("refused files have receipts: %+v, %v", all, err)
	}
	for n, name := range []string{"../../../etc/passwd.txt", `C:\Users\ann\..\evil.txt`, "/absolute.txt",
		"..txt/../..//x.txt", ".hidden.txt", "new\nline\x00.txt", "\u202etxt.exe.txt", strings.Repeat("long", 200) + ".txt",
		"passwd.txt"} {
		got, err := give(name, 0, strings.NewReader(strings.Repeat("k 1\n", n+1)))
		b.requireNoError(err)
		if strings.ContainsAny(got.Name, "/\\\n\x00\u202e") || strings.HasPrefix(got.Name, ".") ||
			len(got.Name) > 150 || !strings.HasSuffix(got.Name, ".txt") {
			t.Errorf("%q is called %q", name, got.Name)
		}
	}
	if names := b.importedFiles(id); len(names) != 9 {
		t.Errorf("in the folder are %q", names)
	}
	outside, err := filepath.Glob(filepath.Join(b.home, "*.txt"))
	if err != nil || len(outside) > 0 {
		t.Errorf("outside are %v, %v", outside, err)
	}
	_, err = b.Import(b.ctx(), "cin_none_1", api.ImportFile{Name: "a.txt", Content: strings.NewReader("a 1")})
	wantError(t, err, api.CodeNotFound, "")
	garden := b.connect("trowel")
	_, err = b.Import(b.ctx(), garden.ID, api.ImportFile{Name: "a.txt", Content: strings.NewReader("a 1")})
	wantError(t, err, api.CodeNoImports, "")
	b.requireNoError(b.Revoke(b.ctx(), id))
	_, err = give("late.txt", 0, strings.NewReader("a 1"))
	wantError(t, err, api.CodeRevoked, "")
}

// An undo that was killed in the middle is gone on with by asking again, and a file that was put
// into the folder by hand has a receipt, and is the owner's to take away.
func TestUndoGoesOn(t *testing.T) {
	t.Parallel()
	b, id := newAlbumHarness(t)
	var lines strings.Builder
	for n := range 90 {
		lines.WriteString("k" + string(rune('0'+n/10)) + string(rune('0'+n%10)) + " 1\n")
	}
	i := b.importTextFile(id, "many.txt", lines.String())
	byHand := filepath.Join(b.home, "imports", id, "by hand.txt")
	b.requireNoError(os.WriteFile(byHand, []byte("hand 1\nk00 1\n"), 0o600))
	b.readFiles(id)
	// As a process leaves it that is killed after the first page.
	b.requireNoError(b.Store.BeginImportUndo(b.ctx(), i.ID, b.at))
	lease, err := b.Store.StartRun(b.ctx(), store.RunStart{RunID: "run_killed", ConnectionID: id, ConnectorID: "album",
		Trigger: store.TriggerUndo, Holder: "dead", TTL: time.Minute,
		Streams: []store.StreamSpec{{Name: "pictures"}}}, b.at)
	b.requireNoError(err)
	if done, err := b.Store.UndoImport(b.ctx(), lease, i.ID, 10, b.at); done || err != nil {
		t.Fatalf("the first page: %t, %v", done, err)
	}
	half, err := b.ImportByID(b.ctx(), i.ID)
	b.requireNoError(err)
	if half.Status != api.ImportUndoing || half.Deleted != 9 && half.Deleted != 10 ||
		*half.UndoDeletes+half.Deleted != 89 {
		t.Errorf("killed in between it is %+v", half)
	}
	_, err = b.UndoImport(b.ctx(), i.ID)
	wantError(t, err, api.CodeRunActive, "")
	b.at = b.at.Add(2 * time.Minute) // the dead one's lease ran out
	done, err := b.UndoImport(b.ctx(), i.ID)
	b.requireNoError(err)
	if done.Status != api.ImportUndone || done.Deleted != 89 {
		t.Errorf("gone on with it is %+v", done)
	}
	again, err := b.UndoImport(b.ctx(), i.ID)
	if err != nil || again.Deleted != 89 {
		t.Errorf("asked once more: %+v, %v", again, err)
	}
	all, err := b.Imports(b.ctx(), id)
	b.requireNoError(err)
	if len(all) != 2 || all[0].Name != "by hand.txt" || all[0].SHA256 != "" || all[0].New != 2 ||
		all[0].Status != api.ImportRead {
		t.Fatalf("receipts are %+v", all)
	}
	_, err = b.UndoImport(b.ctx(), all[0].ID)
	wantError(t, err, api.CodeFileInPlace, "")
	b.requireNoError(os.Remove(byHand))
	if done, err = b.UndoImport(b.ctx(), all[0].ID); err != nil || done.Deleted != 2 {
		t.Errorf("undone by hand: %+v, %v", done, err)
	}
	streams, err := b.Store.Streams(b.ctx(), id)
	b.requireNoError(err)
	if len(streams) != 2 || streams[1].Records != 1 || streams[1].Deleted != 91 {
		t.Errorf("left are %+v", streams)
	}
	_, err = b.UndoImport(b.ctx(), "imp_none")
	wantError(t, err, api.CodeNotFound, "")
}

// A file that was copied into the folder is read without a request, once it has stopped growing. A file that was
// already read, or that the connector does not accept, starts no run.
func TestDroppedFile(t *testing.T) {
	t.Parallel()
	b, id := newAlbumHarness(t)
	dir := filepath.Join(b.home, "imports", id)
	dropped := &imports.DroppedFiles{Imports: b.FileImports}
	asked := func(when string, want int) {
		t.Helper()
		b.at = b.at.Add(10 * time.Second)
		b.requireNoError(dropped.Scan(b.ctx()))
		requests, err := b.Store.ListRunRequests(b.ctx(), id)
		b.requireNoError(err)
		if len(requests) != want {
			t.Errorf("%s: %d runs are asked for, want %d", when, len(requests), want)
		}
	}
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		b.requireNoError(errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(content), 0o600),
			os.Chtimes(path, b.at, b.at)))
	}
	asked("an empty folder", 0)
	put("notes.pdf", "of another kind")
	put(".receiving-upl_1.txt", "on its way")
	put("roll.txt", "a 1\n")
	asked("it has just come", 0)
	put("roll.txt", "a 1\nb 1\n")
	asked("it grows", 0)
	asked("it is whole", 1)
	b.readFiles(id)
	asked("it was read", 0)
	asked("nothing happened", 0)
	restarted := &imports.DroppedFiles{Imports: b.FileImports}
	dropped = restarted
	asked("after a restart", 0)
	asked("after a restart, unchanged", 0)
	b.importTextFile(id, "given.txt", "c 1\n")
	b.readFiles(id)
	asked("a file that was given", 0)
	asked("a file that was given, again", 0)
	b.at = b.at.Add(time.Hour)
	put("roll.txt", "a 1\nb 1\nd 1\n")
	asked("it changes", 0)
	asked("it has changed", 1)
}

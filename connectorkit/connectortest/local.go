package connectortest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// LocalTarget is a connector that reads local files.
type LocalTarget struct {
	Connector catalog.Connector
	// Make writes a fresh tree into a folder.
	Make func(dir string, c files.Config) (files.World, error)
	// Env leads the connector to the tree.
	Env func(dir string) map[string]string
	// Declared are the reasons for which something of a hostile tree is missing.
	Declared []protocol.Reason
	// Listed are streams with records about what exists, which the tree does not know.
	Listed []string
}

// RunLocal holds a connector of local files to every scenario.
func RunLocal(t *testing.T, target LocalTarget) {
	for _, s := range []struct {
		name string
		run  func(*testing.T, LocalTarget)
	}{
		{"protocol", localProtocol},
		{"first run and resume", localFilesResume},
		{"while the tree changes", localChanges},
		{"killed", localFilesKilled},
		{"scope", localFilesScope},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, target)
		})
	}
}

// localHarness is a harness over a tree.
type localHarness struct {
	*Harness
	tree   files.World
	target LocalTarget
}

func newLocalHarness(t *testing.T, target LocalTarget, c files.Config) *localHarness {
	t.Helper()
	tree, err := target.Make(t.TempDir(), c)
	if err != nil {
		t.Fatalf("make tree: %v", err)
	}
	sim := &Sim{Env: target.Env(tree.Root())}
	return &localHarness{NewHarness(t, Target{Connector: target.Connector, Start: func(*testing.T) *Sim { return sim }}),
		tree,
		target}
}

func localProtocol(t *testing.T, target LocalTarget) {
	tree, err := target.Make(t.TempDir(), files.Config{Seed: 3, Sessions: 6, Lines: 12})
	if err != nil {
		t.Fatal(err)
	}
	conformanceKit(t, Target{Connector: target.Connector,
		Start: func(*testing.T) *Sim { return &Sim{Env: target.Env(tree.Root())} }})
}

// localFilesResume shows that everything is collected, whatever the files look like, that a
// second run changes nothing, and neither does one from the beginning.
func localFilesResume(t *testing.T, target LocalTarget) {
	b := newLocalHarness(t, target, files.Config{Seed: 11, Sessions: 25, Lines: 30, Hostile: true, LongLine: 17 << 20})
	b.Succeed(t)
	b.verifyTree(t)
	reasons := map[protocol.Reason]int{}
	for _, g := range b.Gaps(t, "") {
		reasons[g.Reason]++
	}
	for _, reason := range target.Declared {
		if reasons[reason] == 0 {
			t.Errorf("nothing is missing as %s: %v", reason, reasons)
		}
	}
	for _, mode := range []protocol.CollectionMode{protocol.Incremental, protocol.FullRefresh} {
		before := b.newestSequences(t)
		if result := b.Run(t, launch.RunRequest{Mode: mode}); result.Status != runner.Succeeded {
			t.Fatalf("%s: %v", mode, result.Failure)
		}
		if after := b.newestSequences(t); !reflect.DeepEqual(before, after) {
			t.Errorf("a %s run changed something although nothing had changed:\n%v\n%v", mode, before, after)
		}
	}
	b.verifyAccounts(t)
}

// localChanges lets the hand change the tree while it is read, over several runs.
func localChanges(t *testing.T, target LocalTarget) {
	b := newLocalHarness(t, target, files.Config{Seed: 5, Sessions: 12, Lines: 60})
	for range 4 {
		result := b.Run(t, launch.RunRequest{Options: runner.Options{BatchRecords: 20,
			Observe: func(runner.Update) { b.changeTree(t) }}})
		if result.Status != runner.Succeeded {
			t.Fatalf("%v\n%s", result.Failure, result.StderrTail)
		}
		for range 10 {
			b.changeTree(t)
		}
	}
	b.runUntilSettled(t)
}

// localFilesKilled ends the connector with SIGKILL again and again while the tree changes, each time a
// little later in its run: one that reads a small tree has ended before anything of it is stored.
func localFilesKilled(t *testing.T, target LocalTarget) {
	b := newLocalHarness(t, target, files.Config{Seed: 8, Sessions: 12, Lines: 60})
	killed, times, missed := 0, KillCount(20), 0
	for killed < times && missed < maxMissedKills {
		over := make(chan struct{})
		var watch sync.WaitGroup
		hit, looks := false, 100*(killed%8)>>missed // one that was over before is killed earlier the next time
		b.Run(t, launch.RunRequest{
			Started: func(id string) { watch.Go(func() { hit = killAtSighting(id, looks, over) }) },
			Options: runner.Options{BatchRecords: 20, Observe: func(runner.Update) { b.changeTree(t) }},
		})
		close(over)
		watch.Wait()
		if b.requireNoneInvented(t); hit {
			killed, missed = killed+1, 0
		} else {
			missed++
		}
	}
	if t.Logf("%d runs of %d killed", killed, times); killed < times {
		t.Errorf("%d runs of %d were killed", killed, times)
	}
	b.runUntilSettled(t)
}

// maxMissedKills is how many runs in a row may be over before they are killed.
const maxMissedKills = 20

// killAtSighting ends the connector of a run when it has been seen that often before, and reports whether it did.
func killAtSighting(runID string, looks int, over <-chan struct{}) bool {
	for {
		select {
		case <-over:
			return false
		default:
		}
		pids := ownProcesses(runID)
		if len(pids) == 0 {
			continue
		}
		if looks--; looks < 0 {
			return syscall.Kill(pids[0], syscall.SIGKILL) == nil
		}
	}
}

// localFilesScope shows that a stream which was left out at first is collected whole later.
func localFilesScope(t *testing.T, target LocalTarget) {
	b := newLocalHarness(t, target, files.Config{Seed: 2, Sessions: 6, Lines: 10})
	only := target.Connector.Manifest.Streams[0].Name
	result := b.Run(t, launch.RunRequest{Scope: []protocol.StreamScope{{Name: only}}})
	if result.Status != runner.Succeeded {
		t.Fatal(result.Failure)
	}
	for _, s := range target.Connector.Manifest.Streams[1:] {
		if n := len(b.storedRecords(t, s.Name)); n > 0 {
			t.Errorf("%d records of %s, which was not asked for", n, s.Name)
		}
	}
	b.Succeed(t)
	b.verifyTree(t)
}

func (b *localHarness) changeTree(t *testing.T) {
	if what, err := b.tree.Step(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// runUntilSettled runs until the tree is read as it is now, and compares.
func (b *localHarness) runUntilSettled(t *testing.T) {
	t.Helper()
	b.Succeed(t)
	b.Succeed(t) // files that had changed too lately are looked at once more
	b.verifyTree(t)
	b.verifyAccounts(t)
}

func (b *localHarness) newestSequences(t *testing.T) map[string]int64 {
	all := map[string]int64{}
	for _, s := range b.Target.Connector.Manifest.Streams {
		all[s.Name] = b.NewestChange(t, s.Name)
	}
	return all
}

// verifyTree holds what is stored against what the tree holds now and ever held.
func (b *localHarness) verifyTree(t *testing.T) {
	t.Helper()
	declared := map[string]bool{}
	for _, status := range []protocol.GapStatus{protocol.GapPending, protocol.GapTerminal} {
		for _, g := range b.Gaps(t, status) {
			file, _, line := strings.Cut(strings.TrimPrefix(g.RecordKey, "file:"), "@")
			declared[file] = declared[file] || !line
		}
	}
	stored := map[string]map[string]map[string]any{}
	var lost []string
	for _, items := range b.tree.Now() {
		first := items[0]
		if stored[first.Stream] == nil {
			stored[first.Stream] = b.decodedRecords(t, first.Stream)
		}
		byFile := map[string]map[string]any{}
		missing := false
		for _, i := range items {
			if byFile[i.File] == nil {
				byFile[i.File] = map[string]any{}
			}
			for name, v := range i.Fields {
				if name != "session_id" { // that of a copy which is gone by now is right too
					byFile[i.File][name] = v
				}
			}
			missing = missing || declared[i.File]
		}
		ok := missing
		for _, fields := range byFile {
			ok = ok || recordHasFields(stored[first.Stream], first.Key, fields)
		}
		if !ok {
			lost = append(lost, fmt.Sprintf("%s %s of %s", first.Stream, first.Key, first.File))
		}
	}
	slices.Sort(lost)
	if len(lost) > 0 {
		t.Fatalf("%d things are neither stored nor declared missing:\n%s", len(lost),
			strings.Join(lost[:min(10, len(lost))], "\n"))
	}
	b.requireNoneInvented(t)
}

// decodedRecords returns the records of a stream as a reader gets them.
func (b *localHarness) decodedRecords(t *testing.T, stream string) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for key, rec := range b.storedRecords(t, stream) {
		var data map[string]any
		if !rec.Deleted && json.Unmarshal(rec.Data, &data) == nil {
			all[key] = data
		}
	}
	return all
}

func recordHasFields(stored map[string]map[string]any, key string, fields map[string]any) bool {
	if key != "" {
		rec, ok := stored[key]
		return ok && containsFields(rec, fields)
	}
	for _, rec := range stored {
		if containsFields(rec, fields) {
			return true
		}
	}
	return false
}

func containsFields(rec, fields map[string]any) bool {
	for name, want := range fields {
		if !reflect.DeepEqual(rec[name], want) {
			return false
		}
	}
	return true
}

// requireNoneInvented finds stored records that were never in the tree.
func (b *localHarness) requireNoneInvented(t *testing.T) {
	t.Helper()
	for _, s := range b.Target.Connector.Manifest.Streams {
		if slices.Contains(b.target.Listed, s.Name) {
			continue
		}
		for key, rec := range b.decodedRecords(t, s.Name) {
			forms := b.tree.Ever(s.Name, key)
			if len(forms) == 0 {
				forms = b.tree.Ever(s.Name, "")
			}
			if !slices.ContainsFunc(forms, func(i files.Item) bool { return containsFields(rec, i.Fields) }) {
				t.Fatalf("%s %s was never there", s.Name, key)
			}
		}
	}
}

// verifyAccounts holds the account of every store: what is present is read, unreadable or excluded.
func (b *localHarness) verifyAccounts(t *testing.T) {
	t.Helper()
	present := 0
	for key, rec := range b.storedRecords(t, "coverage_diagnostics") {
		var c struct {
			Status                                                                string
			FilesPresent, FilesRead, FilesUnreadable, FilesExcluded, FilesWaiting int
		}
		if rec.Deleted {
			continue
		}
		var raw map[string]any
		if err := json.Unmarshal(rec.Data, &raw); err != nil {
			t.Fatal(err)
		}
		c.Status = fmt.Sprint(raw["status"])
		for name, to := range map[string]*int{
			"files_present": &c.FilesPresent, "files_read": &c.FilesRead, "files_unreadable": &c.FilesUnreadable,
			"files_excluded": &c.FilesExcluded, "files_waiting": &c.FilesWaiting,
		} {
			n, _ := raw[name].(float64)
			*to = int(n)
		}
		present += c.FilesPresent
		if c.Status != "unaccounted" && (c.FilesPresent != c.FilesRead+c.FilesUnreadable+c.FilesExcluded ||
			c.FilesWaiting != 0) {
			t.Errorf("account of %s: %+v", key, c)
		}
	}
	if files, links := countTreeFiles(t, b.tree.Root()); present < files || present > files+links {
		t.Errorf("%d files are accounted for, %d are there and %d links", present, files, links)
	}
}

// countTreeFiles counts what is there without any of the reader's means.
func countTreeFiles(t *testing.T, dir string) (files, links int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type().IsRegular():
			files++
		case d.Type()&fs.ModeSymlink != 0:
			links++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, links
}

package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/manifest"
)

// bed is a worker's profiles over a real database.
type bed struct {
	*Profiles
	t        *testing.T
	st       store.Store
	memory   string
	database string
	now      time.Time
}

var fern = &manifest.Manifest{ConnectorID: "fernpost", Browser: &manifest.Browser{Hosts: []string{"fernpost.example"}}}

func newBed(t *testing.T) *bed {
	t.Helper()
	dir := t.TempDir()
	b := &bed{t: t, memory: filepath.Join(dir, "memory"),
		database: sqlitetest.NewDatabase(t, filepath.Join(dir, "pdpp.db")),
		now:      time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	must(t, os.Mkdir(b.memory, 0o700))
	st, err := sqlite.Open(t.Context(), b.database, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, st.Close()) })
	b.st = st
	b.Profiles = &Profiles{Root: filepath.Join(dir, "profiles"), Keeper: st, Key: credential.NewKey(),
		Program: "/usr/bin/true",
		Memory:  []string{"/no/such/folder", b.memory}, Patience: 50 * time.Millisecond,
		Now: func() time.Time { return b.now }}
	return b
}

// start takes the lease of a connection, which is made if need be.
func (b *bed) start(connection, run string) store.Lease {
	b.t.Helper()
	err := b.st.CreateConnection(b.t.Context(),
		store.Connection{ID: connection, ConnectorID: "fernpost", Status: store.ConnectionActive,
			SourceKind: store.SourceAccount, CreatedAt: b.now, UpdatedAt: b.now})
	if err != nil && !errors.Is(err, store.ErrExists) {
		b.t.Fatal(err)
	}
	l, err := b.st.StartRun(b.t.Context(), store.RunStart{RunID: run, ConnectionID: connection, ConnectorID: "fernpost",
		Trigger: store.TriggerManual, Holder: "test", TTL: time.Minute}, b.now)
	must(b.t, err)
	return l
}

func (b *bed) finish(l store.Lease) {
	b.t.Helper()
	must(b.t, b.st.FinishRun(b.t.Context(), l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, b.now))
}

func (b *bed) open(l store.Lease) *ProfileSession {
	b.t.Helper()
	s, err := b.Open(b.t.Context(), l, fern)
	must(b.t, err)
	return s
}

// signIn is what a connector and its browser leave in the files.
func (b *bed) signIn(s *ProfileSession, cookie string) {
	b.t.Helper()
	at := s.Binding(0)
	must(b.t, os.WriteFile(filepath.Join(at.Profile, "Cookies"), []byte(cookie), 0o600))
	must(b.t, os.WriteFile(filepath.Join(at.Home, SessionFile), []byte(`{}`), 0o600))
	must(b.t, os.WriteFile(filepath.Join(at.Home, AccountFile), []byte(macOf(cookie)), 0o600))
}

func macOf(cookie string) string { return fmt.Sprintf("mac-of-%x", cookie) }

func (b *bed) cookie(s *ProfileSession) string {
	text, _ := os.ReadFile(filepath.Join(s.Binding(0).Profile, "Cookies"))
	return string(text)
}

// nothingLeft sees that no live file is anywhere.
func (b *bed) nothingLeft() {
	b.t.Helper()
	if left, err := os.ReadDir(b.memory); err != nil || len(left) > 0 {
		b.t.Errorf("live files are left: %v, %v", left, err)
	}
	left, _ := filepath.Glob(filepath.Join(b.Root, "*", "*"))
	for _, path := range left {
		if filepath.Base(path) != lockFile {
			b.t.Errorf("%s is left", path)
		}
	}
}

// die is what the death of the worker does to a session.
func (s *ProfileSession) die() { _ = s.folder.unlock() }

func TestProfileIsKeptFromRunToRun(t *testing.T) {
	b := newBed(t)
	first := b.start("cin_1", "r1")
	s := b.open(first)
	at := s.Binding(3)
	if at.Restored || at.Account != "" || at.SurfaceFD != 3 || len(at.Hosts) != 1 ||
		!strings.HasPrefix(at.Profile, b.memory) {
		t.Errorf("the first binding is %+v", at)
	}
	for _, dir := range []string{filepath.Join(b.Root, "fernpost__cin_1"), at.Profile, at.Home, filepath.Dir(at.Home)} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
	if through, err := filepath.EvalSymlinks(filepath.Join(b.Root, "fernpost__cin_1", liveLink)); err != nil ||
		through != filepath.Dir(at.Home) {
		t.Errorf("live leads to %s, %v", through, err)
	}
	b.signIn(s, "sid=of-the-first-run")
	kept, err := s.End(t.Context())
	if err != nil || kept.Trimmed || kept.Bytes == 0 {
		t.Fatalf("kept %+v, %v", kept, err)
	}
	b.nothingLeft()
	row, err := b.st.BrowserProfile(t.Context(), "cin_1", "fernpost__cin_1")
	must(t, err)
	if row.Generation != 1 || row.AccountMAC != macOf("sid=of-the-first-run") ||
		bytes.Contains(row.Sealed, []byte("of-the-first")) {
		t.Errorf("the row is %+v", row)
	}
	b.finish(first)
	for i, cookie := range []string{"sid=2", "sid=3"} {
		l := b.start("cin_1", fmt.Sprint("again-", i))
		s := b.open(l)
		was := []string{"sid=of-the-first-run", "sid=2"}[i]
		if at := s.Binding(0); !at.Restored || at.Account != macOf(was) || b.cookie(s) != was {
			t.Errorf("run %d has %q, %+v", i+2, b.cookie(s), at)
		}
		b.signIn(s, cookie)
		_, err := s.End(t.Context())
		must(t, err)
		b.finish(l)
	}
	for _, file := range []string{b.database, b.database + "-wal"} {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte("sid=")) {
			t.Errorf("the session is in the clear in %s", file)
		}
	}
}

func TestProfileNames(t *testing.T) {
	t.Attr("spec", "RT-04.1")
	t.Attr("spec", "RT-04.2")
	if name, err := ProfileName("fernpost", ""); err != nil || name != "fernpost" {
		t.Errorf("without a subject: %q, %v", name, err)
	}
	if name, err := ProfileName("fernpost", "cin_1"); err != nil || name != "fernpost__cin_1" {
		t.Errorf("of a subject: %q, %v", name, err)
	}
	for _, subject := range []string{"..", "../x", "a/b", "a b", "a.b", "ä", "a\x00b", strings.Repeat("x", 120)} {
		if name, err := ProfileName("fernpost", subject); err == nil {
			t.Errorf("%q gives %q", subject, name)
		}
	}
	if _, err := ProfileName("", ""); err == nil {
		t.Error("no name at all is one")
	}
}

// Every run has a connection, and the connection id is the subject of its profile. What is opened without one, which no
// program does, has the connector's own name, so that there is one account.
func TestProfileWithoutASubject(t *testing.T) {
	t.Attr("spec", "RT-04.1")
	b := newBed(t)
	l := b.start("", "r1")
	s := b.open(l)
	if _, err := os.Stat(filepath.Join(b.Root, "fernpost", liveLink)); err != nil {
		t.Errorf("the profile is elsewhere: %v", err)
	}
	b.signIn(s, "sid=1")
	_, err := s.End(t.Context())
	must(t, err)
	row, err := b.st.BrowserProfile(t.Context(), "", "fernpost")
	must(t, err)
	if row.AccountMAC != macOf("sid=1") {
		t.Errorf("kept %+v", row)
	}
}

// Two connections of one connector run at once, and none knows of the other.
func TestProfilesOfTwoConnections(t *testing.T) {
	b := newBed(t)
	one, other := b.start("cin_1", "r1"), b.start("cin_2", "r2")
	s1, s2 := b.open(one), b.open(other)
	b.signIn(s1, "sid=1")
	b.signIn(s2, "sid=2")
	for _, s := range []*ProfileSession{s1, s2} {
		_, err := s.End(t.Context())
		must(t, err)
	}
	b.finish(one)
	b.finish(other)
	if s := b.open(b.start("cin_1", "r3")); b.cookie(s) != "sid=1" || s.Binding(0).Account != macOf("sid=1") {
		t.Errorf("the first has %q", b.cookie(s))
	}
}

func TestOneRunAtATimeHasAProfile(t *testing.T) {
	b := newBed(t)
	l := b.start("cin_1", "r1")
	s := b.open(l)
	soon, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	if _, err := b.Open(soon, l, fern); !errors.Is(err, ErrBusy) {
		t.Errorf("opened twice: %v", err)
	}
	if left, err := b.Recover(t.Context()); left != 0 || err != nil { // nor is it taken for a dead worker's
		t.Errorf("recovered %d, %v", left, err)
	}
	b.signIn(s, "sid=1")
	waited := make(chan error)
	go func() {
		again, err := b.Open(t.Context(), l, fern)
		if err == nil && b.cookie(again) != "sid=1" {
			err = errors.New("opened without what was sealed")
		}
		waited <- err
	}()
	_, err := s.End(t.Context())
	must(t, err)
	must(t, <-waited)
}

// A run that lost its lease cannot overwrite a newer session.
func TestLostLeaseKeepsNothing(t *testing.T) {
	b := newBed(t)
	lost := b.start("cin_1", "r1")
	s := b.open(lost)
	b.signIn(s, "sid=old")
	b.now = b.now.Add(time.Hour)
	// another machine
	heir := &Profiles{Root: filepath.Join(t.TempDir(), "profiles"), Keeper: b.st, Key: b.Key, Memory: b.Memory, Now: b.Now}
	taken := b.start("cin_1", "r2")
	newer, err := heir.Open(t.Context(), taken, fern)
	must(t, err)
	b.signIn(newer, "sid=new")
	_, err = newer.End(t.Context())
	must(t, err)
	if _, err := s.End(t.Context()); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("kept without a lease: %v", err)
	}
	b.nothingLeft()
	b.finish(taken)
	if s := b.open(b.start("cin_1", "r3")); b.cookie(s) != "sid=new" {
		t.Errorf("kept is %q", b.cookie(s))
	}
}

// What a worker that was killed leaves is worth as much as what it would have sealed.
func TestLeftovers(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(b *bed, s *ProfileSession)
		want  string
	}{
		{"whole and newest", func(*bed, *ProfileSession) {}, "sid=late"},
		{"not whole", func(b *bed, s *ProfileSession) {
			must(b.t, os.Remove(filepath.Join(s.folder.path, openedFile)))
		}, "sid=1"},
		{"older than what is kept", func(b *bed, s *ProfileSession) {
			must(b.t, s.folder.note(openedProfile{ConnectionID: "cin_1", Generation: 7}))
		}, "sid=1"},
		{"of an earlier boot", func(b *bed, s *ProfileSession) {
			note := filepath.Join(s.folder.path, openedFile)
			text, err := os.ReadFile(note)
			must(b.t, err)
			must(b.t, os.WriteFile(note, bytes.Replace(text, []byte(BootID()[:8]), []byte("00000000"), 1), 0o600))
		}, "sid=1"},
		{"of another connection", func(b *bed, s *ProfileSession) {
			must(b.t, s.folder.note(openedProfile{ConnectionID: "cin_2", Generation: 1}))
		}, "sid=1"},
		{"a link without files", func(b *bed, s *ProfileSession) { must(b.t, os.RemoveAll(s.room)) }, "sid=1"},
		{"a link elsewhere", func(b *bed, s *ProfileSession) {
			must(b.t, os.RemoveAll(s.room))
			link := filepath.Join(s.folder.path, liveLink)
			must(b.t, os.Remove(link))
			must(b.t, os.Symlink(b.Root, link))
		}, "sid=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			first := b.start("cin_1", "r1")
			s := b.open(first)
			b.signIn(s, "sid=1")
			_, err := s.End(t.Context())
			must(t, err)
			b.finish(first)

			dead := b.start("cin_1", "r2")
			s = b.open(dead)
			b.signIn(s, "sid=late")
			c.spoil(b, s)
			s.die()
			b.now = b.now.Add(time.Hour)
			next := b.open(b.start("cin_1", "r3"))
			if got := b.cookie(next); got != c.want {
				t.Errorf("the next run has %q, want %q", got, c.want)
			}
			_, err = next.End(t.Context())
			must(t, err)
			b.nothingLeft()
		})
	}
}

// A worker that starts seals what a dead one left, once the dead run is known to be dead.
func TestRecover(t *testing.T) {
	b := newBed(t)
	dead := b.start("cin_1", "r1")
	s := b.open(dead)
	b.signIn(s, "sid=late")
	s.die()
	if left, err := b.Recover(t.Context()); left != 1 || err != nil {
		t.Errorf("while the run may live: %d, %v", left, err)
	}
	b.finish(dead)
	if left, err := b.Recover(t.Context()); left != 0 || err != nil {
		t.Errorf("after it: %d, %v", left, err)
	}
	b.nothingLeft()
	if s := b.open(b.start("cin_1", "r2")); b.cookie(s) != "sid=late" {
		t.Errorf("the next run has %q", b.cookie(s))
	}
}

// unreachable is a store that does not answer.
type unreachable struct{ Keeper }

var errUnreachable = errors.New("no answer")

func (unreachable) SaveBrowserProfile(context.Context, store.Lease, store.BrowserProfile, time.Time) error {
	return errUnreachable
}

// A store that cannot be reached costs no sign-in, neither at the end of a run nor at the
// beginning of the next.
func TestStoreIsAway(t *testing.T) {
	b := newBed(t)
	l := b.start("cin_1", "r1")
	s := b.open(l)
	b.signIn(s, "sid=1")
	b.Keeper = unreachable{b.st}
	if _, err := s.End(t.Context()); !errors.Is(err, errUnreachable) {
		t.Errorf("ended with %v", err)
	}
	if _, err := b.Open(t.Context(), l, fern); !errors.Is(err, errUnreachable) {
		t.Errorf("opened with %v", err)
	}
	b.Keeper = b.st
	if s := b.open(l); b.cookie(s) != "sid=1" {
		t.Errorf("the next run has %q", b.cookie(s))
	}
}

// A profile that can never be opened counts as none. A profile of another key is an error, because the key may come
// back.
func TestUnreadableProfile(t *testing.T) {
	b := newBed(t)
	l := b.start("cin_1", "r1")
	s := b.open(l)
	b.signIn(s, "sid=1")
	_, err := s.End(t.Context())
	must(t, err)
	own := b.Key
	b.Key = credential.NewKey()
	if _, err := b.Open(t.Context(), l, fern); !errors.Is(err, credential.ErrWrongKey) {
		t.Errorf("with another key: %v", err)
	}
	b.Key = own
	b.nothingLeft()
	row, err := b.st.BrowserProfile(t.Context(), "cin_1", "fernpost__cin_1")
	must(t, err)
	for _, sealed := range [][]byte{append(bytes.Clone(row.Sealed[:len(row.Sealed)-1]), row.Sealed[len(row.Sealed)-1]^1),
		own.Seal(sealPlace(row.Name), []byte("no archive"))} {
		row.Sealed = sealed
		must(t, b.st.SaveBrowserProfile(t.Context(), l, row, b.now))
		row.Generation++
		s := b.open(l)
		if at := s.Binding(0); at.Restored || at.Account != "" || b.cookie(s) != "" {
			t.Errorf("opened what cannot be read as %+v", at)
		}
		b.signIn(s, "sid=2")
		_, err := s.End(t.Context())
		must(t, err)
		row.Generation++
	}
}

// A browser that outlives its connector is waited for, and killed if it stays, before its files are read. No other
// process is killed.
func TestProcessesAreGoneBeforeSealing(t *testing.T) {
	b := newBed(t)
	l := b.start("cin_1", "r1")
	s := b.open(l)
	at := s.Binding(0)
	start := func(script string, env ...string) (over chan struct{}) {
		t.Helper()
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Env = env
		must(t, cmd.Start())
		over = make(chan struct{})
		go func() { _ = cmd.Wait(); close(over) }()
		t.Cleanup(func() { _ = cmd.Process.Kill(); <-over })
		return over
	}
	stays := start("trap '' TERM; while :; do sleep 0.01; done", "HOME="+at.Home)
	byName := start("while :; do sleep 0.01; done # --user-data-dir=" + at.Profile)
	writes := start("sleep 0.02; echo sid=last >"+at.Profile+"/Cookies", "HOME="+at.Home)
	other := start("while :; do sleep 0.01; done", "HOME="+b.Root)
	_, err := s.End(t.Context())
	must(t, err)
	for name, over := range map[string]chan struct{}{"the one that stays": stays, "the one without a home": byName,
		"the one that writes": writes} {
		select {
		case <-over:
		case <-time.After(3 * time.Minute):
			t.Errorf("%s is left", name)
		}
	}
	select {
	case <-other:
		t.Error("somebody else's process was ended")
	default:
	}
	if s := b.open(l); strings.TrimSpace(b.cookie(s)) != "sid=last" {
		t.Errorf("kept is %q", b.cookie(s))
	}
}

// What a confined connector may touch beside its own: its room, the browser, nothing of others.
func TestPrepare(t *testing.T) {
	b := newBed(t)
	s := b.open(b.start("cin_1", "r1"))
	var cmd childprocess.Command
	s.Prepare(&cmd)
	if l := cmd.Limits; len(l.Write) != 1 || l.Write[0] != filepath.Dir(cmd.Dir) || !l.Sandbox {
		t.Errorf("limits = %+v", l)
	}
	b.NoSandbox = true
	if s.Prepare(&cmd); cmd.Limits.Sandbox {
		t.Error("a browser without a sandbox may write what only the sandbox needs")
	}
}

// Files go to memory that has room for them, and to the disk otherwise.
func TestRoomInMemory(t *testing.T) {
	if got := InMemory([]string{"", "/no/such/folder", "/proc", t.TempDir()}); got == "" || got == "/proc" {
		t.Errorf("in memory: %q", got)
	}
	if got := InMemory([]string{"", "/proc"}); got != "" {
		t.Errorf("without room: %q", got)
	}
}

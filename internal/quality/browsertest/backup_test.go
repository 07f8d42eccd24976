package browsertest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/backup"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/manifest"
)

// A sign-in that a backup holds is there after a restore, on a machine that has nothing else of
// it; without the home's own key it is not.
func TestSignInIsRestored(t *testing.T) {
	t.Parallel()
	const connection, cookies = "cin_fernpost_1", "sid=kept-by-the-backup"
	m := &manifest.Manifest{ConnectorID: "fernpost", Browser: &manifest.Browser{Hosts: []string{"fernpost.example"}}}
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	// worker is one over a home, with a run of its own.
	worker := func(home, run string, key credential.Key) (*browser.ProfileSession, store.Store, store.Lease, error) {
		st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		err = st.CreateConnection(t.Context(),
			store.Connection{ID: connection, ConnectorID: "fernpost", Status: store.ConnectionActive,
				SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now})
		if err != nil && !errors.Is(err, store.ErrExists) {
			t.Fatal(err)
		}
		l, err := st.StartRun(t.Context(), store.RunStart{RunID: run, ConnectionID: connection, ConnectorID: "fernpost",
			Trigger: store.TriggerManual, Holder: run, TTL: time.Minute}, now)
		if err != nil {
			t.Fatal(err)
		}
		profiles := &browser.Profiles{Root: filepath.Join(home, "profiles"), Keeper: st, Key: key, Program: "/usr/bin/true",
			Memory: []string{t.TempDir()}, Now: func() time.Time { return now }}
		s, err := profiles.Open(t.Context(), l, m)
		return s, st, l, err
	}
	home := t.TempDir()
	key, err := credential.LoadKey(home)
	if err != nil {
		t.Fatal(err)
	}
	s, st, lease, err := worker(home, "run_1", key)
	if err != nil {
		t.Fatal(err)
	}
	at := s.Binding(0)
	err = errors.Join(os.WriteFile(filepath.Join(at.Profile, "Cookies"), []byte(cookies), 0o600),
		os.WriteFile(filepath.Join(at.Home, browser.AccountFile), []byte("ab12"), 0o600))
	if err == nil {
		_, err = s.End(t.Context())
	}
	err = errors.Join(err, st.FinishRun(t.Context(), lease,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, now))
	if err != nil || at.Restored {
		t.Fatal(err, at)
	}

	file, to := filepath.Join(t.TempDir(), "pdpp.backup"), filepath.Join(t.TempDir(), "home")
	if _, err := backup.Write(t.Context(), backup.Options{Home: home, File: file, Seal: backup.Seal{Plain: true},
		Program: "1", Now: now}); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), backup.RestoreOptions{File: file, Home: to, Keys: backup.Keys{Plain: true},
		Now: now}); err != nil {
		t.Fatal(err)
	}
	if key, err = credential.LoadKey(to); err != nil {
		t.Fatal(err)
	}
	s, st, lease, err = worker(to, "run_2", key)
	if err != nil {
		t.Fatal(err)
	}
	at = s.Binding(0)
	text, err := os.ReadFile(filepath.Join(at.Profile, "Cookies"))
	if err != nil || string(text) != cookies || !at.Restored || at.Account != "ab12" {
		t.Errorf("restored: %q, %v, %+v", text, err, at)
	}
	if _, err := s.End(t.Context()); err != nil {
		t.Error(err)
	}
	if err := st.FinishRun(t.Context(), lease,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, now); err != nil {
		t.Error(err)
	}
	if _, _, _, err := worker(to, "run_3", credential.NewKey()); err == nil {
		t.Error("another key opens it")
	}
}

package serve

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// TestScheduledBackups makes backups for some days. Each is proven, and old ones are removed. One that cannot be proven
// is reported, and the one that was proven last stays however old it is.
func TestScheduledBackups(t *testing.T) {
	home, now := t.TempDir(), time.Date(2026, 3, 20, 4, 0, 0, 0, time.UTC)
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := credential.LoadKey(home)
	must(err)
	_, err = st.PutManifest(t.Context(), "orchard", []byte(`{}`), now)
	must(err)
	must(st.CreateConnection(t.Context(), store.Connection{ID: "cin_1", ConnectorID: "orchard", DisplayName: "Orchard",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now}))
	values := credential.Values{"ORCHARD_TOKEN": credential.NewSecret("sesame")}
	must(st.PutCredential(t.Context(), store.Credential{ConnectionID: "cin_1", Kind: "static_secret",
		Sealed: values.SealFor(key, "cin_1"), Fingerprint: key.FingerprintOf(values), Status: store.CredentialActive,
		CapturedAt: now}))

	plan := &BackupPlan{Folder: filepath.Join(home, "to"), Every: 24 * time.Hour, Keep: 2, Passphrase: "pear blossom",
		Work: 10}
	s := newProcess(Config{Store: st, Home: home, Backups: plan, Now: func() time.Time { return now },
		Log: slog.New(slog.DiscardHandler)})
	next := func() store.BackupProof {
		t.Helper()
		before, err := store.ReadBackupProof(t.Context(), st)
		must(err)
		now = now.Add(plan.pause(before))
		s.backUpOnce(t.Context(), before)
		after, err := store.ReadBackupProof(t.Context(), st)
		must(err)
		return after
	}
	for range 3 {
		if p := next(); p.Failure != "" || !p.ProvenAt.Equal(now) {
			t.Fatalf("%s: %+v", now, p)
		}
	}
	proven, err := store.ReadBackupProof(t.Context(), st)
	must(err)
	if got, want := proven.Sentence(), "Backup proven on 23 March 2026: 0 records restored and compared."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	files := func() []string {
		all, err := filepath.Glob(filepath.Join(plan.Folder, "*"))
		must(err)
		return all
	}
	if got := files(); len(got) != 2 || got[1] != proven.File {
		t.Errorf("kept %v", got)
	}

	plan.Key = credential.NewKey() // does not open what is stored
	for range 3 {
		p := next()
		if !strings.Contains(p.Failure, "key") || !p.ProvenAt.Equal(proven.ProvenAt) || p.File != proven.File ||
			plan.pause(p) != time.Hour || !strings.HasPrefix(p.Sentence(), "The last backup is not proven: the key") {
			t.Errorf("a backup that cannot be proven: %+v", p)
		}
	}
	if got := files(); len(got) != 3 || got[0] != proven.File {
		t.Errorf("kept %v, without the proven %s", got, proven.File)
	}
	plan.Key = credential.Key{}
	if p := next(); p.Failure != "" || !p.ProvenAt.Equal(now) || len(files()) != 2 {
		t.Errorf("after the repair: %+v, %v", p, files())
	}
}

package backup

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newHome creates a home with n connections, a key and a foreign connector.
func newHome(t *testing.T, connections int) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	st := openHome(t, home)
	for n := range connections {
		c := store.Connection{ID: fmt.Sprintf("cin_orchard_%d", n+1), ConnectorID: "orchard", DisplayName: "Orchard",
			Status:     store.ConnectionActive,
			SourceKind: store.SourceAccount, CreatedAt: noon, UpdatedAt: noon}
		if _, err := st.PutManifest(t.Context(), "orchard", []byte(`{}`), noon); err != nil {
			t.Fatal(err)
		}
		if err := st.CreateConnection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, st)
	if _, err := credential.LoadKey(home); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, connectorsDir, "orchard", "manifest.json"), "{}", 0o644)
	write(t, filepath.Join(home, connectorsDir, "orchard", "connector"), "#!/bin/sh\n", 0o755)
	return home
}

func openHome(t *testing.T, home string) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, databaseFile)), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func closeStore(t *testing.T, st store.Store) {
	t.Helper()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// connectionsIn counts the connections of a home by opening it as a server would.
func connectionsIn(t *testing.T, home string) int {
	t.Helper()
	st := openHome(t, home)
	defer closeStore(t, st)
	all, err := st.ListConnections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func words(text string) Keys {
	return Keys{Passphrase: func() (string, error) { return text, nil }}
}

// wantCode requires an error of the package with that code, and a next step.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e *usererr.Error
	if !errors.As(err, &e) || e.Code != code || e.Next == "" || e.Message == "" {
		t.Errorf("error %v, want %s with a next step", err, code)
	}
}

func leftovers(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".pdpp-backup-") || strings.HasPrefix(e.Name(), ".backup-") ||
			strings.Contains(e.Name(), stagingSuffix) {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestPassphraseIsSlowToTry checks that testing one passphrase takes about a second by default.
//
//pdpp:tier unraced
func TestPassphraseIsSlowToTry(t *testing.T) {
	for work, rounds := range map[int]string{0: "18", 10: "10"} {
		c, err := Seal{Passphrase: "pear blossom", Work: work}.prepare()
		if err != nil {
			t.Fatal(err)
		}
		stanzas, err := c.recipients[0].Wrap(make([]byte, 16))
		if err != nil || stanzas[0].Args[1] != rounds {
			t.Errorf("work %d: two to the power of %v rounds, want %s, %v", work, stanzas[0].Args[1:], rounds, err)
		}
	}
}

// TestRoundTrip checks that every way of sealing restores the same home, and that only its own key opens it.
func TestRoundTrip(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(t.TempDir(), "key.txt")
	write(t, keyFile, identity.String()+"\n"+hybrid.String()+"\n", 0o600)
	tests := []struct {
		name string
		seal Seal
		keys Keys
	}{
		{"passphrase", Seal{Passphrase: "pear blossom in march", Work: 10}, words("pear blossom in march")},
		{"recipient", Seal{Recipients: []string{identity.Recipient().String()}}, Keys{Identities: keyFile}},
		{"hybrid recipient", Seal{Recipients: []string{hybrid.Recipient().String()}}, Keys{Identities: keyFile}},
		{"plain", Seal{Plain: true}, Keys{Plain: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := newHome(t, 3)
			serving := openHome(t, home) // a server runs meanwhile
			defer closeStore(t, serving)
			search := store.Search{ID: "sea_1", Name: "Pears", Address: "/records?q=pear", CreatedAt: noon}
			if err := serving.AddSearch(t.Context(), search); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "pdpp.backup")
			done, err := Write(t.Context(), Options{Home: home, File: file, Seal: tt.seal, Program: "1.2.3", Now: noon})
			if err != nil {
				t.Fatal(err)
			}
			if done.Counts.Connections != 3 || done.Bytes == 0 || done.Sealed == tt.seal.Plain {
				t.Errorf("written %+v", done)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the archive: %v, %v", info.Mode(), err)
			}
			if left := append(leftovers(t, home), leftovers(t, filepath.Dir(file))...); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if content, err := os.ReadFile(file); err != nil || !tt.seal.Plain &&
				bytes.Contains(content, []byte("cin_orchard")) {
				t.Errorf("the archive shows its content: %v", err)
			}

			to := filepath.Join(t.TempDir(), "new", "home")
			restored, err := Restore(t.Context(), RestoreOptions{File: file, Home: to, Keys: tt.keys, Now: noon})
			if err != nil {
				t.Fatal(err)
			}
			if restored.Aside != "" || restored.Program != "1.2.3" || connectionsIn(t, to) != 3 {
				t.Errorf("restored %+v", restored)
			}
			again := openHome(t, to)
			if found, err := again.Searches(t.Context()); err != nil || len(found) != 1 || found[0] != search {
				t.Errorf("of the saved search came back: %+v, %v", found, err)
			}
			closeStore(t, again)
			for name, mode := range map[string]os.FileMode{databaseFile: 0o600, credential.KeyFile: 0o600,
				"connectors/orchard/connector": 0o700, "connectors/orchard/manifest.json": 0o600} {
				if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s: %v, %v", name, info, err)
				}
			}
			old, _ := os.ReadFile(filepath.Join(home, credential.KeyFile))
			if key, err := os.ReadFile(filepath.Join(to, credential.KeyFile)); err != nil || !bytes.Equal(key, old) {
				t.Errorf("the key is not the same: %v", err)
			}
		})
	}
}

func TestWrongKeys(t *testing.T) {
	home := newHome(t, 1)
	dir := t.TempDir()
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(dir, "other.txt")
	write(t, keyFile, other.String()+"\n", 0o600)
	file := filepath.Join(dir, "pdpp.backup")
	if _, err := Write(t.Context(), Options{Home: home, File: file, Seal: Seal{Passphrase: "pear blossom", Work: 10},
		Now: noon}); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "to")
	for name, tt := range map[string]struct {
		keys Keys
		code string
	}{
		"another passphrase": {words("plum blossom"), CodeWrongKey},
		"an empty one":       {words(""), CodeWrongKey},
		"nobody to ask":      {Keys{}, CodeKeyNeeded},
		"no such file":       {Keys{Identities: filepath.Join(dir, "nowhere")}, CodeKeyNeeded},
		"not a key file":     {Keys{Identities: file}, CodeKeyNeeded},
	} {
		_, err := Restore(t.Context(), RestoreOptions{File: file, Home: to, Keys: tt.keys, Now: noon})
		t.Log(name)
		wantCode(t, err, tt.code)
	}
	if _, err := os.Stat(to); err == nil || len(leftovers(t, dir)) > 0 {
		t.Errorf("a refused restore left something: %v", leftovers(t, dir))
	}
	_, err = Write(t.Context(),
		Options{Home: home, File: filepath.Join(dir, "x"), Seal: Seal{Recipients: []string{"age1pear"}}, Now: noon})
	wantCode(t, err, CodeInvalid)
	_, err = Write(t.Context(), Options{Home: home, File: filepath.Join(dir, "x"), Now: noon})
	wantCode(t, err, CodeKeyNeeded)
}

// TestRestoreOtherVersions restores databases that this program cannot open, and checks that nothing is left.
func TestRestoreOtherVersions(t *testing.T) {
	for version, code := range map[int]string{28: CodeOlder, 9999: CodeNewer} {
		home, to := newHome(t, 1), filepath.Join(t.TempDir(), "home")
		db, err := sql.Open("sqlite", filepath.Join(home, databaseFile))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(`UPDATE goose_db_version SET version_id = ? WHERE version_id > 0`, version); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "pdpp.backup")
		if _, err := Write(t.Context(), Options{Home: home, File: file, Seal: Seal{Plain: true}, Now: noon}); err != nil {
			t.Fatal(err)
		}
		_, err = Restore(t.Context(), RestoreOptions{File: file, Home: to, Keys: Keys{Plain: true}, Now: noon})
		wantCode(t, err, code)
		if _, err := os.Lstat(to); err == nil || len(leftovers(t, filepath.Dir(to))) > 0 {
			t.Errorf("something of version %d was left", version)
		}
	}
}

// TestHomeWithData checks that a home with data is rejected, with Force moved aside, and always rejected while in
// use.
func TestHomeWithData(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pdpp.backup")
	if _, err := Write(t.Context(), Options{Home: newHome(t, 3), File: file, Seal: Seal{Plain: true},
		Now: noon}); err != nil {
		t.Fatal(err)
	}
	home := newHome(t, 1)
	o := RestoreOptions{File: file, Home: home, Keys: Keys{Plain: true}, Now: noon}
	_, err := Restore(t.Context(), o)
	wantCode(t, err, CodeHomeFull)
	o.Force = true
	serving := openHome(t, home)
	_, err = Restore(t.Context(), o)
	wantCode(t, err, CodeHomeInUse)
	if n := connectionsIn(t, home); n != 1 {
		t.Errorf("%d connections after a refusal", n)
	}
	closeStore(t, serving)
	done, err := Restore(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := home + ".before-restore-20260301-120000"; done.Aside != want || connectionsIn(t, done.Aside) != 1 ||
		connectionsIn(t, home) != 3 {
		t.Errorf("restored %+v", done)
	}
	if _, err := os.Lstat(filepath.Join(home, inProgressFile)); err == nil || len(leftovers(t, filepath.Dir(home))) > 0 {
		t.Error("something was left")
	}
	write(t, filepath.Join(home, databaseFile), "this is no database", 0o600) // the case that backups exist for
	if done, err = Restore(t.Context(), RestoreOptions{File: file, Home: home, Force: true, Keys: Keys{Plain: true},
		Now: noon.Add(time.Hour)}); err != nil || connectionsIn(t, home) != 3 {
		t.Errorf("over a damaged home: %+v, %v", done, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	home, dir := newHome(t, 1), t.TempDir()
	o := Options{Home: home, File: filepath.Join(dir, "pdpp.backup"), Seal: Seal{Plain: true}, Now: noon}
	if _, err := Write(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	_, err := Write(t.Context(), o)
	wantCode(t, err, CodeExists)
	o.Replace = true
	if _, err := Write(t.Context(), o); err != nil {
		t.Error(err)
	}
	o.File = dir
	_, err = Write(t.Context(), o)
	wantCode(t, err, CodeExists)
	o.File = filepath.Join(dir, "nowhere", "x")
	_, err = Write(t.Context(), o)
	wantCode(t, err, CodePlace)
	o.File, o.Home = filepath.Join(dir, "x"), dir
	_, err = Write(t.Context(), o)
	wantCode(t, err, CodeNoData)
	release, err := lockHome(home)
	if err != nil {
		t.Fatal(err)
	}
	o.Home = home
	_, err = Write(t.Context(), o)
	wantCode(t, err, CodeBusy)
	if err := release(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Observe = func(s Step) {
		if s.Name == StepWrite {
			cancel()
		}
	}
	if _, err := Write(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := os.Stat(o.File); err == nil || len(leftovers(t, home))+len(leftovers(t, dir)) > 0 {
		t.Error("a cancelled backup left something")
	}
}

//pdpp:tier programs

package doctor

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/disk"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

var fine = Finding{Status: OK}

func failing(fix string) Finding { return Finding{Status: Fail, Fix: fix} }
func warning(fix string) Finding { return Finding{Status: Warn, Fix: fix} }

func TestSoundInstallation(t *testing.T) {
	p := admit(t)
	var checks []string
	for _, f := range p.examine() {
		checks = append(checks, f.Check)
		if f.Status != OK {
			t.Errorf("%+v", f)
		}
	}
	want := []string{CheckDisk, CheckFolder, CheckDatabase, CheckConnectors, CheckConfinement, CheckUpkeep, CheckKey,
		CheckClock, CheckConnections, CheckBrowser, CheckWorker, CheckLeases}
	if !slices.Equal(checks, want) {
		t.Errorf("checks %v", checks)
	}
	if _, err := os.Stat(filepath.Join(p.Home, credential.KeyFile)); err == nil {
		t.Error("the doctor has made a key")
	}
}

func TestDisk(t *testing.T) {
	p := admit(t)
	for _, c := range []struct {
		free uint64
		err  error
		want Finding
	}{
		{gibibyte, nil, fine},
		{gibibyte - 1, nil, warning(fixSpace)},
		{100 * mebibyte, nil, warning(fixSpace)},
		{100*mebibyte - 1, nil, failing(fixSpace)},
		{0, errors.New("not here"), warning(measureSpace)},
	} {
		p.FreeSpace = func(string) (uint64, error) { return c.free, c.err }
		p.wants(CheckDisk, c.want)
	}
	if free, _, err := disk.Space(nearestFolder(filepath.Join(t.TempDir(), "a", "b"))); err != nil || free == 0 {
		t.Errorf("this disk: %d bytes, %v", free, err)
	}
}

// Where the kernel cannot confine, there is a finding, and collecting continues.
func TestConfinement(t *testing.T) {
	p := admit(t)
	p.Confined = func() (bool, string) { return false, "the kernel is too old" }
	p.wants(CheckConfinement, warning("Run PDPP on Linux 5.13 or newer with Landlock, or as a user of its own that may "+
		"read nothing else."))
}

// What a wrapped program reaches past its proxy is reported as this machine can hold it.
func TestWrappedNetwork(t *testing.T) {
	p := admit(t)
	sound := Finding{Status: OK}
	p.wants(CheckConfinement, sound) // none is installed
	if text := p.of(CheckConfinement)[0].Message; !strings.Contains(text, "every address that this machine reaches") {
		t.Errorf("connectors of PDPP's own protocol are not named: %s", text)
	}
	host, dir := filepath.Join(t.TempDir(), "host"), filepath.Join(p.Home, "connectors", "tap")
	p.install("tap", strings.ReplaceAll(fern, "fern", "tap"))
	p.must(os.WriteFile(filepath.Join(dir, "adapter.json"), []byte(`{"command":["/bin/true"],"hosts":["tides.example"]}`),
		0o600))
	p.Connectors = catalog.Catalog{Host: host, Dir: filepath.Dir(dir)}
	for _, c := range []struct {
		report, words string
		held          bool
	}{
		{`{"by":"namespace"}`, "no way to the network but the proxy", true},
		{`{"by":"port","reason":"this machine makes no network namespace: operation not permitted"}`,
			"other machines at the proxy's port, unseen: this machine makes no", false},
		{`{"by":"nothing","reason":"only Linux has network namespaces"}`,
			"every other address if it passes the proxy by: only Linux", false},
		{`junk`, "is not known", false},
	} {
		p.must(os.RemoveAll(host)) // the answer of another host is not remembered for this one
		p.must(os.WriteFile(host, []byte("#!/bin/sh\ncase $1 in list) echo '[]';; confined) echo '"+c.report+"';; esac\n"),
			0o700))
		got := p.of(CheckConfinement)
		if len(got) != 2 || got[0].Status != OK || (got[1].Status == OK) != c.held ||
			!strings.Contains(got[1].Message, c.words) {
			t.Errorf("%s: %+v", c.report, got)
		}
	}
}

func TestFolder(t *testing.T) {
	p := admit(t)
	p.must(os.Chmod(p.Home, 0o755))
	p.wants(CheckFolder, warning("chmod 700 "+p.Home))
	p.Home = filepath.Join(p.Home, "no such")
	p.wants(CheckFolder, warning("Collect something (pdpp run CONNECTOR), or name another folder with PDPP_HOME."))
	p.Home = filepath.Join(filepath.Dir(p.Home), "pdpp.db")
	p.wants(CheckFolder, failing("Point PDPP_HOME at a folder."))
	if got := quoteArgument("/home/ada's data"); got != `'/home/ada'\''s data'` {
		t.Errorf("quoted as %s", got)
	}
}

// A database file that others may read is reported, although the folder is closed to them.
func TestDatabaseModes(t *testing.T) {
	p := admit(t)
	path := filepath.Join(p.Home, "pdpp.db")
	p.must(os.Chmod(path, 0o644))
	p.wants(CheckFolder, warning("chmod 600 "+path))
	p.must(os.Chmod(path, 0o600))
	p.wants(CheckFolder, fine)
}

// Damage is found where no statement of the doctor's own meets it.
func TestDamagedDatabase(t *testing.T) {
	p := admit(t)
	p.must(p.st.PutComponent(t.Context(), evidence.Component{Name: store.ComponentDatabase, Status: evidence.ProbeOK,
		At: noon}))
	p.wants(CheckDatabase, Finding{Status: OK}, Finding{Status: OK}) // the server's last check is reported too
	for i := range 2000 {
		p.must(p.st.PutSetting(t.Context(), fmt.Sprintf("setting_%d", i), []byte(strings.Repeat("text", 50)), noon))
	}
	_, err := p.st.(interface{ Writer() *sql.DB }).Writer().ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`)
	p.must(err)
	p.must(p.st.Close())
	f, err := os.OpenFile(filepath.Join(p.Home, "pdpp.db"), os.O_RDWR, 0)
	p.must(err)
	info, err := f.Stat()
	p.must(err)
	for at := info.Size() / 4096 * 9 / 10 * 4096; at < info.Size(); at += 4096 {
		_, err := f.WriteAt(bytes.Repeat([]byte{0x7f}, 64), at)
		p.must(err)
	}
	p.must(f.Close())
	p.wants(CheckDatabase, failing(fixDamage))
}

func TestDatabase(t *testing.T) {
	p := admit(t)
	fault := &store.FaultError{Fault: store.FaultTooNew, Where: "pdpp.db", Err: errors.New("version 99")}
	p.Open = func(context.Context) (store.Store, error) { return nil, fault }
	p.wants(CheckDatabase, failing(fault.NextStep()))
	for _, f := range p.examine() {
		if f.Status != OK && f.Check != CheckDatabase {
			t.Errorf("one fault shows twice: %+v", f)
		}
	}
	p = admit(t)
	open := p.Open
	p.Open = func(ctx context.Context) (store.Store, error) {
		st, err := open(ctx)
		if err == nil {
			st.Close() // and no statement works any more
		}
		return st, err
	}
	if got := p.examine(); got[2].Check != CheckDatabase || got[2].Status != Fail {
		t.Errorf("%+v", got)
	}
}

func TestKey(t *testing.T) {
	p := admit(t)
	key, err := credential.LoadKey(p.Home)
	p.must(err)
	path := filepath.Join(p.Home, credential.KeyFile)
	p.keep(key, store.CredentialActive)
	p.wants(CheckKey, fine)
	p.wants(CheckConnections, fine)

	p.must(os.Chmod(path, 0o644))
	p.wants(CheckKey, failing("Run: chmod 600 "+path))
	p.must(os.Remove(path))
	p.wants(CheckKey, failing("Restore the file from a backup, or enter the credentials again."))
	p.Key = key
	p.wants(CheckKey, fine)
}

func TestClock(t *testing.T) {
	ran, p := admit(t), admit(t)
	ran.run(noon)
	for ahead, want := range map[time.Duration]Finding{
		-time.Hour: fine, 2 * time.Second: fine, 3 * time.Second: warning(fixClock), 30 * time.Second: warning(fixClock),
		time.Minute: failing(fixClock),
	} {
		ran.Now = func() time.Time { return noon.Add(-ahead) }
		ran.wants(CheckClock, want)
		for _, sign := range []time.Duration{1, -1} {
			p.DatabaseNow = func(context.Context) (time.Time, error) { return noon.Add(max(ahead, 0) * sign), nil }
			p.wants(CheckClock, want)
		}
	}
	// A slow answer is no skew.
	now := noon
	p.Now = func() time.Time { now = now.Add(time.Minute); return now }
	p.DatabaseNow = func(context.Context) (time.Time, error) { return now.Add(time.Second), nil }
	p.wants(CheckClock, fine)
	p.DatabaseNow = func(context.Context) (time.Time, error) { return now, errors.New("away") }
	p.wants(CheckClock, failing(fixOf(errors.New("away"))))
}

func TestConnectors(t *testing.T) {
	p := admit(t)
	p.install("broken", `{"connector_id":"broken"}`)
	p.wants(CheckConnectors, failing("Correct or remove the connector broken."))
	p.must(os.RemoveAll(filepath.Join(p.Home, "connectors")))
	p.wants(CheckConnectors, failing("Install pdpp-connectors beside pdpp, or name it with PDPP_CONNECTORS_BIN."))
}

func TestConnections(t *testing.T) {
	setPassword := "Store it: pdpp credential set fern-1. Or set FERN_PASSWORD, or FERN_PASSWORD_FILE to a file that " +
		"holds it, for the program that collects."
	setServer := "Set FERN_SERVER, or FERN_SERVER_FILE to a file that holds it, for the program that collects."
	nothing := func(string) (string, bool) { return "", false }
	t.Run("variables", func(t *testing.T) {
		p := admit(t)
		p.Lookup = nothing
		p.wants(CheckConnections, failing(setServer), failing(setPassword))
	})
	t.Run("stored credential", func(t *testing.T) {
		p := admit(t)
		p.Lookup = nothing
		p.Key = credential.NewKey()
		p.keep(p.Key, store.CredentialActive)
		p.wants(CheckConnections, failing(setServer))
	})
	t.Run("another key", func(t *testing.T) {
		p := admit(t)
		p.Key = credential.NewKey()
		p.keep(credential.NewKey(), store.CredentialActive)
		if got := p.of(CheckConnections); len(got) != 1 || got[0].Status != Fail {
			t.Errorf("%+v", got)
		}
	})
	t.Run("refused credential", func(t *testing.T) {
		p := admit(t)
		p.Key = credential.NewKey()
		p.keep(p.Key, store.CredentialActive)
		p.must(p.st.RejectCredential(t.Context(), "fern-1", "wrong", noon, noon))
		p.wants(CheckConnections, failing("Store a new one: pdpp credential set fern-1"))
	})
	t.Run("no connector", func(t *testing.T) {
		p := admit(t)
		p.connect("moss-1", "moss")
		p.wants(CheckConnections, failing("Install the connector moss on this machine."))
	})
}

func TestBrowser(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		p := admit(t)
		p.connect("fern-2", "fern")
		p.LookPath = func(string) (string, error) { return "", errors.New("not found") }
		p.wants(CheckBrowser, failing("sudo apt install chromium"))
		if f := p.of(CheckBrowser); !strings.Contains(f[0].Message, "2 connections need a browser (fern-1, fern-2)") {
			t.Errorf("it says %q", f[0].Message)
		}
	})
	t.Run("is tried", func(t *testing.T) {
		p := admit(t)
		tried := 0
		p.Browsers = &browser.Profiles{Memory: []string{"/dev/shm"}}
		p.TryBrowser = func(context.Context) error { tried++; return nil }
		p.FirstProcess = func() string { return "tini" }
		p.wants(CheckBrowser, fine)
		if tried != 1 {
			t.Errorf("tried %d times", tried)
		}
	})
	t.Run("nobody needs it", func(t *testing.T) {
		p := admit(t)
		c, err := p.st.Connection(t.Context(), "fern-1")
		p.must(err)
		c.Status = store.ConnectionPaused
		p.must(p.st.UpdateConnection(t.Context(), c))
		p.Browsers, p.TryBrowser = &browser.Profiles{}, func(context.Context) error { t.Error("it is tried"); return nil }
		if f := p.of(CheckBrowser); len(f) != 0 {
			t.Errorf("found %+v", f)
		}
	})
	t.Run("does not start", func(t *testing.T) {
		p := admit(t)
		p.Browsers, p.FirstProcess = &browser.Profiles{Memory: []string{"/dev/shm"}}, func() string { return "systemd" }
		p.TryBrowser = func(context.Context) error { return errors.New("exit code 1: FATAL: No usable sandbox!") }
		p.wants(CheckBrowser, failing("Let the browser make user namespaces: sysctl kernel.unprivileged_userns_clone=1, or "+
			"in a container a seccomp profile that allows them."))
		p.TryBrowser = func(context.Context) error { return errors.New("exit code 127") }
		p.wants(CheckBrowser, failing("Install it again (sudo apt install chromium), and see what it says: pdpp-connectors "+
			"selftest chromium"))
	})
	t.Run("is less safe than it could be", func(t *testing.T) {
		p := admit(t)
		p.Browsers, p.FirstProcess = &browser.Profiles{NoSandbox: true, Memory: []string{"/proc"}},
			func() string { return "pdpp" }
		p.TryBrowser = func(context.Context) error { return nil }
		var fixes []string
		for _, f := range p.of(CheckBrowser) {
			if f.Status == Warn {
				fixes = append(fixes, f.Fix)
			}
		}
		want := []string{"Unset PDPP_BROWSER_NO_SANDBOX.",
			"Give /dev/shm at least 256 MiB (in a container: --shm-size=512m).",
			"Start the container with an init (docker run --init)."}
		if !slices.Equal(fixes, want) {
			t.Errorf("fixes = %q", fixes)
		}
	})
}

func TestWork(t *testing.T) {
	p := admit(t)
	p.run(noon.Add(-2 * time.Minute)) // its lease has run out a minute and a half ago
	p.wants(CheckLeases, warning(startWorker))
	p.wants(CheckWorker, fine)
	p.must(p.st.DropWorker(t.Context(), "w1"))
	p.wants(CheckWorker, warning(startWorker))
	p.must(p.st.DeleteSchedule(t.Context(), "fern-1"))
	p.wants(CheckWorker, fine)

	p = admit(t)
	p.run(noon.Add(-80 * time.Second)) // just expired: the scheduler has its time
	p.wants(CheckLeases, fine)
}

func TestPush(t *testing.T) {
	p := admit(t)
	p.must(p.st.PutTarget(t.Context(),
		store.PushTarget{ID: "t1", Kind: store.TargetNtfy, Endpoint: "https://push.example/a", CreatedAt: noon}))
	p.wants(CheckPush, fine)
	p.must(p.st.PutTarget(t.Context(),
		store.PushTarget{ID: "t2", Kind: store.TargetNtfy, Endpoint: "https://push.example/b", CreatedAt: noon,
			RetiredAt: &noon}))
	p.wants(CheckPush, warning("Subscribe again on the device that you want to be told on, or remove the target."))
}

// behindhand is a store that has not caught up.
type behindhand struct {
	store.Store
	upkeep store.Upkeep
	err    error
}

func (b behindhand) Upkeep(_ context.Context, above int64) (store.Upkeep, error) {
	if above != store.IndexAbove {
		return store.Upkeep{}, errors.New("of other streams than those that are indexed")
	}
	return b.upkeep, b.err
}

// Unfinished counting or indexing is reported with its progress, and abandoned work with the command that retries it.
func TestUpkeep(t *testing.T) {
	p := admit(t)
	open := p.Open
	u := store.Upkeep{Streams: []store.StreamUpkeep{{Connection: "Garden", Stream: "trees", Changes: 200, Counted: 50,
		Searchable: 200}},
		Indexes: []store.FieldIndex{{Connection: "Garden", Stream: "trees", Field: "size", State: store.IndexAbandoned}}}
	var failed error
	p.Open = func(ctx context.Context) (store.Store, error) {
		st, err := open(ctx)
		return behindhand{st, u, failed}, err
	}
	notes := u.Notes()
	if len(notes) != 2 || !strings.Contains(notes[0].Text, "25 %") ||
		!strings.Contains(notes[1].Text, "size in trees of Garden") {
		t.Fatalf("notes %+v", notes)
	}
	p.wants(CheckUpkeep, warning(notes[0].Next), warning(notes[1].Next))
	if got := p.of(CheckUpkeep); len(got) == 2 && (got[0].Message != notes[0].Text || got[1].Message != notes[1].Text) {
		t.Errorf("told %+v", got)
	}
	failed = errors.New("not now")
	p.wants(CheckUpkeep, failing(fixOf(failed)))
}

// TestBackup reports whether a backup was restored and compared lately. Without a schedule it reports nothing.
func TestBackup(t *testing.T) {
	p := admit(t)
	p.wants(CheckBackup)
	const fix = "Read the log of pdpp serve, then look at the variables PDPP_BACKUP_FOLDER and PDPP_BACKUP_PASSPHRASE."
	for _, state := range []struct {
		proof store.BackupProof
		want  Finding
	}{
		{store.BackupProof{ProvenAt: noon.AddDate(0, 0, -2), TriedAt: noon.AddDate(0, 0, -2)}, fine},
		{store.BackupProof{ProvenAt: noon.AddDate(0, 0, -31), TriedAt: noon.AddDate(0, 0, -31)}, warning(fix)},
		{store.BackupProof{ProvenAt: noon.AddDate(0, 0, -2), TriedAt: noon, Failure: "the disk is full"}, failing(fix)},
	} {
		p.must(state.proof.SaveIn(t.Context(), p.st))
		p.wants(CheckBackup, state.want)
	}
}

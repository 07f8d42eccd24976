//pdpp:tier programs

package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	shelf     = "shelf"
	fileSlice = 4 // records with one STATE
	fileKills = 5 // of each database; make chaos asks for 50
)

const shelfManifest = `{"protocol_version":"0.1.0","connector_id":"shelf","version":"1","display_name":"Shelf",
 "streams":[{"name":"scans","semantics":"mutable_state","checkpoint":"slice","primary_key":"id",
  "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"scan":{"type":"integer"}}}}]}`

// scanned is the content of a scan. Some scans are of the same page.
func scanned(n int) []byte {
	page := uint64(n)
	if n%7 == 3 {
		page = 3
	}
	random := rand.New(rand.NewPCG(page, 0x5ca7))
	b := make([]byte, random.IntN(60_000))
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// playShelf is a connector with a file for every record. It goes on where it was, up to the scan that
// its argument names, and takes away what lies ten scans back, for one scan in five.
func playShelf(upTo string) int {
	most, err := strconv.Atoi(upTo)
	if err != nil {
		return 30
	}
	lines, dec := protocol.NewLineReader(os.Stdin, 0), protocol.NewDecoder(protocol.ToConnector)
	line, err := lines.Next()
	if err != nil {
		return 31
	}
	message, err := dec.Decode(line)
	start, ok := message.(*protocol.Start)
	if err != nil || !ok {
		return 32
	}
	var at struct{ N int }
	if raw := start.State["scans"]; len(raw) > 0 && json.Unmarshal(raw, &at) != nil {
		return 33
	}
	sent := 0
	for n := at.N; n < most; n++ {
		path := fmt.Sprintf("scan-%d", n)
		if err := os.WriteFile(path, scanned(n), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 34
		}
		fmt.Printf(`{"type":"RECORD","stream":"scans","key":"%d","data":{"id":"%d","scan":%d},"emitted_at":"2026-01-02",`+
			`"blobs":[{"field":"scan","path":%q,"mime":"image/png"}]}`+"\n", n, n, n, path)
		sent++
		if taken(n) {
			fmt.Printf(`{"type":"RECORD","stream":"scans","key":"%d","op":"delete"}`+"\n", n-10)
			sent++
		}
		if (n+1)%fileSlice == 0 || n+1 == most {
			fmt.Printf(`{"type":"STATE","stream":"scans","cursor":{"N":%d}}`+"\n", n+1)
		}
	}
	fmt.Printf(`{"type":"DONE","status":"succeeded","records_emitted":%d}`+"\n", sent)
	_, _ = lines.Next()
	return 0
}

// taken reports whether scan n takes the one ten before it away.
func taken(n int) bool { return n%5 == 0 && n >= 10 }

// shelfRole is the configuration of a worker process.
type shelfRole struct {
	Database, Files, RunID string
	Scans                  int
	Clock                  time.Duration
}

// playShelfWorker is the worker that is killed: it makes one run.
func playShelfWorker() int {
	var r shelfRole
	err := json.Unmarshal([]byte(os.Getenv(specVariable)), &r)
	if err == nil {
		err = r.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailedRun
	}
	return 0
}

func (r shelfRole) run(ctx context.Context) error {
	st, err := openDatabase(ctx, r.Database)
	if err != nil {
		return err
	}
	defer st.Close()
	m, err := manifest.Parse([]byte(shelfManifest))
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	l := &launch.Launcher{
		Store: st, Holder: "crashtest", Now: func() time.Time { return time.Now().Add(r.Clock) },
		NewRunID: func() string { return r.RunID },
		Connectors: catalog.Fixed(catalog.Connector{Name: shelf, Builtin: true, Manifest: m, Path: self,
			Args: []string{shelf, strconv.Itoa(r.Scans)}}),
		Blobs: launch.Blobs{Place: blob.FolderStorage{Dir: r.Files}},
	}
	result, err := l.Run(ctx, launch.RunRequest{ConnectionID: shelf, Trigger: store.TriggerManual})
	if err == nil && result.Status != runner.Succeeded {
		err = fmt.Errorf("%v\n%s", result.Failure, result.StderrTail)
	}
	return err
}

// shelves is one database and one folder of files that live through the kills.
type shelves struct {
	shelfRole
	st   store.Store
	runs int
}

// round makes one run and ends its victim after a while. It reports whether the victim was met before
// the run was over.
func (s *shelves) round(t *testing.T, victim string, after time.Duration) (met bool, took time.Duration) {
	t.Helper()
	s.runs++
	s.Clock += time.Hour // whatever lease the last victim left has run out
	s.RunID = fmt.Sprintf("run_shelf_%d_%d", os.Getpid(), runNumber.Add(1))
	spec, err := json.Marshal(s.shelfRole)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"=shelf worker", specVariable+"="+string(spec))
	var output tail
	cmd.Stdout, cmd.Stderr = &output, &output
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	if victim != "" {
		select {
		case err = <-over:
			over <- err
		case <-time.After(after):
			if victim != "worker" {
				met = connectortest.KillConnector(s.RunID) > 0
			}
			if victim != "connector" {
				met = cmd.Process.Kill() == nil || met
			}
		}
	}
	if err = <-over; err != nil && !met {
		t.Fatalf("the worker ended by itself: %v\n%s", err, output.String())
	}
	connectortest.KillConnector(s.RunID) // the child of a killed worker
	return met, time.Since(began)
}

// rowsHaveFiles demands that every file that a row names is there, whole.
func (s *shelves) rowsHaveFiles(t *testing.T, place blob.FolderStorage) (rows int) {
	t.Helper()
	all, err := s.st.ListBlobs(t.Context(), "", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all {
		e, err := place.Stat(t.Context(), row.SHA256)
		if err != nil || e.Bytes != row.Bytes {
			t.Fatalf("a row has %d bytes, and its file is %+v, %v", row.Bytes, e, err)
		}
	}
	return len(all)
}

// complete demands that every scan has its record with its file, byte by byte, and that what was taken
// away has none.
func (s *shelves) complete(t *testing.T, place blob.FolderStorage) {
	t.Helper()
	for n := range s.Scans {
		r, err := s.st.Record(t.Context(), shelf, "scans", strconv.Itoa(n))
		if err != nil {
			t.Fatalf("scan %d: %v", n, err)
		}
		files, err := s.st.RecordBlobs(t.Context(), []int64{r.ID})
		if err != nil {
			t.Fatal(err)
		}
		if gone := n+10 < s.Scans && taken(n+10); gone != r.Deleted || gone && len(files[r.ID]) > 0 || !gone &&
			len(files[r.ID]) != 1 {
			t.Fatalf("scan %d: deleted %t, want %t, with %d files", n, r.Deleted, gone, len(files[r.ID]))
		} else if gone {
			continue
		}
		f, err := place.Open(t.Context(), files[r.ID][0].SHA256)
		if err != nil {
			t.Fatalf("scan %d: %v", n, err)
		}
		content, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil || !bytes.Equal(content, scanned(n)) {
			t.Fatalf("scan %d has %d bytes, want %d: %v", n, len(content), len(scanned(n)), err)
		}
	}
}

// swept demands that a sweep leaves the files that rows name, and none else.
func (s *shelves) swept(t *testing.T, place blob.FolderStorage, later time.Duration, want int) {
	t.Helper()
	if _, err := blob.Sweep(t.Context(), place, s.st, time.Now().Add(later)); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(place.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
		}
		return err
	})
	if rows := s.rowsHaveFiles(t, place); err != nil || files != rows || rows != want {
		t.Errorf("%d rows and %d files are left, want %d: %v", rows, files, want, err)
	}
}

// TestBlobKill kills workers and connectors at random moments while files are kept and committed. At no
// moment is there a row without its file; what a kill leaves without a row goes by its age; and in the end
// every record has its file.
func TestBlobKill(t *testing.T) {
	t.Parallel()
	kills := fileKills
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		kills = 50
	}
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			place := blob.FolderStorage{Dir: filepath.Join(t.TempDir(), "blobs")}
			s := &shelves{shelfRole: shelfRole{Files: place.Dir}}
			if s.Database = filepath.Join(t.TempDir(), "pdpp.db"); database == "sqlite" {
				sqlitetest.NewDatabase(t, s.Database)
			} else {
				s.Database = postgrestest.NewDatabase(t)
			}
			var err error
			if s.st, err = openDatabase(t.Context(), s.Database); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.st.Close() })
			now := time.Now()
			err = s.st.CreateConnection(t.Context(),
				store.Connection{ID: shelf, ConnectorID: shelf, Status: store.ConnectionActive, SourceKind: store.SourceAccount,
					CreatedAt: now, UpdatedAt: now})
			if err != nil {
				t.Fatal(err)
			}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random, met := newRand(seed), map[string]int{}
			s.Scans = 20
			_, usual := s.round(t, "", 0)
			for n := 0; sum(met) < kills; n++ {
				s.Scans += 20
				victim := []string{"worker", "connector", "both"}[n%3]
				if hit, took := s.round(t, victim, time.Duration(random.Int64N(int64(usual)))); hit {
					met[victim]++
				} else {
					usual = took
				}
				s.rowsHaveFiles(t, place)
			}
			s.round(t, "", 0)
			s.complete(t, place)
			s.swept(t, place, blob.OrphanAge+time.Hour, s.rowsHaveFiles(t, place))
			s.complete(t, place)
			live := map[string]bool{}
			for n := range s.Scans {
				if n+10 >= s.Scans || !taken(n+10) {
					live[string(scanned(n))] = true
				}
			}
			s.swept(t, place, blob.UnreferencedAge+2*time.Hour*time.Duration(s.runs+1), len(live))
			t.Attr("result", fmt.Sprintf("%d SIGKILLs (worker %d, connector %d, both %d) while files were committed: no row "+
				"without its file, %d records with theirs, none left over", sum(met), met["worker"], met["connector"], met["both"],
				s.Scans))
		})
	}
}

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
)

// killing passes requests to a server, and kills a program within one answer to it.
type killing struct {
	to     http.Handler
	victim chan *os.Process
	folder atomic.Value // that the program fills
	begins bool         // it has to begin a file before
	left   atomic.Int64 // requests until then; negative means never
}

// begun reports whether the program has written a part of a file.
func (k *killing) begun() (yes bool) {
	_ = filepath.WalkDir(k.folder.Load().(string), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".part") && entry.Type().IsRegular() {
			info, err := entry.Info()
			yes = yes || err == nil && info.Size() > 0
		}
		return nil
	})
	return yes
}

func (k *killing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if k.left.Add(-1) != 0 {
		k.to.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	k.to.ServeHTTP(answer, r)
	body := answer.Body.Bytes()
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	for k.begins && !k.begun() {
		runtime.Gosched()
	}
	_ = (<-k.victim).Kill()
	<-r.Context().Done()
}

// An archive of a server that is killed within each of its answers continues, and has the bytes of one that was not
// interrupted and of one that is made beside the database.
func TestKilledArchiveContinues(t *testing.T) {
	for name, database := range map[string]string{"sqlite": "", "postgres": postgrestest.NewDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			dir := filepath.Join(home, "connectors", "orchard")
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			manifest, err := os.ReadFile("testdata/orchard.json")
			must(err)
			manifest = bytes.Replace(manifest, []byte(`"primary_key": "id",`), []byte(
				`"primary_key": "id", "display": {"kind": "document", "text": "text"},`), 1)
			var script strings.Builder
			for i := range 300 {
				fmt.Fprintf(&script, "record entries e%d {\"id\":\"e%d\",\"text\":%q}\n", i, i, strings.Repeat("quince ", 200))
				fmt.Fprintf(&script, "record photos p%d {\"id\":\"p%d\",\"width\":%d}\n", i, i, i)
			}
			must(os.MkdirAll(dir, 0o755))
			must(os.WriteFile(filepath.Join(dir, "manifest.json"), manifest, 0o600))
			must(os.WriteFile(filepath.Join(dir, "script"), []byte(script.String()+"done\n"), 0o600))
			must(os.Symlink(filepath.Join(ownPrograms(os.Getenv("PATH")), "fakeconnector"), filepath.Join(dir, "connector")))
			pdpp := func(args ...string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), "pdpp", args...)
				cmd.Env = append(os.Environ(), "PDPP_HOME="+home, "PDPP_DATABASE_URL="+database,
					"PDPP_OWNER_PASSWORD=a long password")
				return cmd
			}
			run := func(cmd *exec.Cmd) string {
				t.Helper()
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %v\n%s", cmd.Args[1:], err, out)
				}
				return string(out)
			}
			run(pdpp("connections", "add", "orchard"))
			run(pdpp("run", "orchard"))
			token := regexp.MustCompile(`pdpp_ot_\w+`).FindString(run(pdpp("tokens", "create", "archive")))
			server := pdpp("serve", "--role", "web", "--listen", "127.0.0.1:0")
			out, err := server.StdoutPipe()
			must(err)
			must(server.Start())
			defer func() {
				_ = server.Process.Signal(syscall.SIGTERM)
				_ = server.Wait()
			}()
			line, err := bufio.NewReader(out).ReadString('\n')
			must(err)
			go io.Copy(io.Discard, out)
			address, err := url.Parse(regexp.MustCompile(`http://[^ "]*:\d+`).FindString(line))
			must(err)
			between := &killing{to: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(address) }}}
			proxy := httptest.NewServer(between)
			defer proxy.Close()
			archive := func(place string, remote bool) *exec.Cmd {
				cmd := pdpp("archive", place)
				if remote {
					cmd.Env = append(cmd.Env, "PDPP_SERVER="+proxy.URL, "PDPP_TOKEN="+token)
				}
				return cmd
			}
			places := t.TempDir()
			here := filepath.Join(places, "here.zip")
			run(archive(here, false))
			whole, err := os.ReadFile(here)
			must(err)
			if out := run(pdpp("verify", here)); !strings.Contains(out, "600 records") {
				t.Errorf("verified: %s", out)
			}
			killed := 0
			for at := int64(1); ; at++ {
				place := filepath.Join(places, fmt.Sprint(at, ".zip"))
				first := archive(place, true)
				between.left.Store(at)
				between.folder.Store(place + ".part")
				between.begins = at == 2 // the request after that of the streams: it is for more records than a buffer holds
				between.victim = make(chan *os.Process, 1)
				must(first.Start())
				between.victim <- first.Process
				if err := first.Wait(); err == nil {
					break // it ended before the request
				}
				if _, err := os.Stat(place); err == nil {
					t.Fatalf("killed in request %d, the archive is there", at)
				}
				killed++
				between.left.Store(-1)
				run(archive(place, true))
				if got, err := os.ReadFile(place); err != nil || !bytes.Equal(got, whole) {
					t.Errorf("killed in request %d: %d bytes instead of %d, %v", at, len(got), len(whole), err)
				}
			}
			if killed < 6 { // streams, two exports of records, one of texts, two of completeness
				t.Errorf("it was killed in %d requests", killed)
			}
			if left, err := filepath.Glob(filepath.Join(places, "*.part")); err != nil || len(left) > 0 {
				t.Errorf("%v are left, %v", left, err)
			}
		})
	}
}

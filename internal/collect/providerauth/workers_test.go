package providerauth_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/quality/oidctest"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest/scratch"
)

// A worker is this test's own program, with these variables.
const (
	workerStore    = "PDPP_TEST_WORKER_STORE"
	workerProvider = "PDPP_TEST_WORKER_PROVIDER"
	workerKey      = "PDPP_TEST_WORKER_KEY"
	workerDies     = "PDPP_TEST_WORKER_DIES" // at its first refresh: "before" it asks, or "after" the answer
	workerAlone    = 10 * time.Second
)

func TestMain(m *testing.M) {
	if os.Getenv(workerStore) != "" {
		work()
	}
	os.Exit(m.Run())
}

// dying kills its process in one instant of a refresh.
type dying string

func (d dying) RoundTrip(r *http.Request) (*http.Response, error) {
	if d == "before" {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && d == "after" {
		_, _ = io.ReadAll(resp.Body)
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	}
	return resp, err
}

// work uses the connection's token until its input ends, as runs do: before each use it asks for the
// token, and once more when the provider refuses it.
func work() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel() }()
	st, err := postgres.Open(ctx, os.Getenv(workerStore), postgres.Options{})
	if err != nil {
		fmt.Println("failed", err)
		syscall.Exit(1)
	}
	key, err := credential.ParseKey(os.Getenv(workerKey))
	if err != nil {
		syscall.Exit(1)
	}
	k := keeper(st)
	k.Key = func() (credential.Key, error) { return key, nil }
	k.Alone, k.Transport = workerAlone, dying(os.Getenv(workerDies))
	url := os.Getenv(workerProvider)
	source := providerauth.SignInSource{ConnectionID: connection, ConnectorID: "tunes", Manifest: tunes(url)}
	for ctx.Err() == nil {
		a, err := k.Access(ctx, source, 0)
		if err == nil && os.Getenv(workerDies) != "" {
			a, err = k.Access(ctx, source, a.Generation) // as if it had been refused
		}
		for try := 0; err == nil && try < 3; try++ {
			req, _ := http.NewRequest(http.MethodGet, url+"/me", nil) // the address is good
			req.Header.Set("Authorization", "Bearer "+a.Token.Reveal())
			resp, asked := http.DefaultClient.Do(req)
			if asked != nil {
				break
			}
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				fmt.Println("used", a.Generation)
				break
			}
			a, err = k.Access(ctx, source, a.Generation)
		}
		var rejected *providerauth.Rejected
		switch {
		case errors.As(err, &rejected):
			fmt.Println("rejected", rejected.Reason)
			syscall.Exit(0)
		case err != nil && ctx.Err() == nil:
			fmt.Println("failed", err)
		}
		time.Sleep(time.Duration(50+rand.IntN(100)) * time.Millisecond)
	}
	syscall.Exit(0)
}

type worker struct {
	*exec.Cmd
	stdin    io.Closer
	messages chan string
}

func startWorker(t *testing.T, database, provider, key, dies string) *worker {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerStore+"="+database, workerProvider+"="+provider, workerKey+"="+key,
		workerDies+"="+dies)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &worker{cmd, stdin, make(chan string, 10000)}
	go func() {
		defer close(w.messages)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			w.messages <- lines.Text()
		}
	}()
	t.Cleanup(func() { _ = w.Process.Kill(); _ = w.Wait() })
	return w
}

// Eight workers over one PostgreSQL use one sign-in with tokens that expire every few seconds. Each expiry costs one
// refresh. A worker killed before its request costs nothing. A worker killed with the answer costs the sign-in, and
// the owner sees that.
func TestWorkers(t *testing.T) {
	t.Parallel()
	const seconds = 2
	provider := oidctest.Start(t, oidctest.Options{TokenSeconds: seconds})
	database := scratch.CreateSchema(t)
	st, err := postgres.Open(t.Context(), database, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	connect(t, st)
	text := strings.Repeat("5c", 32)
	key, err := credential.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{Keeper: keeper(st), store: st, provider: provider}
	b.Key = func() (credential.Key, error) { return key, nil }
	b.source = providerauth.SignInSource{ConnectionID: connection, ConnectorID: "tunes", Manifest: tunes(provider.URL)}
	b.signIn(t)
	generation := func() int64 {
		c, err := st.Credential(t.Context(), connection)
		if err != nil {
			t.Fatal(err)
		}
		return c.Generation
	}
	reach := func(want int64) {
		t.Helper()
		for generation() < want {
			time.Sleep(50 * time.Millisecond)
		}
	}
	var workers []*worker
	for range 8 {
		workers = append(workers, startWorker(t, database, provider.URL, text, ""))
	}
	reach(4)
	before := startWorker(t, database, provider.URL, text, "before")
	if err := before.Wait(); err == nil {
		t.Error("the worker that was to die before it asked did not")
	}
	at := generation()
	reach(at + 2) // the others take over when the mark is over
	if log := provider.Log(t); log.Refreshed != int(generation()-1) || log.FamiliesEnded != 0 || len(log.Refused) != 0 {
		t.Errorf("generation %d, and the provider saw %+v", generation(), log)
	}

	after := startWorker(t, database, provider.URL, text, "after")
	if err := after.Wait(); err == nil {
		t.Error("the worker that was to die with the answer did not")
	}
	kept := generation()
	used := map[string]bool{}
	for i, w := range workers {
		last := ""
		for line := range w.messages { // each exits when there is nothing left to do
			if used[line] = true; strings.HasPrefix(line, "failed") {
				t.Errorf("worker %d: %s", i, line)
			}
			last = line
		}
		if last != "rejected "+providerauth.ReasonInterrupted {
			t.Errorf("worker %d ended with %q", i, last)
		}
	}
	c, err := st.Credential(t.Context(), connection)
	if err != nil || c.Status != store.CredentialRejected || c.RejectionReason != providerauth.ReasonInterrupted ||
		c.Generation != kept {
		t.Errorf("recorded as %s %s of generation %d, %v", c.Status, c.RejectionReason, c.Generation, err)
	}
	// The answer of the last refresh was lost; the one rejection revoked its family.
	if log := provider.Log(t); log.Refreshed != int(kept) || log.Refused["invalid_grant"] != 1 || len(log.Refused) != 1 ||
		log.FamiliesEnded != 1 {
		t.Errorf("generation %d, and in the end the provider saw %+v", kept, log)
	}
	for g := int64(1); g <= kept; g++ {
		if !used[fmt.Sprint("used ", g)] {
			t.Errorf("nobody used generation %d", g)
		}
	}
}

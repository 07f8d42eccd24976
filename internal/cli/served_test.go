package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// served is `pdpp serve` at work, with a home of its own.
type served struct {
	*testing.T
	vars map[string]string
	text string // its first line
	url  string // by the loopback address, wherever it listens
	log  *lines
	stop func()
	by   atomic.Int64 // how far its clock is ahead
}

func (s *served) now() time.Time         { return time.Now().Add(time.Duration(s.by.Load())) }
func (s *served) later(by time.Duration) { s.by.Add(int64(by)) }

// holdsNone looks for secrets in every file of the home.
func (s *served) holdsNone(secrets ...string) {
	s.Helper()
	err := filepath.WalkDir(s.vars["PDPP_HOME"], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, secret := range secrets {
			if bytes.Contains(content, []byte(secret)) {
				s.Errorf("%s holds a secret", d.Name())
			}
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
}

// lines is a log that is read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// onBoth runs a test over each database, with a password of the owner's.
func onBoth(t *testing.T, test func(t *testing.T, vars map[string]string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword}) })
	t.Run("postgres", func(t *testing.T) {
		test(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword, "PDPP_DATABASE_URL": postgrestest.NewDatabase(t)})
	})
}

var port = regexp.MustCompile(`http://[^ "]*:(\d+)`)

// serveLocal starts the command and waits for its first line.
func serveLocal(t *testing.T, vars map[string]string, args ...string) *served {
	t.Helper()
	s := &served{T: t, vars: map[string]string{"PDPP_HOME": t.TempDir(), "PDPP_LISTEN": "127.0.0.1:0"}, log: &lines{}}
	for name, value := range vars {
		s.vars[name] = value
	}
	if s.vars["PDPP_DATABASE_URL"] == "" {
		sqlitetest.NewDatabase(t, filepath.Join(s.vars["PDPP_HOME"], "pdpp.db"))
	}
	s.start(args...)
	return s
}

func (s *served) start(args ...string) {
	s.Helper()
	env, _, _ := testEnvironment(s.T, s.vars, append([]string{"serve"}, args...)...)
	out, in := io.Pipe()
	interrupts := make(chan os.Signal, 1)
	env.Stdout, env.Stderr, env.Interrupts, env.Now, env.Holder = in, s.log, interrupts, s.now, "host:1"
	over := make(chan struct{})
	go func() {
		defer close(over)
		Main(env)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.Fatalf("it did not become ready: %v\n%s", err, s.log)
	}
	s.text = line
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		io.Copy(s.log, out)
	}()
	if at := port.FindStringSubmatch(line); at != nil {
		s.url = "http://127.0.0.1:" + at[1]
	}
	s.stop = sync.OnceFunc(func() {
		interrupts <- syscall.SIGTERM
		<-over
		<-copied
	})
	s.Cleanup(s.stop)
}

// pdpp runs another command over the same home.
func (s *served) pdpp(args ...string) (int, string, string) {
	s.Helper()
	env, out, errOut := testEnvironment(s.T, s.vars, args...)
	env.Now = s.now
	code := Main(env)
	return code, out.String(), errOut.String()
}

// token makes an owner token with the command.
func (s *served) token(args ...string) string {
	s.Helper()
	code, out, errOut := s.pdpp(append([]string{"tokens", "create", "A script"}, args...)...)
	if code != failure.ExitOK {
		s.Fatalf("make a token: %d %s", code, errOut)
	}
	return strings.TrimSpace(out)
}

// visitor is a browser or a program.
type visitor struct {
	*served
	http   *http.Client
	header http.Header
}

func (s *served) visitor() *visitor {
	jar, _ := cookiejar.New(nil)
	return &visitor{served: s, header: http.Header{}, http: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true},
	}}
}

// from lets a visitor come from another address of the loopback network.
func (v *visitor) from(address string) *visitor {
	v.http.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network,
		to string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext(ctx, network, to)
	}}
	return v
}

func (v *visitor) with(name, value string) *visitor { v.header.Set(name, value); return v }

type said struct {
	*http.Response
	body string
}

func (v *visitor) send(method, path, kind, body string) said {
	v.Helper()
	req, err := http.NewRequestWithContext(v.Context(), method, v.url+path, strings.NewReader(body))
	if err != nil {
		v.Fatal(err)
	}
	req.Header = v.header.Clone()
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	res, err := v.http.Do(req)
	if err != nil {
		v.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		v.Fatal(err)
	}
	return said{res, string(got)}
}

func (v *visitor) get(path string) said { v.Helper(); return v.send("GET", path, "", "") }

func (v *visitor) post(path string, pairs ...string) said {
	v.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return v.send("POST", path, "application/x-www-form-urlencoded", form.Encode())
}

// tell sends JSON.
func (v *visitor) tell(method, path string, body any) said {
	v.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		v.Fatal(err)
	}
	return v.send(method, path, "application/json", string(text))
}

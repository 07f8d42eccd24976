package chatgpt_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectors/chatgpt"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	sim "github.com/pdpp-go/pdpp/providersim/chatgpt"
)

// player makes the test binary play the connector in a process of its own, with a plain
// HTTP client in the browser's place. The session's cookie is the user of the base address.
const player = "play-the-connector"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == player {
		play()
	}
	os.Exit(m.Run())
}

func play() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	p := connectorkit.Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now, Env: os.Getenv}
	if base, err := url.Parse(os.Getenv("PDPP_CHATGPT_BASE_URL")); err == nil && base.User != nil {
		v := &visitor{cookies: map[string]string{sim.SessionCookie: base.User.Username()}}
		base.User = nil
		p.Transport = v
		p.Env = func(name string) string {
			if name == "PDPP_CHATGPT_BASE_URL" {
				return base.String()
			}
			return os.Getenv(name)
		}
	}
	c := chatgpt.Connector()
	c.Answers = sheet
	code := connectorkit.Run(ctx, c, p)
	stop()
	syscall.Exit(code)
}

// visitor is the page's network without a page: it keeps cookies, those for secure origins
// included, as a browser does on loopback.
type visitor struct {
	mu      sync.Mutex
	cookies map[string]string
}

func (v *visitor) Cookie(name string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.cookies[name]
}

func (v *visitor) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	v.mu.Lock()
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	v.mu.Unlock()
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range resp.Cookies() {
		v.cookies[c.Name] = c.Value
	}
	return resp, nil
}

// played is the connector as this test binary plays it.
func played(t *testing.T) catalog.Connector {
	t.Helper()
	path, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Connector{Name: "chatgpt", Builtin: true, Manifest: chatgpt.Connector().Manifest, Path: path,
		Args: []string{player}}
}

// start serves an account with a signed-in person.
func start(t *testing.T, cfg sim.Config) (*connectortest.Sim, *sim.ChatGPT) {
	t.Helper()
	s, err := sim.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	cookie, err := s.Sim.Site().SignIn(person)
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(s.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	base.User = url.User(cookie.Value)
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"PDPP_CHATGPT_BASE_URL": base.String()}}, s.Sim
}

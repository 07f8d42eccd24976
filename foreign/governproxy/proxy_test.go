package governproxy

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// started is a proxy at work in front of an encrypted provider.
func started(t *testing.T, handler http.HandlerFunc, o Options) (*Proxy, *httptest.Server) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	way := governhttp.NewSender(
		governor.New("ledger", func(c *governor.Config) { c.Discovery, c.Ceiling = 1, 1 }),
		governhttp.SenderOptions{},
	)
	o.Way = func(host string) *governhttp.Sender {
		if host != at.Host {
			return nil
		}
		return way
	}
	o.Transport = server.Client().Transport
	p, err := StartProxy(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, server
}

// client is a program that uses the proxy variables, as most libraries do.
func client(t *testing.T, env []string, roots *x509.CertPool) *http.Client {
	t.Helper()
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	proxy, err := url.Parse(vars["HTTPS_PROXY"])
	if err != nil {
		t.Fatal(err)
	}
	if file := vars["SSL_CERT_FILE"]; file != "" && roots == nil {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		roots = x509.NewCertPool()
		roots.AppendCertsFromPEM(body)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func get(c *http.Client, address string) (int, string, error) {
	resp, err := c.Get(address)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// With the run's certificate from the variables an encrypted request is seen: its status decides,
// and it reaches the provider as it was sent.
func TestInspected(t *testing.T) {
	t.Parallel()
	p, server := started(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
	}, Options{})
	dir := t.TempDir()
	env, err := p.Environment(dir, p.Port())
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, env, nil)
	req, err := http.NewRequest("GET", server.URL+"/pages?after=3", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer tok")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if string(body) != "/pages?after=3 Bearer tok" {
		t.Errorf("the provider got %q", body)
	}
	if status, _, err := get(c, server.URL+"/gone"); status != 404 {
		t.Errorf("status %d, %v", status, err)
	}
	if got := p.Seen(); got.Requests != 2 || got.Refused[404] != 1 || got.Blind {
		t.Errorf("seen: %+v", got)
	}
}

// A program that does not accept the run's certificate gets a tunnel when it tries again, and
// nothing of it is seen.
func TestPinned(t *testing.T) {
	t.Parallel()
	p, server := started(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, Options{})
	env, err := p.Environment(t.TempDir(), p.Port())
	if err != nil {
		t.Fatal(err)
	}
	pinned := x509.NewCertPool()
	pinned.AddCert(server.Certificate())
	c := client(t, env, pinned)
	if _, _, err := get(c, server.URL); err == nil {
		t.Fatal("the run's certificate was accepted")
	}
	status, body, err := get(c, server.URL)
	for try := 1; err != nil && try < 100; try++ { // until the proxy has noticed
		status, body, err = get(c, server.URL)
	}
	if status != 200 || body != "hello" {
		t.Errorf("%d %q %v", status, body, err)
	}
	if !p.Seen().Blind {
		t.Error("nothing says that traffic went unseen")
	}
}

// A blind proxy trusts nothing on behalf of the program and sees nothing.
func TestBlind(t *testing.T) {
	t.Parallel()
	p, server := started(
		t,
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		Options{Blind: true},
	)
	dir := t.TempDir()
	env, err := p.Environment(dir, p.Port())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	if status, body, err := get(client(t, env, roots), server.URL); status != 200 || body != "hello" {
		t.Errorf("%d %q %v", status, body, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("files: %v", left)
	}
	if got := p.Seen(); !got.Blind || got.Requests != 0 {
		t.Errorf("seen: %+v", got)
	}
	if _, _, err := get(client(t, env, roots), "https://telemetry.example/"); err == nil || len(p.Seen().Elsewhere) != 1 {
		t.Errorf("another host: %v, %+v", err, p.Seen())
	}
}

// Every runtime finds the certificate by a variable, and no file holds the key.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	p, _ := started(t, nil, Options{})
	dir := t.TempDir()
	env, err := p.Environment(dir, p.Port())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(env, "\n")
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE",
		"REQUESTS_CA_BUNDLE",
		"CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "AWS_CA_BUNDLE", "JAVA_TOOL_OPTIONS"} {
		if !strings.Contains("\n"+text, "\n"+name+"=") {
			t.Errorf("%s is not set", name)
		}
	}
	if !strings.Contains(text, "HTTPS_PROXY=http://127.0.0.1:"+strconv.Itoa(p.Port())) {
		t.Error(text)
	}
	packed, err := os.ReadFile(filepath.Join(dir, "run-ca.p12"))
	if err != nil {
		t.Fatal(err)
	}
	certs, err := pkcs12.DecodeTrustStore(packed, storePassword)
	if err != nil || len(certs) != 1 || !certs[0].Equal(p.authority.cert) {
		t.Errorf("trust store: %v, %v", certs, err)
	}
	plain, err := os.ReadFile(filepath.Join(dir, "run-ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if block, rest := pem.Decode(plain); block == nil || block.Type != "CERTIFICATE" || len(bytes.TrimSpace(rest)) > 0 {
		t.Errorf("the certificate's file: %v", block)
	}
}

// An answer that breaks off counts as none, and the program notices.
func TestHalfAnAnswer(t *testing.T) {
	t.Parallel()
	p, server := started(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}, Options{})
	server.Config.ErrorLog = nil
	env, err := p.Environment(t.TempDir(), p.Port())
	if err != nil {
		t.Fatal(err)
	}
	if _, body, err := get(client(t, env, nil), server.URL); err == nil {
		t.Errorf("got %q", body)
	}
	if got := p.Seen(); got.Refused[0] != 1 {
		t.Errorf("seen: %+v", got)
	}
}

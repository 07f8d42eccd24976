package daemon

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/command"
)

// TestProbe asks a server that works, one that does not, and one that is gone.
func TestProbe(t *testing.T) {
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(status)
		}
	}))
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	probe := func(listen string) error {
		inv := &command.Invocation{Out: &bytes.Buffer{}, Env: command.Env{Lookup: func(name string) (string, bool) {
			if name != command.EnvListen {
				return "", false
			}
			return listen, true
		}}}
		return probeServer(t.Context(), inv, serveFlags{})
	}
	for _, listen := range []string{"0.0.0.0:" + port, ":" + port, "127.0.0.1:" + port} {
		if err := probe(listen); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
	if probe(port) == nil {
		t.Error("an address without a port is taken")
	}
	status = http.StatusServiceUnavailable
	if probe("127.0.0.1:"+port) == nil {
		t.Error("a server that is not ready is taken for one that works")
	}
	s.Close()
	if probe("127.0.0.1:"+port) == nil {
		t.Error("a server that is gone is taken for one that works")
	}
}

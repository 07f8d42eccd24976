package bluesky_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, 12))
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, target(t, 12), providersim.Drifted{
		Route: "com.atproto.repo.listRecords", Remove: []string{"records/[]/value/createdAt"},
	})
}

// TestDriftNumbers has an index of the network before the server, which counts more than the server lists.
func TestDriftNumbers(t *testing.T) {
	t.Parallel()
	at := target(t, 12)
	at.Start = func(t *testing.T) *connectortest.Sim {
		p, sim := openTestAccount(t, 12)
		sim.Env = p.env(realserver.StartFront(t, sim.Gate, p.indexed(t, theServer(t).URL), "/xrpc/{method}"))
		return sim
	}
	connectortest.DriftNumbers(t, at, "posts", "app.bsky.actor.getProfile", "postsCount")
	connectortest.DriftNumbers(t, at, "follows", "app.bsky.actor.getProfile", "followsCount")
}

// indexed returns the address of the server with an index of the network before it.
func (p *person) indexed(t *testing.T, server string) string {
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	routes := http.NewServeMux()
	routes.Handle("/", httputil.NewSingleHostReverseProxy(to))
	routes.HandleFunc("/xrpc/app.bsky.actor.getProfile", func(w http.ResponseWriter, _ *http.Request) {
		truth := p.Truth()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{ // a connection that is gone needs no answer
			"did": p.DID, "handle": p.Handle, "postsCount": len(truth["posts"]), "followsCount": len(truth["follows"]),
		})
	})
	front := httptest.NewServer(routes)
	t.Cleanup(front.Close)
	return front.URL
}

func TestDriftPages(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftPages(t, target(t, 12), "com.atproto.repo.listRecords", 10)
}

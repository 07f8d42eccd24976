package semantic_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/semantic"
	chooser "github.com/pdpp-go/pdpp/internal/owner/service/semantic"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The choice is kept only if the endpoint answers. Its secret is kept for the same endpoint and model, and never goes
// to another one.
func TestChoice(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")),
			sqlite.Options{})
		check(t, err)
		t.Cleanup(func() { st.Close() })
		testChoice(t, st)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		st, err := postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
		check(t, err)
		t.Cleanup(func() { st.Close() })
		testChoice(t, st)
	})
}

func testChoice(t *testing.T, st store.Store) {
	secrets, fails := []string{}, false
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secrets = append(secrets, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if fails {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": [][]float32{{1, 2}}})
	}))
	t.Cleanup(endpoint.Close)
	key := credential.NewKey()
	keep := func() (credential.Key, error) { return key, nil }
	c := chooser.New(chooser.Config{Store: st, Key: keep, Opening: keep, Now: func() time.Time { return noon }})
	ctx := t.Context()
	set := func(model, secret string) error {
		_, err := c.SetSemanticSearch(ctx, semantic.Endpoint{Kind: "ollama", Address: endpoint.URL, Model: model,
			Secret: secret})
		return err
	}
	state := func() semantic.Search {
		t.Helper()
		s, err := c.SemanticSearch(ctx)
		check(t, err)
		return s
	}
	if s := state(); s != (semantic.Search{}) {
		t.Errorf("before a choice: %+v", s)
	}
	check(t, set("small", "sesame"))
	if s := state(); !s.On || !s.HasSecret || s.Leaves || s.Address != endpoint.URL+"/api/embed" || s.Model != "small" {
		t.Errorf("%+v", s)
	}
	check(t, set("small", ""))
	before, err := st.Embedding(ctx)
	check(t, err)
	if strings.Contains(string(before.Sealed), "sesame") {
		t.Error("the secret is stored in the clear")
	}
	fails = true
	var refused *usererr.Error
	if err := set("large", ""); !errors.As(err, &refused) || refused.Code != "embedding_failed" ||
		strings.Contains(refused.Message, endpoint.URL) {
		t.Errorf("%v", err)
	}
	if after, err := st.Embedding(ctx); err != nil || after.Generation != before.Generation {
		t.Errorf("after a refused choice: %+v, %v", after, err)
	}
	fails = false
	check(t, set("large", ""))
	if s := state(); s.HasSecret {
		t.Error("another model has the secret")
	}
	if got := strings.Join(secrets, ","); got != "sesame,sesame,," {
		t.Errorf("the endpoint received the secrets %q", got)
	}
	for _, bad := range []semantic.Endpoint{{Kind: "ollama", Address: endpoint.URL}, {Kind: "other",
		Address: endpoint.URL, Model: "m"}, {Kind: "ollama", Address: "http://93.184.216.34", Model: "m"}} {
		if _, err := c.SetSemanticSearch(ctx, bad); !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	check(t, c.EndSemanticSearch(ctx))
	if s := state(); s.On {
		t.Errorf("%+v", s)
	}
}

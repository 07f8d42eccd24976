package foreigntest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

// find returns a connector of testdata.
func find(t *testing.T, name string) connectortest.Connector {
	t.Helper()
	return connectortest.InstalledConnector(t, filepath.Join("testdata", name))
}

// onPostgres is a bed over the other database.
func onPostgres(t *testing.T, target connectortest.Target) *connectortest.Harness {
	t.Helper()
	st, err := postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return connectortest.NewHarnessOver(t, target, st)
}

// almanac is the Python connector against a small notebook.
func almanac(t *testing.T) connectortest.Target {
	t.Helper()
	return connectortest.Target{Connector: find(t, "almanac"), Start: notebook, Stored: withoutFlag}
}

func notebook(t *testing.T) *connectortest.Sim {
	t.Helper()
	p := &listed{Lumen: sample.New(sample.Config{Seed: 5, Events: 90, Notes: 40, Token: "tok-almanac"})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.Before != nil {
			p.Before()
		}
		p.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return &connectortest.Sim{Provider: p, Gate: p.Gate(),
		Env: map[string]string{"ALMANAC_TOKEN": "tok-almanac", "ALMANAC_URL": server.URL}}
}

// listed is a provider of which only some is collected.
type listed struct {
	*sample.Lumen
	Before func() // every request, if it is set
}

func (l *listed) Truth() providersim.Truth {
	all := l.Lumen.Truth()
	return providersim.Truth{sample.StreamEvents: all[sample.StreamEvents], sample.StreamNotes: all[sample.StreamNotes]}
}

// withoutFlag is a note as it is stored: its deletion is no part of it.
func withoutFlag(_, _ string, data json.RawMessage) (json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	delete(m, "deleted")
	return json.Marshal(m)
}

// items is a source with a fixed list of records, for connectors that contact no provider.
type items struct {
	stream  string
	records map[string]string
}

func (i items) Truth() providersim.Truth {
	all := map[string]providersim.Item{}
	for key, data := range i.records {
		all[key] = providersim.Item{Data: json.RawMessage(data)}
	}
	return providersim.Truth{i.stream: all}
}

func (items) Mutate(providersim.Mutation) (providersim.Mutated, error) {
	return providersim.Mutated{}, nil
}

func (items) ChangeToken(providersim.TokenChange) (providersim.TokenStatus, error) {
	return providersim.TokenStatus{}, nil
}

// fixed is a connector over such a source.
func fixed(t *testing.T, name string, source items, env map[string]string) connectortest.Target {
	t.Helper()
	return connectortest.Target{Connector: find(t, name), Start: func(*testing.T) *connectortest.Sim {
		return &connectortest.Sim{Provider: source, Env: env}
	}}
}

// judged is the connection as its owner sees it.
func judged(t *testing.T, b *connectortest.Harness) view.Connection {
	t.Helper()
	all, err := b.Store.Evidence(t.Context(), evidence.Query{ConnectionIDs: []string{connectortest.Connection}})
	if err != nil || len(all) != 1 {
		t.Fatalf("evidence: %v, %v", all, err)
	}
	return view.Judge(&all[0], time.Now().Add(b.Clock), true)
}

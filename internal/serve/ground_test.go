package serve

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/manifest"
)

// ground is a whole server over one of the databases, with real connectors and
// the real clock. What is planted before it starts is there from its first pass.
type ground struct {
	t       *testing.T
	dir     string // of connectors
	st      store.Store
	key     credential.Key
	config  Config
	passing chan struct{}
	ahead   atomic.Int64                // by how much the server's clock is put forward
	another func() (store.Store, error) // opens the database as another process does
}

// onBoth runs a test on a server over each database. Arrange comes before the
// server starts.
func onBoth(t *testing.T, arrange func(*ground), test func(t *testing.T, g *ground)) {
	type opener = func() (store.Store, error)
	for name, prepare := range map[string]func(*testing.T) (opener, func(store.Store) scheduler.Database){
		"sqlite": func(t *testing.T) (opener, func(store.Store) scheduler.Database) {
			path := sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db"))
			return func() (store.Store, error) { return sqlite.Open(t.Context(), path, sqlite.Options{}) },
				func(st store.Store) scheduler.Database {
					return scheduler.Database{SQLite: st.(interface{ Writer() *sql.DB }).Writer()}
				}
		},
		"postgres": func(t *testing.T) (opener, func(store.Store) scheduler.Database) {
			url := postgrestest.NewDatabase(t)
			pool, err := pgxpool.New(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pool.Close)
			return func() (store.Store, error) { return postgres.Open(t.Context(), url, postgres.Options{}) },
				func(store.Store) scheduler.Database { return scheduler.Database{Postgres: pool} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			open, queue := prepare(t)
			st, err := open()
			if err != nil {
				t.Fatal(err)
			}
			g := &ground{t: t, dir: t.TempDir(), st: st, key: credential.NewKey(), passing: make(chan struct{}, 1),
				another: open}
			g.config = Config{
				Role: All, Store: st, Database: queue(st), Connectors: catalog.Catalog{Dir: g.dir}, Key: g.key,
				Log: slog.New(slog.DiscardHandler), Now: g.now,
				Worker: store.Worker{ID: "w1", Host: "ground", Capabilities: []string{"network", "local"}},
				Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}"), "filesystem": jsontext.Value("{}"),
					"browser": jsontext.Value("{}")},
			}
			arrange(g)
			ctx, stop := context.WithCancel(t.Context())
			over := make(chan error, 1)
			go func() { over <- Run(ctx, g.config) }()
			defer func() {
				stop()
				g.must(<-over)
				g.must(st.Close())
			}()
			test(t, g)
		})
	}
}

func (g *ground) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// now is the server's clock, which every pass asks.
func (g *ground) now() time.Time {
	select {
	case g.passing <- struct{}{}:
	default:
	}
	return time.Now().Add(time.Duration(g.ahead.Load()))
}

// until looks again whenever the server is at work.
func (g *ground) until(what string, happened func() bool) {
	g.t.Helper()
	late := time.After(5 * time.Minute)
	for !happened() {
		select {
		case <-g.passing:
		case <-late:
			g.t.Fatalf("it did not happen within five minutes: %s", what)
		}
	}
}

// install puts a connector where the server finds it.
func (g *ground) install(id, manifestText, script string) {
	g.t.Helper()
	dir := filepath.Join(g.dir, id)
	g.must(os.MkdirAll(dir, 0o700))
	g.must(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(manifestText), 0o600))
	g.must(os.WriteFile(filepath.Join(dir, "connector"), []byte(script), 0o700))
}

// connect makes a connection of an installed connector.
func (g *ground) connect(id, connector string) {
	g.t.Helper()
	body, err := os.ReadFile(filepath.Join(g.dir, connector, "manifest.json"))
	g.must(err)
	now := time.Now()
	generation, err := g.st.PutManifest(g.t.Context(), connector, body, now)
	g.must(err)
	g.must(g.st.CreateConnection(g.t.Context(), store.Connection{ID: id, ConnectorID: connector, DisplayName: id,
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, ManifestGeneration: generation, CreatedAt: now,
		UpdatedAt: now}))
	confirmed(g.t, g.st, g.dir, connector)
}

func (g *ground) credential(id, connector string, variables map[string]string) {
	g.t.Helper()
	body, _, err := g.st.Manifest(g.t.Context(), connector)
	g.must(err)
	m, err := manifest.Parse(body)
	g.must(err)
	values, err := credential.NewValues(m, variables)
	g.must(err)
	g.must(g.st.PutCredential(g.t.Context(),
		store.Credential{ConnectionID: id, Kind: "access_token", Sealed: values.SealFor(g.key, id),
			Fingerprint: g.key.FingerprintOf(values), Status: store.CredentialActive, CapturedAt: time.Now()}))
}

func (g *ground) schedule(id string, every time.Duration) {
	g.t.Helper()
	g.must(g.st.PutSchedule(g.t.Context(), store.Schedule{ConnectionID: id, IntervalSeconds: int64(every / time.Second),
		Enabled:   true,
		CreatedAt: time.Now(), UpdatedAt: time.Now()}))
}

// seen is the connection as its owner sees it.
func (g *ground) seen(id string) view.Connection {
	g.t.Helper()
	connections := view.View{Reader: g.st, Now: time.Now}
	c, err := connections.One(g.t.Context(), id)
	g.must(err)
	return c.Connection
}

// listen makes the server answer HTTP, and lets an owner in. It is called before the server starts.
func (g *ground) listen() *auth.Auth {
	g.t.Helper()
	var err error
	g.config.Listener, err = net.Listen("tcp", "127.0.0.1:0")
	g.must(err)
	g.config.Auth = auth.New(auth.Config{Store: g.st, Now: time.Now, HashCost: auth.HashCost{MemoryKiB: 8, Passes: 1}})
	return g.config.Auth
}

// ownerPages signs the owner in and returns a function that reads a page of the console.
func (g *ground) ownerPages(guard *auth.Auth) func(path string) string {
	g.t.Helper()
	password, err := guard.Setup(g.t.Context(), "")
	g.must(err)
	base, signed := "http://"+g.config.Listener.Addr().String(), httptest.NewRecorder()
	g.must(guard.SignIn(signed, httptest.NewRequest(http.MethodPost, base+"/login", nil), password))
	return func(path string) string {
		g.t.Helper()
		q, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, base+path, nil)
		g.must(err)
		for _, c := range signed.Result().Cookies() {
			q.AddCookie(c)
		}
		answer, err := http.DefaultTransport.RoundTrip(q)
		g.must(err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		g.must(err)
		if answer.StatusCode != http.StatusOK {
			g.t.Errorf("%s: status %d", path, answer.StatusCode)
		}
		return string(body)
	}
}

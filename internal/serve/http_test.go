package serve

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// Every role reports its own health, and shuts down cleanly.
func TestRolesAnswer(t *testing.T) {
	for _, role := range Roles {
		t.Run(string(role), func(t *testing.T) {
			st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")),
				sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ready, over := make(chan struct{}), make(chan error, 1)
			go func() {
				over <- Run(ctx, Config{
					Role: role, Store: st, Database: scheduler.Database{SQLite: st.(interface{ Writer() *sql.DB }).Writer()},
					Listener: l,
					Worker:   store.Worker{ID: "w1", Capabilities: []string{"network"}}, Key: credential.NewKey(),
					Log: slog.New(slog.DiscardHandler), Now: time.Now, Ready: func() { close(ready) },
				})
			}()
			<-ready
			for path, want := range map[string]string{"/healthz": `"alive"`, "/readyz": `"database"`} {
				answer, err := http.Get("http://" + l.Addr().String() + path)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
					t.Errorf("%s: %d %.200s, %v", path, answer.StatusCode, body, err)
				}
				if works := strings.Contains(string(body), `"scheduler"`); path == "/readyz" && works != (role != Web) {
					t.Errorf("%s answers for a scheduler: %v", role, works)
				}
			}
			stop()
			if err := <-over; err != nil {
				t.Error(err)
			}
			workers, err := st.Workers(t.Context())
			if err != nil || len(workers) != 0 {
				t.Errorf("left behind: %+v, %v", workers, err)
			}
		})
	}
}

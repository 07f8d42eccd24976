package console

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// menuFresh is how long a menu is shown before the home is read again.
const menuFresh = 10 * time.Second

// menuReader reads what the menu shows of the home, and keeps it for a moment: every page shows it.
type menuReader struct {
	Config
	mu   sync.Mutex
	menu ui.Menu
	main map[string]string // classes of kinds, by connection
	ids  map[string]string // of connections, by how addresses name them
	at   time.Time
}

func newMenuReader(c Config) *menuReader { return &menuReader{Config: c} }

// show passes a request on with the menu for its page.
func (m *menuReader) show(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(ui.WithMenu(r.Context(), m.read)))
	})
}

// read returns the menu. If the home cannot be read, it returns the menu as it was.
func (m *menuReader) read(ctx context.Context) ui.Menu {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.Now(); m.at.IsZero() || now.Sub(m.at) >= menuFresh || now.Before(m.at) {
		m.at = now
		if fresh, err := m.current(ctx); err == nil {
			m.menu = fresh
		} else if ctx.Err() == nil {
			m.Log.WarnContext(ctx, "the menu could not be read", "error", err)
		} else {
			m.at = time.Time{}
		}
	}
	return m.menu
}

// kindOf returns the class of the kind that a connection holds most of.
func (m *menuReader) kindOf(connectionID string) string {
	_ = m.read(context.Background())
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.main[connectionID]
}

// named passes a request for a source on with the id of the source if its address has the name instead. A name that
// nothing had a moment ago is looked up again.
func (m *menuReader) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := m.idOf(r.Context(), r.PathValue("id")); id != "" {
			r.SetPathValue("id", id)
		}
		next.ServeHTTP(w, r)
	})
}

// idOf returns the id of the connection that addresses name so; empty if there is none.
func (m *menuReader) idOf(ctx context.Context, name string) string {
	if strings.Contains(name, "_") { // ids have that, names do not
		return ""
	}
	_ = m.read(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if id := m.ids[name]; id != "" {
		return id
	}
	if fresh, err := m.current(ctx); err == nil {
		m.menu, m.at = fresh, m.Now()
	}
	return m.ids[name]
}

func (m *menuReader) current(ctx context.Context) (ui.Menu, error) {
	streams, err := m.Owner.Streams(ctx, "")
	if err != nil {
		return ui.Menu{}, err
	}
	all, err := m.Owner.Overview(ctx)
	if err != nil {
		return ui.Menu{}, err
	}
	m.main = records.MainKinds(streams)
	m.ids = map[string]string{}
	for id, name := range ui.SourceNames(all.Connections) {
		m.ids[name] = id
	}
	menu := ui.Menu{Kinds: records.HeldKinds(streams)}
	for i := range all.Connections {
		if all.Connections[i].Verdict.Channel == verdict.Attention {
			menu.Needs++
		}
	}
	return menu, nil
}

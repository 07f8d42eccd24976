package console

import (
	"context"
	"net/http"
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
	menu := ui.Menu{Kinds: records.HeldKinds(streams)}
	for i := range all.Connections {
		if all.Connections[i].Verdict.Channel == verdict.Attention {
			menu.Needs++
		}
	}
	return menu, nil
}

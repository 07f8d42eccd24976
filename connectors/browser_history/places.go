package browserhistory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// browserPlace is a folder with profiles of a browser. Its name starts the record keys, so that two installations of
// one browser have different keys.
type browserPlace struct {
	name, env string
	kind      *browserFamily
}

// browserFamily is a family of browsers that keep their history alike.
type browserFamily struct {
	name     string // of what is known of its databases
	patterns []string
	depth    int // of the deepest pattern
	streams  []string
	read     func(ctx context.Context, h *historyReader) error
}

var (
	chromiumFamily = &browserFamily{"chromium", []string{"*/History", "History"}, 2,
		[]string{"visits", "searches", "downloads"}, readChromium}
	firefoxFamily = &browserFamily{"firefox", []string{"*/places.sqlite", "places.sqlite"}, 2,
		[]string{"visits", "bookmarks"}, readFirefox}
	safariFamily  = &browserFamily{"safari", []string{"History.db"}, 1, []string{"visits"}, readSafari}
	safariProfile = &browserFamily{"safari", []string{"*/History.db"}, 2, []string{"visits"}, readSafari}
)

// browserPlaces lists where browsers keep profiles. The manifest has the default path of each.
var browserPlaces = []browserPlace{
	{"chrome", "BROWSER_HISTORY_CHROME_DIR", chromiumFamily},
	{"chrome_flatpak", "BROWSER_HISTORY_CHROME_FLATPAK_DIR", chromiumFamily},
	{"chrome_macos", "BROWSER_HISTORY_CHROME_MACOS_DIR", chromiumFamily},
	{"chrome_windows", "BROWSER_HISTORY_CHROME_WINDOWS_DIR", chromiumFamily},
	{"chromium", "BROWSER_HISTORY_CHROMIUM_DIR", chromiumFamily},
	{"chromium_snap", "BROWSER_HISTORY_CHROMIUM_SNAP_DIR", chromiumFamily},
	{"chromium_flatpak", "BROWSER_HISTORY_CHROMIUM_FLATPAK_DIR", chromiumFamily},
	{"chromium_macos", "BROWSER_HISTORY_CHROMIUM_MACOS_DIR", chromiumFamily},
	{"chromium_windows", "BROWSER_HISTORY_CHROMIUM_WINDOWS_DIR", chromiumFamily},
	{"edge", "BROWSER_HISTORY_EDGE_DIR", chromiumFamily},
	{"edge_flatpak", "BROWSER_HISTORY_EDGE_FLATPAK_DIR", chromiumFamily},
	{"edge_macos", "BROWSER_HISTORY_EDGE_MACOS_DIR", chromiumFamily},
	{"edge_windows", "BROWSER_HISTORY_EDGE_WINDOWS_DIR", chromiumFamily},
	{"brave", "BROWSER_HISTORY_BRAVE_DIR", chromiumFamily},
	{"brave_snap", "BROWSER_HISTORY_BRAVE_SNAP_DIR", chromiumFamily},
	{"brave_flatpak", "BROWSER_HISTORY_BRAVE_FLATPAK_DIR", chromiumFamily},
	{"brave_macos", "BROWSER_HISTORY_BRAVE_MACOS_DIR", chromiumFamily},
	{"brave_windows", "BROWSER_HISTORY_BRAVE_WINDOWS_DIR", chromiumFamily},
	{"firefox", "BROWSER_HISTORY_FIREFOX_DIR", firefoxFamily},
	{"firefox_xdg", "BROWSER_HISTORY_FIREFOX_XDG_DIR", firefoxFamily},
	{"firefox_snap", "BROWSER_HISTORY_FIREFOX_SNAP_DIR", firefoxFamily},
	{"firefox_flatpak", "BROWSER_HISTORY_FIREFOX_FLATPAK_DIR", firefoxFamily},
	{"firefox_macos", "BROWSER_HISTORY_FIREFOX_MACOS_DIR", firefoxFamily},
	{"firefox_windows", "BROWSER_HISTORY_FIREFOX_WINDOWS_DIR", firefoxFamily},
	{"safari", "BROWSER_HISTORY_SAFARI_DIR", safariFamily},
	{"safari_profiles", "BROWSER_HISTORY_SAFARI_PROFILES_DIR", safariProfile},
}

// findProfiles returns the existing folders and the files in them. Other files, such as passwords and cookies, are
// neither opened nor listed.
func findProfiles(env func(string) string, leaveOut excludedHosts) (roots []localfile.Root, stores []localfile.Store) {
	for _, p := range browserPlaces {
		dir := env(p.env)
		if dir == "" {
			continue
		}
		roots = append(roots, localfile.Root{Name: p.name, Path: dir, Depth: p.kind.depth})
		stores = append(stores, localfile.Store{
			Name: p.name, Root: p.name, Patterns: p.kind.patterns, Streams: p.kind.streams, Reason: "what was visited",
			Companions: localdb.Companions,
			ID:         func(rel string) string { return path.Join(p.name, path.Dir(rel)) },
			Open: func(ctx context.Context, f *localfile.File, _ *os.File, state jsontext.Value) error {
				return p.openProfile(ctx, f, state, leaveOut)
			},
		}, localfile.Store{Name: p.name + "_other", Root: p.name, Patterns: []string{"**"},
			Reason: "no history, and never opened"})
	}
	return roots, stores
}

// openProfile reads one profile.
func (p browserPlace) openProfile(ctx context.Context, f *localfile.File, state jsontext.Value,
	leaveOut excludedHosts) error {
	h := &historyReader{f: f, browser: browserName(p.name), profile: path.Dir(f.Rel), leaveOut: leaveOut,
		marks: map[string]*tableMark{}}
	if h.profile == "." {
		h.profile = filepath.Base(filepath.Dir(f.Path))
	}
	if len(state) > 0 {
		if err := json.Unmarshal(state, &h.marks); err != nil {
			h.marks = map[string]*tableMark{}
		}
	}
	err := h.readDatabase(ctx, f.Path, p.kind)
	if localdb.IsDamaged(err) || errors.Is(err, errUnknownSchema) {
		return &localfile.RefusedError{Reason: localfile.ReasonDamaged, Err: err}
	}
	if err == nil {
		f.SetState(h.marks)
	}
	return err
}

// browserName is the browser of a place, without how it was installed.
func browserName(name string) string {
	for i, c := range name {
		if c == '_' {
			return name[:i]
		}
	}
	return name
}

// errUnknownSchema means that a database has not the tables that it should.
var errUnknownSchema = errors.New("the database has an unknown schema")

func missingTableError(table string) error { return fmt.Errorf("read %s: %w", table, errUnknownSchema) }

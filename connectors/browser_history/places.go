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

// place is a folder with profiles of a browser. Its name begins the keys of records, so that two
// installations of a browser are told apart.
type place struct {
	name, env string
	kind      *kind
}

// kind is a family of browsers that keep their history alike.
type kind struct {
	name     string // of what is known of its databases
	patterns []string
	depth    int // of the deepest pattern
	streams  []string
	read     func(ctx context.Context, h *history) error
}

var (
	chromium = &kind{"chromium", []string{"*/History", "History"}, 2,
		[]string{"visits", "searches", "downloads"}, readChromium}
	firefox = &kind{"firefox", []string{"*/places.sqlite", "places.sqlite"}, 2,
		[]string{"visits", "bookmarks"}, readFirefox}
	safari        = &kind{"safari", []string{"History.db"}, 1, []string{"visits"}, readSafari}
	safariProfile = &kind{"safari", []string{"*/History.db"}, 2, []string{"visits"}, readSafari}
)

// places are where browsers keep profiles; the manifest says where each of them is by itself.
var places = []place{
	{"chrome", "BROWSER_HISTORY_CHROME_DIR", chromium},
	{"chrome_flatpak", "BROWSER_HISTORY_CHROME_FLATPAK_DIR", chromium},
	{"chrome_macos", "BROWSER_HISTORY_CHROME_MACOS_DIR", chromium},
	{"chrome_windows", "BROWSER_HISTORY_CHROME_WINDOWS_DIR", chromium},
	{"chromium", "BROWSER_HISTORY_CHROMIUM_DIR", chromium},
	{"chromium_snap", "BROWSER_HISTORY_CHROMIUM_SNAP_DIR", chromium},
	{"chromium_flatpak", "BROWSER_HISTORY_CHROMIUM_FLATPAK_DIR", chromium},
	{"chromium_macos", "BROWSER_HISTORY_CHROMIUM_MACOS_DIR", chromium},
	{"chromium_windows", "BROWSER_HISTORY_CHROMIUM_WINDOWS_DIR", chromium},
	{"edge", "BROWSER_HISTORY_EDGE_DIR", chromium},
	{"edge_flatpak", "BROWSER_HISTORY_EDGE_FLATPAK_DIR", chromium},
	{"edge_macos", "BROWSER_HISTORY_EDGE_MACOS_DIR", chromium},
	{"edge_windows", "BROWSER_HISTORY_EDGE_WINDOWS_DIR", chromium},
	{"brave", "BROWSER_HISTORY_BRAVE_DIR", chromium},
	{"brave_snap", "BROWSER_HISTORY_BRAVE_SNAP_DIR", chromium},
	{"brave_flatpak", "BROWSER_HISTORY_BRAVE_FLATPAK_DIR", chromium},
	{"brave_macos", "BROWSER_HISTORY_BRAVE_MACOS_DIR", chromium},
	{"brave_windows", "BROWSER_HISTORY_BRAVE_WINDOWS_DIR", chromium},
	{"firefox", "BROWSER_HISTORY_FIREFOX_DIR", firefox},
	{"firefox_xdg", "BROWSER_HISTORY_FIREFOX_XDG_DIR", firefox},
	{"firefox_snap", "BROWSER_HISTORY_FIREFOX_SNAP_DIR", firefox},
	{"firefox_flatpak", "BROWSER_HISTORY_FIREFOX_FLATPAK_DIR", firefox},
	{"firefox_macos", "BROWSER_HISTORY_FIREFOX_MACOS_DIR", firefox},
	{"firefox_windows", "BROWSER_HISTORY_FIREFOX_WINDOWS_DIR", firefox},
	{"safari", "BROWSER_HISTORY_SAFARI_DIR", safari},
	{"safari_profiles", "BROWSER_HISTORY_SAFARI_PROFILES_DIR", safariProfile},
}

// found are the folders that are there, and the files in them. What is no history is neither
// opened nor listed: passwords and cookies lie beside it.
func found(env func(string) string, leaveOut hosts) (roots []localfile.Root, stores []localfile.Store) {
	for _, p := range places {
		dir := env(p.env)
		if dir == "" {
			continue
		}
		roots = append(roots, localfile.Root{Name: p.name, Path: dir, Depth: p.kind.depth})
		stores = append(stores, localfile.Store{
			Name: p.name, Root: p.name, Patterns: p.kind.patterns, Streams: p.kind.streams, Reason: "what was visited", Companions: localdb.Companions,
			ID: func(rel string) string { return path.Join(p.name, path.Dir(rel)) },
			Open: func(ctx context.Context, f *localfile.File, _ *os.File, state jsontext.Value) error {
				return p.open(ctx, f, state, leaveOut)
			},
		}, localfile.Store{Name: p.name + "_other", Root: p.name, Patterns: []string{"**"}, Reason: "no history, and never opened"})
	}
	return roots, stores
}

// open reads one profile.
func (p place) open(ctx context.Context, f *localfile.File, state jsontext.Value, leaveOut hosts) error {
	h := &history{f: f, browser: browserOf(p.name), profile: path.Dir(f.Rel), leaveOut: leaveOut, marks: map[string]*mark{}}
	if h.profile == "." {
		h.profile = filepath.Base(filepath.Dir(f.Path))
	}
	if len(state) > 0 {
		if err := json.Unmarshal(state, &h.marks); err != nil {
			h.marks = map[string]*mark{}
		}
	}
	err := h.read(ctx, f.Path, p.kind)
	if localdb.Damaged(err) || errors.Is(err, errForm) {
		return &localfile.RefusedError{Reason: localfile.ReasonDamaged, Err: err}
	}
	if err == nil {
		f.SetState(h.marks)
	}
	return err
}

// browserOf is the browser of a place, without how it was installed.
func browserOf(name string) string {
	for i, c := range name {
		if c == '_' {
			return name[:i]
		}
	}
	return name
}

// errForm means that a database has not the tables that it should.
var errForm = errors.New("the database has another form")

func formError(table string) error { return fmt.Errorf("read %s: %w", table, errForm) }

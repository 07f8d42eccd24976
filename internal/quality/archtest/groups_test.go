package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestGroupsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, imported, want string }{
		{"internal/judge/health", "own/internal/storage/store", "group judge uses internal/storage/store of group storage"},
		{"internal/share/readapi", "own/internal/view", "group share uses internal/view of group view"},
		{"internal/ops/metrics", "own/internal/judge/evidence", "group ops uses internal/judge/evidence of group judge"},
		{"internal/device/collector", "own/internal/storage/store/sqlite", "of group storage"},
		{"internal/serve", "own/internal/quality/limitertest", "of group quality"},
		{"internal/stray", "fmt", "is in no group"},
		{"internal/storage/stray", "fmt", "is in no group"},
	} {
		wantOffences(t, CheckGroups([]Package{importing(t, c.from, "fmt", c.imported)}, Groups), c.want)
	}
	for from, imported := range map[string]string{
		"internal/storage/store/sqlite": "own/internal/judge/evidence",
		"internal/judge/health":         "own/internal/judge/evidence",
		"internal/quality/tools/bench":  "own/internal/owner/console", "cmd/pdpp": "own/internal/cli",
	} {
		wantOffences(t, CheckGroups([]Package{importing(t, from, imported)}, Groups))
	}
}

// A group names only groups that precede it, so that there is no cycle.
func TestGroupsHaveNoCircle(t *testing.T) {
	t.Parallel()
	before := map[string]bool{}
	for _, g := range Groups {
		for _, other := range g.May {
			if !before[other] {
				t.Errorf("%s may use %s, which does not stand before it", g.Name, other)
			}
		}
		if g.Reason == "" {
			t.Errorf("%s gives no reason", g.Name)
		}
		before[g.Name] = true
	}
}

// The table, the folders and the documented maps agree.
func TestMapsAgree(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	table := map[string][]string{}
	for _, g := range Groups {
		table[g.Name] = slices.Sorted(slices.Values(g.Rooms))
	}
	names, err := Folders(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string][]string{}
	for _, name := range names {
		rooms, err := Folders(filepath.Join(root, "internal", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(table[name]) == 0 {
			rooms = nil // a single room
		}
		folders[name] = slices.Sorted(slices.Values(rooms))
	}
	sameMap(t, "the folders", folders, table)
	text, err := os.ReadFile(filepath.Join(root, "docs", "understand", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	sameMap(t, "docs/understand/architecture.md", DrawnGroups(string(text)), table)
}

func sameMap(t *testing.T, what string, got, want map[string][]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if rooms, ok := got[name]; !ok || !slices.Equal(rooms, want[name]) {
			t.Errorf("%s has internal/%s with %v (%t), the table of groups has %v", what, name, rooms, ok, want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s has internal/%s, the table of groups has not", what, name)
		}
	}
}

// Every row of the import table governs a package that exists.
func TestRowsHavePackages(t *testing.T) {
	t.Parallel()
	packages := module(t)
	for _, r := range Table {
		if !slices.ContainsFunc(packages, func(p Package) bool { return matches(r.Room, p.Path) }) {
			t.Errorf("%s has a row and no package", r.Room)
		}
	}
}

package archtest

import "testing"

// TestPublicPackagesBringFewModules compares the modules that public packages need with the list of those they may
// bring into the program of an outside author.
func TestPublicPackagesBringFewModules(t *testing.T) {
	t.Parallel()
	needed, err := LoadNeeded(root, PublicRooms)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range CheckPublicModules(needed, PublicRooms) {
		t.Error(f)
	}
	seen := map[string]bool{}
	for _, n := range needed {
		seen[n.Path] = len(n.Modules) > 0
	}
	if !seen["connectorkit"] || !seen["conformance"] || seen["governor/governhttp"] {
		t.Errorf("packages with modules: %v", seen)
	}
}

func TestUnexpectedModuleIsFound(t *testing.T) {
	t.Parallel()
	rooms := []PublicRoom{{"kit/...", []string{"example.org/json"}}, {"kit/db", []string{"example.org/db"}}}
	found := CheckPublicModules([]Needed{
		{"kit", []string{"example.org/json"}}, {"kit/db", []string{"example.org/db"}},
		{"kit/file", []string{"example.org/json", "example.org/db"}}, {"internal/x", []string{"example.org/db"}},
	}, rooms)
	wantOffences(t, found, "needs the module example.org/db")
}

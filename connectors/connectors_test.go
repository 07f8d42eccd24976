package connectors

import (
	"slices"
	"strings"
	"testing"

	"pdpp/connectorkit"
	"pdpp/manifest"
)

// TestEveryConnectorValidates is the build-time check over the real list. The
// check itself is proven on synthetic connectors in connectorkit.
func TestEveryConnectorValidates(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-10.1", "RT-10.2", "RT-10.3", "RT-10.4", "RT-10.5"} {
		t.Attr("spec", id)
	}
	var list []connectorkit.Connector
	for _, e := range All {
		list = append(list, e.New())
	}
	for _, err := range connectorkit.CheckValidation(list, Schemaless) {
		t.Error(err)
	}
}

// TestEntriesAgreeWithTheirManifests holds what the rest of the system relies on.
func TestEntriesAgreeWithTheirManifests(t *testing.T) {
	t.Parallel()
	if !slices.IsSortedFunc(All, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the list is not sorted by name")
	}
	for _, e := range All {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			m := e.New().Manifest
			if m.Key() != e.Name {
				t.Errorf("the manifest's key is %s", m.Key())
			}
			if p := m.RefreshPolicy(); p == nil || p.MaximumStalenessSeconds == 0 {
				t.Error("the refresh policy declares no maximum_staleness_seconds: its data would never count as fresh")
			}
			for _, s := range m.Streams {
				if s.Commit() != manifest.CheckpointSlice {
					t.Errorf("stream %s does not commit by slice", s.Name)
				}
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	if e, ok := Find("example"); !ok || e.Name != "example" {
		t.Error("the example connector is not found")
	}
	if _, ok := Find("nothing"); ok {
		t.Error("a connector that is not listed is found")
	}
}

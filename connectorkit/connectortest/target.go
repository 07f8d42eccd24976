package connectortest

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/providersim"
)

// Connector is an executable with its manifest.
type Connector = catalog.Connector

// InstalledConnector returns the connector in a folder, as a server finds it: the folder has the connector's name and
// holds manifest.json and the program "connector". Authors of other repositories build their program into such a
// folder.
func InstalledConnector(t *testing.T, dir string) Connector {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Catalog{Dir: filepath.Dir(dir)}.Find(t.Context(), filepath.Base(dir))
	if err != nil {
		t.Fatalf("find the connector in %s: %v", dir, err)
	}
	return c
}

// Target is a connector with everything the suite must know of it.
type Target struct {
	Connector Connector
	// Start makes a fresh simulated provider, filled for a test.
	Start func(t *testing.T) *Sim
	// Credential names the variable that the missing-credential scenario leaves out.
	Credential string

	// Snapshot declares that the provider reports no changes and returns everything every time.
	Snapshot bool

	// Changes are what happens at the provider between runs.
	Changes []providersim.Mutation
	// Deletion removes something from DeletedStream so that the provider announces it.
	Deletion      providersim.Mutation
	DeletedStream string

	// Lane describes the list+detail lane; nil when the connector has none.
	Lane *ListDetailParts
	// Scoped is a flat or list stream to try scopes on, with a field that its
	// schema does not require.
	Scoped        string
	OptionalField string

	// Wordless declares that the provider's refusals never include how long to wait.
	Wordless bool
	// Beside lets the scenarios run beside each other: Start creates a provider for each.
	Beside bool
	// Leave names scenarios that do not apply, each with its reason.
	Leave map[string]string

	// Stored turns the provider's form of an item into the connector's record,
	// when the connector maps fields; nil means they are the same.
	Stored func(stream, key string, data json.RawMessage) (json.RawMessage, error)
}

// ListDetailParts names the parts of a list+detail lane.
type ListDetailParts struct {
	List, Detail string
	// DetailPath is the prefix of detail requests, for the provider's faults.
	DetailPath string
	// Item returns the key of the listed item that a detail record belongs to.
	Item func(data json.RawMessage) string
	// Along are streams with records that come with the details. Item is called for them too.
	Along []string
	// AtOnce is how many details are fetched at the same time at most; zero means one after the other.
	AtOnce int
	// TimeField is the field of a list record that the list is ordered by.
	TimeField string
	// Completed are fields of a list record that only the item's details contain: they may be
	// null while those are declared missing.
	Completed []string
}

// Sim is a provider at work.
type Sim struct {
	Provider providersim.Provider
	Gate     *providersim.Gate
	// Env are the variables that lead the connector to it, credentials included.
	Env map[string]string
}

// MutateData changes the provider's data or fails the test.
func (s *Sim) MutateData(t *testing.T, m providersim.Mutation) {
	t.Helper()
	if _, err := s.Provider.Mutate(m); err != nil {
		t.Fatalf("mutate %+v: %v", m, err)
	}
}

// AddFault adds a fault or fails the test.
func (s *Sim) AddFault(t *testing.T, f providersim.Fault) {
	t.Helper()
	if _, err := s.Gate.Add(f); err != nil {
		t.Fatalf("fault %+v: %v", f, err)
	}
}

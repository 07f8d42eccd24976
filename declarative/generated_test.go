//pdpp:tier programs

package declarative_test

import (
	"os"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/tryout"
	"github.com/pdpp-go/pdpp/providersim"
)

// TestGeneratedProvider runs the suite of connectors on a file at the provider that is generated from it.
func TestGeneratedProvider(t *testing.T) {
	text, err := os.ReadFile("testdata/clinic.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := declarative.DescribeFile(text, describe.Options{Key: "clinic"})
	if err != nil {
		t.Fatal(err)
	}
	target := connectortest.Target{
		Connector: wrapFile(t, "clinic"),
		Start: func(t *testing.T) *connectortest.Sim {
			a, err := tryout.NewAccount(d, tryout.Options{Key: "clinic", Seed: 5, Now: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.Close)
			return &connectortest.Sim{Provider: a.Provider, Gate: a.Provider.Gate(), Env: a.Env}
		},
		Credential: "PDPP_CLINIC_TOKEN",
		Snapshot:   true,
		Changes: []providersim.Mutation{{Op: "add_visits", N: 3}, {Op: "change_visits", N: 2},
			{Op: "change_patients", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_visits", N: 2}, DeletedStream: "visits",
		Scoped: "visits", OptionalField: "name",
	}
	connectortest.RunSuite(t, target, target)
}

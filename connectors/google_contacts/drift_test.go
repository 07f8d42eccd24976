package googlecontacts_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/google"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, google.Config{Seed: 5, People: 23, Others: 11, Groups: 4, MaxPage: 4}))
}

// TestDriftNumbers has groups with more members than contacts name them.
func TestDriftNumbers(t *testing.T) {
	t.Parallel()
	connectortest.DriftNumbers(t, target(t, google.Config{Seed: 5, People: 23, Groups: 4, MaxPage: 4}), "groups",
		"contactGroups", "contactGroups/[]/memberCount")
}

func TestDriftTotals(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftTotals(t, target(t, google.Config{Seed: 5, People: 23, Others: 11, Groups: 4}), "contacts")
}

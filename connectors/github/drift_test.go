package github_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, testTarget(t, roomy()))
}

func TestDriftNumbers(t *testing.T) {
	t.Parallel()
	connectortest.DriftNumbers(t, testTarget(t, roomy()), "pull_requests", "search/issues", "total_count")
	connectortest.DriftNumbers(t, testTarget(t, roomy()), "repositories", "user", "public_repos")
	connectortest.DriftNumbers(t, testTarget(t, roomy()), "gists", "user", "public_gists")
}

package redditexport_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	redditexport "pdpp/connectors/reddit_export"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DriftFiles(t, target(t), redditexport.Connector())
}

package twitterarchive_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	twitterarchive "pdpp/connectors/twitter_archive"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DriftFiles(t, target(t), twitterarchive.Connector())
}

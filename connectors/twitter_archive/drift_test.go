package twitterarchive_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	twitterarchive "github.com/pdpp-go/pdpp/connectors/twitter_archive"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DriftFiles(t, target(t), twitterarchive.Connector())
}

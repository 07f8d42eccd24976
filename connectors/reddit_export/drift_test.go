package redditexport_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	redditexport "github.com/pdpp-go/pdpp/connectors/reddit_export"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, target(t), redditexport.Connector())
}

package ical_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, davserver.FeedSuite.Target(t, davserver.FeedSuite.Brief))
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, davserver.FeedSuite.Target(t, davserver.FeedSuite.Brief), providersim.Drifted{
		Remove: []string{"VCALENDAR/PRODID"},
	})
}

package ical_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectorkit/connectortest/davserver"
	"pdpp/providersim"
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

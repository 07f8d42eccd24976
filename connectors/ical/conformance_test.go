//pdpp:tier programs

package ical_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
)

func TestMain(m *testing.M) { davserver.RunTestMain(m) }

func TestConformance(t *testing.T) { davserver.CalendarFeedSuite.Conformance(t) }

//pdpp:tier programs

package caldav_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
)

func TestMain(m *testing.M) { davserver.RunTestMain(m) }

func TestConformance(t *testing.T) { davserver.CalendarSuite.Conformance(t) }

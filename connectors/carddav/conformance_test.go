//pdpp:tier programs

package carddav_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
)

func TestMain(m *testing.M) { davserver.RunTestMain(m) }

func TestConformance(t *testing.T) { davserver.AddressBookSuite.Conformance(t) }

//pdpp:tier programs

package netflixexport_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestConformance runs every scenario for local files against the built connector host.
func TestConformance(t *testing.T) { connectortest.RunLocal(t, target(t)) }

func target(t *testing.T) connectortest.LocalTarget {
	t.Helper()
	return connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "netflix_export"), Make: files.Netflix,
		Env: func(dir string) map[string]string { return map[string]string{"NETFLIX_EXPORT_DIR": dir} },
		Declared: []protocol.Reason{localarchive.ReasonRowUnreadable, localarchive.ReasonDamaged,
			localarchive.ReasonOtherKind},
		Listed: []string{"coverage_diagnostics"},
	}
}

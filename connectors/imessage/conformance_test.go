//pdpp:tier programs

package imessage_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestConformance runs every scenario for local files against the built connector host.
func TestConformance(t *testing.T) {
	connectortest.RunLocal(t, connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "imessage"), Make: files.Messages,
		Env:      func(dir string) map[string]string { return map[string]string{"IMESSAGE_DB_PATH": dir} },
		Declared: []protocol.Reason{"message_date_unusable"},
		Listed:   []string{"coverage_diagnostics"},
	})
}

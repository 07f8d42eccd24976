//pdpp:tier programs

package whatsapp_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestConformance runs every scenario for local files against the built connector host, on
// the database of a Mac.
func TestConformance(t *testing.T) {
	connectortest.RunLocal(t, connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "whatsapp"), Make: files.WhatsApp,
		Env:      func(dir string) map[string]string { return map[string]string{"WHATSAPP_DB_DIR": dir} },
		Declared: []protocol.Reason{"message_date_unusable"},
		Listed:   []string{"coverage_diagnostics"},
	})
}

// TestExports runs the same on exports that a person makes again and again.
func TestExports(t *testing.T) {
	connectortest.RunLocal(t, connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "whatsapp"), Make: files.Exports,
		Env: func(dir string) map[string]string {
			return map[string]string{"WHATSAPP_EXPORT_DIR": dir, "PDPP_WHATSAPP_TIME_ZONE": "UTC"}
		},
		Declared: []protocol.Reason{"empty_export", "unsupported_export", "archive_damaged"},
		Listed:   []string{"coverage_diagnostics", "chats", "attachments"},
	})
}

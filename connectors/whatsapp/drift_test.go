package whatsapp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectors/whatsapp"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestDrift compares the schemas of a Mac's and of a phone's database.
func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "whatsapp"),
		Make: func(dir string, c files.Config) (files.World, error) {
			exports := filepath.Join(dir, "exports")
			if err := os.Mkdir(exports, 0o700); err != nil {
				return nil, err
			}
			phoneDatabase(t, exports)
			return files.WhatsApp(dir, c)
		},
		Env: func(dir string) map[string]string {
			return map[string]string{"WHATSAPP_DB_DIR": dir, "WHATSAPP_EXPORT_DIR": filepath.Join(dir, "exports")}
		},
	}, whatsapp.Connector(), providersim.Drifted{
		Add: []string{".", "ZWAMESSAGE", "message"}, Remove: []string{"ZWAMEDIAITEM/ZTITLE", "message_media/media_name"},
		Retype: []string{"jid/user"},
	})
}

package imessage_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectors/imessage"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestDrift compares the schema of a database: tables and columns that are new, absent or of another type.
func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "imessage"), Make: files.Messages,
		Env: func(dir string) map[string]string { return map[string]string{"IMESSAGE_DB_PATH": dir} },
	}, imessage.Connector(), providersim.Drifted{
		Add: []string{".", "message"}, Remove: []string{"message/subject", "attachment/total_bytes"},
		Retype: []string{"message/account"},
	})
}

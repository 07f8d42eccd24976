package browserhistory_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	browserhistory "github.com/pdpp-go/pdpp/connectors/browser_history"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestDrift compares the schemas of each family of browsers. The browsers are closed, so that their databases can be
// changed.
func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "browser_history"), Env: env,
		Make: func(dir string, c files.Config) (files.World, error) {
			b, err := files.NewBrowsers(dir, c)
			if err == nil {
				err = b.Close()
			}
			return b, err
		},
	}, browserhistory.Connector(), providersim.Drifted{
		Add:    []string{".", "visits", "moz_places", "history_visits"},
		Remove: []string{"visits/visit_duration", "moz_historyvisits/visit_type", "history_visits/origin"},
		Retype: []string{"moz_bookmarks/folder_type"},
	})
}

//pdpp:tier programs

package browserhistory_test

import (
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim/files"
)

func env(dir string) map[string]string {
	set := map[string]string{}
	for name, place := range map[string]string{"CHROME": "chrome", "BRAVE": "brave", "FIREFOX": "firefox",
		"SAFARI": "safari"} {
		set["BROWSER_HISTORY_"+name+"_DIR"] = filepath.Join(dir, place)
	}
	return set
}

// TestConformance runs every scenario for local files against the built connector host, over
// browsers that are open and write.
func TestConformance(t *testing.T) {
	connectortest.RunLocal(t, connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "browser_history"), Env: env,
		Make: func(dir string, c files.Config) (files.World, error) {
			b, err := files.NewBrowsers(dir, c)
			if err == nil {
				t.Cleanup(func() { _ = b.Close() })
			}
			return b, err
		},
		Listed:   []string{"coverage_diagnostics"},
		Declared: []protocol.Reason{"file_damaged"},
	})
}

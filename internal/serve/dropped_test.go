package serve

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

const shellsManifest = `{"protocol_version":"0.1.0","connector_id":"shells","version":"0.1.0","display_name":"Shells",
"runtime_requirements":{"bindings":{"filesystem":{"required":true}}},
"setup":{"modality":"manual_or_upload","manual_or_upload":{"label":"Shells","accepted_file_extensions":[".txt"],` +
	`"import_dir_env_var":"SHELLS_DIR"}},
"streams":[{"name":"shells","semantics":"mutable_state","checkpoint":"slice","primary_key":"id",` +
	`"schema":{"type":"object","properties":{"id":{"type":"string"}}}}]}`

// shellsConnector brings the names in its files.
const shellsConnector = `#!/bin/sh
read -r start
n=0
cd "$SHELLS_DIR" || exit 1
for f in *.txt; do
	while read -r key; do
		printf '{"type":"RECORD","stream":"shells","key":"%s","data":{"id":"%s"},"emitted_at":"2026-01-02T03:04:05Z","file":"%s"}\n' "$key" "$key" "$f"
		n=$((n+1))
	done < "$f"
done
printf '%s\n' '{"type":"STATE","stream":"shells","cursor":{"n":1}}'
printf '{"type":"DONE","status":"succeeded","records_emitted":%d}\n' "$n"
`

// A file that is put into an import folder is collected without a request for a run, and it asks for
// one run.
func TestDroppedFileIsCollected(t *testing.T) {
	folder := ""
	onBoth(t, func(g *ground) {
		var err error
		g.config.Listener, err = net.Listen("tcp", "127.0.0.1:0")
		g.must(err)
		g.config.Auth = auth.New(auth.Config{Store: g.st, Now: time.Now, HashCost: auth.HashCost{MemoryKiB: 8, Passes: 1}})
		g.config.LookForFiles = 20 * time.Millisecond
		folder = t.TempDir()
		g.config.Lookup = func(name string) (string, bool) { return folder, name == "SHELLS_DIR" }
		g.install("shells", shellsManifest, shellsConnector)
		g.connect("cin_shells", "shells")
	}, func(t *testing.T, g *ground) {
		path, old := filepath.Join(folder, "beach.txt"), time.Now().Add(-time.Hour)
		g.must(os.WriteFile(path, []byte("cockle\nwhelk\n"), 0o600))
		g.must(os.Chtimes(path, old, old))
		g.until("the file is read", func() bool {
			_, err := g.st.Record(t.Context(), "cin_shells", "shells", "whelk")
			return err == nil
		})
		g.until("the run is over", func() bool {
			runs, err := g.st.ListRuns(t.Context(), store.RunQuery{ConnectionID: "cin_shells"})
			g.must(err)
			return runs[0].Status == store.RunSucceeded
		})
		receipts, err := g.st.Imports(t.Context(), "cin_shells")
		g.must(err)
		runs, err := g.st.ListRuns(t.Context(), store.RunQuery{ConnectionID: "cin_shells"})
		g.must(err)
		if len(receipts) != 1 || receipts[0].Path != "beach.txt" || receipts[0].New != 2 || len(runs) != 1 {
			t.Errorf("receipts %+v, %d runs", receipts, len(runs))
		}
	})
}

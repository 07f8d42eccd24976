package serve

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// waitingConnector is the garden's, which is held up before it uses its token.
var waitingConnector = strings.Replace(gardenConnector, "read -r start\n", `read -r start
if [ "$GARDEN_TOKEN" = "spade" ]; then read -r go < "$(dirname "$0")/gate"; fi
`, 1)

// The owner stores a new credential while a run uses the old one, which is then refused. The new one is not blamed:
// one automatic run tries it, and the owner is not asked again.
func TestCredentialReplacedDuringARun(t *testing.T) {
	p := newPlot(t)
	defer p.stop()
	folder := filepath.Join(p.home, "connectors", "garden")
	gate := filepath.Join(folder, "gate")
	p.must(syscall.Mkfifo(gate, 0o600))
	p.must(os.WriteFile(filepath.Join(folder, "connector"), []byte(waitingConnector), 0o700))
	confirmed(t, p.st, filepath.Dir(folder), "garden")
	p.credential("spade")
	p.schedule(5*time.Minute, true)
	held, err := os.OpenFile(gate, os.O_WRONLY, 0) // returns once the run waits there
	p.must(err)
	o := service.New(service.Config{Store: p.st, Connectors: catalog.Catalog{Dir: filepath.Join(p.home, "connectors")},
		Key: func() (credential.Key, error) { return p.key, nil }, Now: time.Now})
	p.must(o.SetCredential(t.Context(), garden, map[string]string{"token": "trowel"}))
	p.must(held.Close())
	p.until("the new credential is tried", func() bool { return strings.Contains(p.runs(), "failed, manual") })
	p.until("the run has ended", func() bool { return p.evidence().Active == nil })
	if got := p.runs(); got != "scheduled failed, manual succeeded" {
		t.Errorf("it ran: %s", got)
	}
	if c, err := p.st.Credential(t.Context(), garden); err != nil || c.Status != store.CredentialActive {
		t.Errorf("the new credential is %s, %v", c.Status, err)
	}
	if all := p.records(); len(all) > 0 || len(p.pushed()) > 0 {
		t.Errorf("the owner was asked: %+v %q", all, p.pushed())
	}
	if c := p.verdict(); c.Verdict.Pill.Tone != "green" {
		t.Errorf("verdict %+v", c.Verdict)
	}
}

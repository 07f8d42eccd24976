package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

// gateConnector asks for a code and succeeds with the right one.
const gateConnector = `#!/bin/sh
read -r start
printf '%s\n' '{"type":"INTERACTION","request_id":"gate-1","kind":"otp","message":"Which code did the garden send?",'\
'"timeout_seconds":600}'
read -r answer
case "$answer" in *471100*) ;; *)
	printf '%s\n' '{"type":"DONE","status":"failed","records_emitted":0,'\
'"error":{"code":"wrong_code","message":"the code is wrong","retryable":false}}'
	exit 1 ;;
esac
printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":0}'
`

// A run that asks parks; another process, with nothing but the database, answers;
// the run goes on where it is. The owner is pushed once, and the code is nowhere
// in the database. A child that waits keeps virtual time still, so that this test
// takes its time from the clock.
func TestAnswerFromAnotherProcess(t *testing.T) {
	p := newPlot(t)
	p.must(os.WriteFile(filepath.Join(p.home, "connectors", "garden", "connector"), []byte(gateConnector), 0o700))
	confirmed(t, p.st, filepath.Join(p.home, "connectors"), "garden")
	p.credential("trowel")
	p.schedule(time.Hour, true)
	p.until("a run is parked", func() bool { return len(p.evidence().Attention) == 1 })
	p.until("the owner is pushed", func() bool { return len(p.pushed()) == 1 })
	if push := p.pushed()[0]; !strings.Contains(push, `"kind":"add_info"`) {
		t.Errorf("push %q", push)
	}
	elsewhere, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(p.home, "pdpp.db")),
		sqlite.Options{})
	p.must(err)
	p.must(interaction.LeaveAnswer(t.Context(), elsewhere, p.evidence().Active.ID, "gate-1",
		protocol.InteractionResponse{RequestID: "gate-1", Status: protocol.ResponseSuccess,
			Data: jsontext.Value(`{"code":"471100"}`)}, time.Now()))
	for _, name := range []string{"pdpp.db", "pdpp.db-wal"} {
		content, err := os.ReadFile(filepath.Join(p.home, name))
		p.must(err)
		if strings.Contains(string(content), "471100") {
			t.Errorf("the code stands in %s", name)
		}
	}
	p.must(elsewhere.Close())
	p.until("the run is over", func() bool { return p.runs() != "scheduled running" })
	if got := p.runs(); got != "scheduled succeeded" {
		t.Errorf("it ran: %s", got)
	}
	p.until("the request is settled", func() bool {
		all := p.records()
		return len(all) == 1 && all[0].Lifecycle == evidence.AttentionResolved
	})
	if c := p.verdict(); c.Verdict.Channel != "calm" {
		t.Errorf("verdict %+v", c.Verdict)
	}
	p.stop()
}

package interaction

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// leaseTTL is how long the run of a bed lives without a sign of life.
const leaseTTL = 2 * time.Hour

// bed is a run that asks, with two handles on its database: the run's and the owner's.
type bed struct {
	asking, answering store.Store
	dir               string
	lease             store.Lease
	mailbox           *Mailbox
}

func newBed(t testing.TB) *bed {
	t.Helper()
	b := &bed{dir: t.TempDir()}
	path := filepath.Join(b.dir, "pdpp.db")
	for _, handle := range []*store.Store{&b.asking, &b.answering} {
		s, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, path), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		*handle = s
	}
	err := b.asking.CreateConnection(t.Context(), store.Connection{
		ID: "cin_1", ConnectorID: "orchard", Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: noon,
		UpdatedAt: noon,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.lease, err = b.asking.StartRun(t.Context(), store.RunStart{
		RunID: "run_1", ConnectionID: "cin_1", ConnectorID: "orchard", Trigger: store.TriggerManual, Holder: "test",
		TTL: leaseTTL,
	}, noon)
	if err != nil {
		t.Fatal(err)
	}
	b.mailbox = &Mailbox{Store: b.asking, Now: func() time.Time { return noon }}
	return b
}

// put prepares a question and opens its row.
func (b *bed) put(t testing.TB, id string, schema string) protocol.Interaction {
	t.Helper()
	q := protocol.Interaction{RequestID: id, Kind: protocol.AskOTP, Message: "code?", Schema: jsontext.Value(schema)}
	key, forget, err := b.mailbox.Prepare("run_1", id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(forget)
	expires := noon.Add(time.Hour)
	row := store.Interaction{RequestID: id, RunID: "run_1", ConnectionID: "cin_1", Kind: q.Kind, Message: q.Message,
		Schema: q.Schema, Key: key, OpenedAt: noon, ExpiresAt: &expires}
	if err := b.asking.OpenInteraction(t.Context(), b.lease, row, noon); err != nil {
		t.Fatal(err)
	}
	return q
}

// deliver is a pass of the signal loop.
func (b *bed) deliver(t testing.TB) {
	t.Helper()
	signals, err := b.asking.Signals(t.Context(), noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range signals.Answered {
		b.mailbox.Deliver(a.RunID, a.RequestID)
	}
}

func success(data string) protocol.InteractionResponse {
	return protocol.InteractionResponse{Status: protocol.ResponseSuccess, Data: jsontext.Value(data)}
}

// mustNotHold fails when any file of the database holds the words.
func (b *bed) mustNotHold(t *testing.T, words string) {
	t.Helper()
	files, err := os.ReadDir(b.dir)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(b.dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(words)) {
			t.Errorf("%s holds %q", f.Name(), words)
		}
	}
}

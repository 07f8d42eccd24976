package status

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// planted returns fixed evidence as a store would.
type planted struct {
	all     []evidence.Evidence
	runtime evidence.Runtime
}

func (p *planted) Evidence(_ context.Context, q evidence.Query) ([]evidence.Evidence, error) {
	var out []evidence.Evidence
	for _, e := range p.all {
		if len(q.ConnectionIDs) == 0 && e.Connection.ID > q.After || len(q.ConnectionIDs) > 0 &&
			q.ConnectionIDs[0] == e.Connection.ID {
			out = append(out, e)
		}
	}
	return out, nil
}

func (p *planted) Runtime(context.Context) (evidence.Runtime, error) { return p.runtime, nil }

// keeper is an owner's service that judges planted evidence with package view. It implements only
// what the tests need.
type keeper struct {
	api.Owner
	facts     *planted
	view      view.View
	form      *api.CredentialForm
	active    *api.Run
	runs      []api.Run
	question  *api.Question
	pace      api.Pace
	selection api.Selection
	events    []api.Event
	did       []string
	refuse    error
	ready     *view.Overview // instead of facts
	more      func(*api.Detail)
	missing   api.GapPage
	offered   []api.Connector
	asked     []string         // what was read, in order
	fails     map[string]error // by method
	codes     *shared[[]api.DeviceCode]
	kept      api.Kept
	held      []api.Stream
	newest    []api.Record
	wished    api.NewDevice
}

// heard records a question and returns the error configured for it.
func (k *keeper) heard(question string) error {
	k.asked = append(k.asked, question)
	return k.fails[question]
}

func newKeeper(all ...evidence.Evidence) *keeper {
	k := &keeper{facts: &planted{all: all}}
	k.view = view.View{Reader: k.facts, Now: func() time.Time { return noon }}
	return k
}

// Overview returns the prepared verdicts, or else computes them.
func (k *keeper) Overview(ctx context.Context) (view.Overview, error) {
	if err := k.heard("Overview"); err != nil || k.ready != nil {
		return *cmp.Or(k.ready, &view.Overview{}), err
	}
	return k.view.All(ctx)
}

// Streams returns the prepared streams of any connection.
func (k *keeper) Streams(context.Context, string) ([]api.Stream, error) {
	return k.held, k.heard("Streams")
}

// Records returns the prepared records of a stream.
func (k *keeper) Records(_ context.Context, q api.RecordQuery) (page api.RecordPage, err error) {
	for _, r := range k.newest {
		if r.ConnectionID == q.ConnectionID && r.Stream == q.Stream {
			page.Records = append(page.Records, r)
		}
	}
	return page, k.heard("Records")
}

// Kept returns the prepared counts.
func (k *keeper) Kept(context.Context) (api.Kept, error) { return k.kept, k.heard("Kept") }

func (k *keeper) Connection(ctx context.Context, id string) (api.Detail, error) {
	if err := k.heard("Connection"); err != nil {
		return api.Detail{}, err
	}
	c, err := k.view.One(ctx, id)
	if err != nil {
		return api.Detail{}, api.NotFound("There is no such connection.", "Look at all connections.")
	}
	d := api.Detail{Connection: c.Connection, Indicator: c.Indicator, Steps: c.Steps(), ActiveRun: k.active,
		RecentRuns: k.runs, Selection: k.selection}
	d.Connector = &api.Connector{ID: c.ConnectorID, DisplayName: "Photobox", Form: k.form}
	if k.more != nil {
		k.more(&d)
	}
	return d, nil
}

// BeginSignIn returns a device code. It fails for a redirect, because no app is registered.
func (k *keeper) BeginSignIn(_ context.Context, _ string, w api.SignInWish) (api.SignInBegun, error) {
	if w.Redirect != "" {
		return api.SignInBegun{}, &api.Error{Status: http.StatusConflict, Code: api.CodeNoProviderApp,
			Message: "This server has no app at Photobox yet.", Next: "Register one there."}
	}
	return api.SignInBegun{State: "state-of-it", URL: "https://photobox.example/device", UserCode: "WDJB-MJHT",
		EverySeconds: 5, ExpiresAt: noon.Add(10 * time.Minute)}, nil
}

func (k *keeper) Runs(context.Context, api.RunQuery) ([]api.Run, error) {
	return k.runs, k.heard("Runs")
}
func (k *keeper) Pace(context.Context, string, int) (api.Pace, error) { return k.pace, k.heard("Pace") }
func (k *keeper) Gaps(context.Context, api.GapQuery) (api.GapPage, error) {
	return k.missing, k.heard("Gaps")
}
func (k *keeper) Connectors(context.Context) ([]api.Connector, error) {
	return k.offered, k.heard("Connectors")
}

func (k *keeper) Devices(context.Context) ([]api.Device, error) {
	return []api.Device{{ID: "dev_1", Status: "revoked",
		Sources: []api.DeviceSource{{ConnectionID: "cin_tide_1", LocalBindingName: "tide-1"}}}}, k.heard("Devices")
}
func (k *keeper) DeviceCodes(context.Context) ([]api.DeviceCode, error) {
	return k.codes.get(), k.heard("DeviceCodes")
}
func (k *keeper) AddDevice(_ context.Context, n api.NewDevice) (api.DeviceCode, error) {
	k.wished = n
	made := k.codes.get()[0]
	made.Code, made.Command = "lde_secret", "pdpp-local-collector setup --base-url https://pdpp.example --code lde_secret"
	return made, k.act("add device", n.ConnectorID)
}
func (k *keeper) CancelDeviceCode(_ context.Context, id string) error {
	return k.act("cancel code", id)
}

func (k *keeper) Question(context.Context, string) (api.Question, error) {
	if err := k.heard("Question"); err != nil {
		return api.Question{}, err
	}
	if k.question == nil {
		return api.Question{}, &api.Error{Status: 404, Code: api.CodeNoQuestion, Message: "Nothing is asked."}
	}
	return *k.question, nil
}

func (k *keeper) RunByID(context.Context, string) (api.Run, error) {
	return *k.active, k.heard("RunByID")
}
func (k *keeper) Timeline(_ context.Context, _ string, after int64) ([]api.Event, error) {
	var out []api.Event
	for _, e := range k.events {
		if e.Seq > after && len(out) < 500 {
			out = append(out, e)
		}
	}
	return out, k.heard("Timeline")
}

func (k *keeper) act(words ...string) error {
	k.did = append(k.did, strings.Join(words, " "))
	return k.refuse
}
func (k *keeper) Run(_ context.Context, id string) error          { return k.act("run", id) }
func (k *keeper) RunAnyway(_ context.Context, id string) error    { return k.act("run anyway", id) }
func (k *keeper) Rename(_ context.Context, id, name string) error { return k.act("rename", id, name) }
func (k *keeper) Revoke(_ context.Context, id string) error       { return k.act("revoke", id) }
func (k *keeper) Cancel(_ context.Context, id string) error       { return k.act("cancel", id) }
func (k *keeper) Acknowledge(_ context.Context, id, a string) error {
	return k.act("acknowledge", id, a)
}
func (k *keeper) SetCredential(_ context.Context, id string, f map[string]string) error {
	return k.act("credential", id, f["token"])
}
func (k *keeper) SetSchedule(_ context.Context, id string, s api.Schedule) error {
	text, _ := json.Marshal(s)
	return k.act("schedule", id, string(text))
}
func (k *keeper) SetLimits(_ context.Context, id string, l api.Limits) error {
	text, _ := json.Marshal(l)
	return k.act("limits", id, string(text))
}
func (k *keeper) SetSelection(_ context.Context, id string, s api.Selection) error {
	return k.act("select", id, strings.TrimSpace(s.Profile+" "+fmt.Sprint(s.Streams)))
}
func (k *keeper) Collect(_ context.Context, id string, s api.Selection) error {
	return k.act("collect", id, fmt.Sprint(s.Streams))
}
func (k *keeper) Answer(_ context.Context, id string, a api.Answer) error {
	return k.act("answer", id, a.RequestID, a.Status, a.Data["code"])
}

// plant reads a base of package view's scenarios and changes it.
func plant(t *testing.T, base string, patch string) evidence.Evidence {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "view", "testdata", "base", base+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return decodeEvidence(t, mergePatch(text, []byte(patch)))
}

func decodeEvidence(t *testing.T, text []byte) evidence.Evidence {
	t.Helper()
	var e evidence.Evidence
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// mergePatch applies a merge patch (RFC 7386).
func mergePatch(target, patch []byte) []byte {
	var p map[string]json.RawMessage
	if len(patch) == 0 {
		return target
	}
	if json.Unmarshal(patch, &p) != nil || p == nil {
		return patch
	}
	out := map[string]json.RawMessage{}
	if json.Unmarshal(target, &out) != nil || out == nil {
		out = map[string]json.RawMessage{}
	}
	for name, value := range p {
		if string(value) == "null" {
			delete(out, name)
		} else {
			out[name] = mergePatch(out[name], value)
		}
	}
	merged, err := json.Marshal(out)
	if err != nil {
		panic(err) // a map of JSON is JSON
	}
	return merged
}

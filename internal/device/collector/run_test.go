package collector

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestFirstRunThenOnlyWhatIsNew(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 560)...)
	r := b.mustRun(t)
	b.mustHave(t, "notes", days(1, 560)...)
	b.mustHaveState(t, "notes", `{"n":560}`)
	if r.Uploaded.Records != 560 || r.Uploaded.Checkpoints == 0 || r.Run.Records != 560 {
		t.Errorf("reported %+v, %+v", r.Uploaded, r.Run)
	}
	b.write(t, days(1, 565)...)
	if r = b.mustRun(t); r.Run.Records != 5 {
		t.Errorf("the second run queued %d records, want 5", r.Run.Records)
	}
	b.mustHave(t, "notes", days(1, 565)...)
	if got := b.starts(t); !slices.Equal(got, []string{`{} 0`, `{"notes":{"n":560}} 0`}) {
		t.Errorf("the connector was started with %q", got)
	}
	if b.beats[0].Status != "starting" || b.lastBeat().Status != "healthy" || *b.lastBeat().Pending != 0 ||
		b.lastBeat().Outbox["total"] == 0 {
		t.Errorf("heartbeats %+v", b.beats)
	}
	open, err := filepath.Glob("/proc/self/fd/*") // nothing where the system has no such folder
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if at, err := os.Readlink(fd); err == nil && strings.HasPrefix(at, filepath.Dir(b.dirs.State)) {
			t.Errorf("still open after the pass: %s", at)
		}
	}
}

func TestPassKeepsItsOrder(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 120)...)
	b.mustRun(t)
	want := "POST heartbeat, GET state, POST ingest-batches, POST ingest-batches, PUT state, POST heartbeat"
	if got := strings.Join(b.requests, ", "); got != want {
		t.Errorf("requests\n got %s\nwant %s", got, want)
	}
	b.answerWith("POST heartbeat", 409, "clock_is_wrong", "")
	b.mustHold(t, b.run(t))
}

func TestStateReadFailureBlocks(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	b.answerWith("GET state", 500, "internal", "")
	r := b.run(t)
	if r.OK() || r.Run != nil || r.Cause != CauseStateRead || b.waited < 10*time.Second {
		t.Errorf("%+v", r)
	}
	if last := b.lastBeat(); last.Status != "blocked" || last.LastError == nil ||
		last.LastError.Kind != "state_read_failed" {
		t.Errorf("heartbeat %+v", last)
	}
	if len(b.starts(t)) != 0 {
		t.Error("the connector was started without a state")
	}
	b.mustHold(t, r)
}

func TestConnectorFailureIsDeclared(t *testing.T) {
	b := newBed(t)
	b.write(t, append(days(1, 300), "CRASH")...)
	r := b.run(t)
	if r.OK() || r.Cause != CauseConnector || r.Run.Reason != "connector_exit_without_done" {
		t.Errorf("%+v, %+v", r, r.Run)
	}
	b.mustHave(t, "notes", days(1, 250)...) // the finished slice
	b.mustHaveState(t, "notes", `{"n":250}`)
	if len(b.gaps) != 1 || b.gaps[0].Reason != "connector_child_failure" || b.lastBeat().Status != "stopped" {
		t.Errorf("gaps %+v, %+v", b.gaps, b.lastBeat())
	}
	b.write(t, days(1, 300)...)
	reports := []Report{r}
	for range 2 { // the second time there is nothing to take back
		reports = append(reports, b.mustRun(t))
	}
	b.mustHold(t, reports...)
	if len(b.recovered) != 1 || !strings.Contains(b.recovered[0], "connector_child_failure") {
		t.Errorf("taken back: %q", b.recovered)
	}
	b.mustHave(t, "notes", days(1, 300)...)
}

func TestGapsAreDeclaredAndRecovered(t *testing.T) {
	b := newBed(t)
	lines := append(days(1, 3), "!day0004", "!day0005")
	b.write(t, lines...)
	if err := os.WriteFile(b.file+".busy", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second pass finds nothing new and reports no gap again
		if r := b.mustRun(t); r.Run.Gaps != 2 {
			t.Errorf("open gaps: %+v", r.Run)
		}
	}
	b.mustHave(t, "notes", days(1, 5)...)
	b.mustHave(t, "details")
	if len(b.gaps) != 1 || b.gaps[0].Reason != "policy_budget" || b.gaps[0].Stream != "details" ||
		b.gaps[0].Details.Missing["rate_limited"] != 2 {
		t.Errorf("declared %+v", b.gaps)
	}
	if err := os.Remove(b.file + ".busy"); err != nil {
		t.Fatal(err)
	}
	if r := b.mustRun(t); r.Run.Gaps != 0 {
		t.Errorf("open gaps after recovery: %+v", r.Run)
	}
	b.mustHave(t, "details", "day0004", "day0005")
	if len(b.recovered) != 1 || !strings.Contains(b.recovered[0], `"stream":"details"`) {
		t.Errorf("taken back: %q", b.recovered)
	}
	if got := b.starts(t); !strings.HasSuffix(got[2], " 2") {
		t.Errorf("the connector was started with %q", got)
	}
	b.mustHold(t)
}

func TestStoppedPassGivesItsUploadsBack(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 350)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.intercept = func(_ int, name string, done bool, w http.ResponseWriter) bool {
		if name == "POST ingest-batches" {
			cancel()
			panic(http.ErrAbortHandler)
		}
		return false
	}
	r, err := b.collector(t).Run(ctx)
	if err != nil || r.OK() || r.Cause != CauseStopped || r.Outbox.Leased != 0 || r.Outbox.DeadLetter != 0 ||
		b.lastBeat().Status != "retrying" {
		t.Errorf("%v, %+v", err, r)
	}
	b.behave()
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 350)...)
}

// TestCheckpointHoldsWhatMoved sends no cursor that the run did not move, and neither shows
// nor sends back what is the server's own.
func TestCheckpointHoldsWhatMoved(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	b.state = map[string]json.RawMessage{"details": json.RawMessage(`{"at":7}`),
		"notes#catch_up":    json.RawMessage(`{"back":9}`),
		"$collection_scope": json.RawMessage(`{"since":"2026-01-01T00:00:00Z"}`)}
	b.mustRun(t)
	if got := b.starts(t); !slices.Equal(got, []string{`{"details":{"at":7}} 0`}) {
		t.Errorf("the connector was started with %q", got)
	}
	if got := b.moved; !slices.Equal(got, []string{"notes"}) {
		t.Errorf("the device sent cursors of %q", got)
	}
	b.mustHaveState(t, "notes", `{"n":3}`)
	b.mustHaveState(t, "details", `{"at":7}`)
	b.mustHaveState(t, "notes#catch_up", `{"back":9}`)
}

func TestTwoKindsOfBookmarks(t *testing.T) {
	state := cursors{"gone": jsontext.Value("null")}
	for _, c := range []slice.Cursor{
		{Stream: "notes", Mode: protocol.SteadyState, Cursor: jsontext.Value(`{"n":1}`)},
		{Stream: "notes", Mode: protocol.CatchUp, Cursor: jsontext.Value(`{"n":2}`)},
	} {
		state[stateKey(c)] = c.Cursor
	}
	steady, catchUp := splitState(state)
	if len(steady) != 1 || string(steady["notes"]) != `{"n":1}` || len(catchUp) != 1 ||
		string(catchUp["notes"]) != `{"n":2}` {
		t.Errorf("%s, %s", steady, catchUp)
	}
}

func TestConnectorGetsNothingOfTheCollector(t *testing.T) {
	c := &Collector{
		Profile: Profile{Variables: map[string]string{"DIARY_FILE": "profile"}},
		Lookup:  func(name string) (string, bool) { return "environment", true },
	}
	for _, name := range ownVariables {
		if value, ok := c.childVariable(name); ok {
			t.Errorf("a connector that declares %s gets %q", name, value)
		}
	}
	for name, want := range map[string]string{"DIARY_FILE": "profile", "DIARY_REGION": "environment"} {
		if got, _ := c.childVariable(name); got != want {
			t.Errorf("%s is %q, want the %s's", name, got, want)
		}
	}
}

func TestTokenIsNeverShown(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	b.profile.Token = WrapToken(secret)
	c := b.collector(t)
	r := b.mustRun(t)
	for _, text := range []string{fmt.Sprint(b.profile), fmt.Sprintf("%+v %#v", c.Profile, c.Profile),
		fmt.Sprintf("%+v", r), fmt.Sprintf("%+v", c.client())} {
		if strings.Contains(text, secret) {
			t.Errorf("the token shows in %s", text)
		}
	}
}

func TestSecondCollectorIsRefused(t *testing.T) {
	b := newBed(t)
	if err := os.MkdirAll(filepath.Dir(b.profile.Queue), 0o700); err != nil {
		t.Fatal(err)
	}
	// A collector that was killed leaves its number in the file.
	if err := os.WriteFile(b.profile.Queue+".lock", []byte("123456789012345\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := lockQueue(b.profile.Queue)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.release()
	_, err = b.collector(t).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("(process %d)", os.Getpid())) {
		t.Errorf("error %v does not name the holder", err)
	}
	if b.seen() != 0 {
		t.Error("the second collector spoke to the server")
	}
	c, waited := b.collector(t), b.waited
	c.Profile.Queue = filepath.Join(b.profile.Queue+".lock", "queue") // no folder
	c.Policy.AwaitLock = time.Minute
	if _, err := c.Run(t.Context()); err == nil || b.waited != waited {
		t.Errorf("a queue that cannot be locked: %v after %s", err, b.waited-waited)
	}
}

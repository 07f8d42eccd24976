package evidence

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestTrusted(t *testing.T) {
	now := time.Now()
	cases := []struct {
		device, source string
		revoked        *time.Time
		want           bool
	}{
		{StatusActive, StatusActive, nil, true},
		{StatusRevoked, StatusActive, nil, false},
		{StatusActive, StatusRevoked, nil, false},
		{StatusActive, StatusActive, &now, false},
		{"", StatusActive, nil, false},
		{StatusActive, "", nil, false},
	}
	for _, c := range cases {
		s := DeviceSource{DeviceStatus: c.device, Status: c.source, RevokedAt: c.revoked}
		if got := s.Trusted(); got != c.want {
			t.Errorf("%+v: %v", s, got)
		}
	}
}

func TestAccounted(t *testing.T) {
	for status, want := range map[string]bool{
		"collected": true, "inventory_only": true, "excluded": true, "deferred": true, "missing": true, "unsupported": true,
		"unavailable": true, "unaccounted": false, "": false, "Collected": false, "something_new": false,
	} {
		if got := (CoverageStore{Status: status}).Accounted(); got != want {
			t.Errorf("%q: %v", status, got)
		}
	}
}

func TestShortNeedsBothCounts(t *testing.T) {
	three, four := int64(3), int64(4)
	for _, c := range []struct {
		considered, covered *int64
		want                bool
	}{{&four, &three, true}, {&four, &four, false}, {&three, &four, false}, {&four, nil, false}, {nil, &three, false},
		{nil, nil, false}} {
		if got := (&Fact{Considered: c.considered, Covered: c.covered}).Short(); got != c.want {
			t.Errorf("%v of %v: %v", c.covered, c.considered, got)
		}
	}
}

func TestOutstanding(t *testing.T) {
	g := &Gaps{Groups: []GapGroup{{Stream: "photos", Count: 2}, {Stream: "albums", Count: 0}}}
	if !g.Outstanding("photos") || g.Outstanding("albums") || g.Outstanding("comments") {
		t.Error("outstanding gaps are misread")
	}
	if (*Gaps)(nil).Outstanding("photos") {
		t.Error("gaps that could not be read are counted")
	}
}

func TestWaiting(t *testing.T) {
	want := map[Lifecycle]bool{AttentionOpen: true, AttentionAcknowledged: true, AttentionInProgress: true}
	for _, l := range []Lifecycle{
		AttentionOpen, AttentionAcknowledged, AttentionInProgress, AttentionResolved, AttentionExpired, AttentionCancelled,
		AttentionSuperseded, "",
	} {
		if got := l.Waiting(); got != want[l] {
			t.Errorf("%q: %v", l, got)
		}
	}
}

// What a support file holds reads back as the same evidence, and nil stays nil.
func TestJSONKeepsWhatIsNotMeasured(t *testing.T) {
	files, err := filepath.Glob("../../view/testdata/base/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no evidence to read: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var first, second Evidence
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&first); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		again, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &second); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s changed on the way: %s", file, again)
		}
	}
	var empty Evidence
	if err := json.Unmarshal([]byte("{}"), &empty); err != nil || !reflect.DeepEqual(empty, Evidence{}) {
		t.Errorf("{} reads as %+v, %v", empty, err)
	}
}

func TestLocalDevice(t *testing.T) {
	byKind := Evidence{Connection: Connection{SourceKind: SourceLocalDevice}}
	byReport := Evidence{Device: &Device{}}
	if !byKind.LocalDevice() || !byReport.LocalDevice() || (&Evidence{}).LocalDevice() {
		t.Error("devices are misread")
	}
}

// A run with an expired lease is over, and so are its questions. The original evidence is not modified.
func TestDeadRunIsOver(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	until := now
	e := &Evidence{Active: &ActiveRun{ID: "run_2", StartedAt: now.Add(-time.Hour), LeaseUntil: &until},
		Attention: []Attention{{ID: "a", RunID: "run_2"}, {ID: "b", RunID: "run_1"}}}
	got := e.AsOf(now)
	if got.Active != nil || got.LastRun == nil || got.LastRun.Status != RunAbandoned || !got.LastRun.EndedAt.Equal(until) {
		t.Errorf("active %+v, last run %+v", got.Active, got.LastRun)
	}
	if len(got.Attention) != 1 || got.Attention[0].ID != "b" {
		t.Errorf("attention %+v", got.Attention)
	}
	if e.Active == nil || e.LastRun != nil || len(e.Attention) != 2 || e.Attention[0].ID != "a" {
		t.Errorf("the evidence was changed: %+v", e)
	}
	if same := e.AsOf(now.Add(-time.Second)); same != e {
		t.Error("a run under its lease is over")
	}
	e.Active.LeaseUntil = nil
	if e.AsOf(now) != e {
		t.Error("a run of which no lease is known is over")
	}
}

// A run that was asked for counts as one for a minute, in which a worker takes it up.
func TestSyncing(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	asked := now.Add(-requestGrace)
	for name, c := range map[string]struct {
		e    Evidence
		at   time.Time
		want bool
	}{
		"nothing":              {Evidence{}, now, false},
		"under way":            {Evidence{Active: &ActiveRun{}}, now, true},
		"asked for":            {Evidence{RequestedAt: &asked}, now.Add(-time.Second), true},
		"asked for, and waits": {Evidence{RequestedAt: &asked}, now, false},
		"provider waits": {
			Evidence{RequestedAt: &asked, Waits: []SenderWait{{Until: now}}}, now.Add(-time.Second), false,
		},
		"provider waited": {Evidence{RequestedAt: &asked, Waits: []SenderWait{{Until: now.Add(-time.Second)}}},
			now.Add(-time.Second), true},
	} {
		if got := c.e.Syncing(c.at); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

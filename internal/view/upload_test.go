package view

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// The device's counts are sums over trusted sources: only numbers and one time.
func TestOutboxCounts(t *testing.T) {
	t.Attr("spec", "CH-11")
	t.Attr("spec", "CH-11.1")
	t.Attr("spec", "CH-11.2")
	t.Attr("spec", "CH-11.3")
	e := stalled("cin_1")
	e.Device.Sources = append(e.Device.Sources,
		source("src_8", "/home/ada/queue", evidence.HeartbeatRetrying, 4,
			evidence.OutboxCounts{Pending: 1, Retrying: 2, StaleLeases: 3, DeadLetter: 4, BacklogOpen: 5, Leased: 6,
				Succeeded: 7, Total: 28, OldestPendingAt: ago(30 * time.Hour)}))
	revoked := source("src_9", "barn", evidence.HeartbeatHealthy, 9,
		evidence.OutboxCounts{Pending: 1000, OldestPendingAt: ago(99 * time.Hour)})
	revoked.DeviceStatus = evidence.StatusRevoked
	e.Device.Sources = append(e.Device.Sources, revoked)
	got := judged(e).Local.OutboxCounts
	want := evidence.OutboxCounts{Pending: 12, Retrying: 2, StaleLeases: 3, DeadLetter: 7, BacklogOpen: 5, Leased: 6,
		Succeeded: 907, Total: 942, OldestPendingAt: ago(30 * time.Hour)}
	if got == nil || got.OldestPendingAt == nil || !got.OldestPendingAt.Equal(*want.OldestPendingAt) {
		t.Fatalf("counts %+v", got)
	}
	body, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatal(err)
	}
	for name, value := range members {
		if n, ok := value.(float64); ok && n >= 0 && n == float64(int64(n)) {
			continue
		}
		if s, ok := value.(string); ok && name == "oldest_pending_at" {
			if _, err := time.Parse(time.RFC3339, s); err == nil {
				continue
			}
		}
		t.Errorf("%s is %v", name, value)
	}
	flat := *got
	flat.OldestPendingAt, want.OldestPendingAt = nil, nil
	if flat != want {
		t.Errorf("counts %+v, want %+v", flat, want)
	}

	e.Device.Sources = []evidence.DeviceSource{revoked}
	if c := judged(e); c.Local.OutboxCounts != nil || c.Local.RecordsPending != nil {
		t.Errorf("counts of a revoked device: %+v", c.Local)
	}
	for name, kind := range kinds {
		e := kind("cin_1")
		if local := judged(e).Local; (local != nil) != e.LocalDevice() {
			t.Errorf("%s: local progress %+v", name, local)
		}
	}
}

// Work that drains without the owner is shown as calm; stalled work is not.
func TestBackgroundUpload(t *testing.T) {
	t.Attr("spec", "CH-31")
	t.Attr("spec", "CH-31.1")
	t.Attr("spec", "CH-31.2")
	for name, kind := range kinds {
		c := judged(kind("cin_1"))
		if (c.Upload != nil) != (name == "uploading") {
			t.Errorf("%s: upload %+v", name, c.Upload)
		}
		if c.Upload != nil && c.Recovery != nil {
			t.Errorf("%s has both", name)
		}
	}
	u := judged(uploading("cin_1")).Upload
	if u.RecordsPending != 8 || !slices.Equal(u.Hosts, []string{"attic"}) || !strings.Contains(u.Sentence, "attic") ||
		u.LastHeartbeatAt == nil || !u.LastHeartbeatAt.Equal(*ago(2 * time.Minute)) || u.LastIngestAt == nil {
		t.Errorf("upload %+v", u)
	}
	body, _ := json.Marshal(u)
	for _, word := range []string{"pdpp-local-collector", "recover", "src_7"} {
		if strings.Contains(string(body), word) {
			t.Errorf("upload mentions %q: %s", word, body)
		}
	}
	e := uploading("cin_1")
	e.Device.Sources = append(e.Device.Sources,
		source("src_8", "", evidence.HeartbeatHealthy, 2, evidence.OutboxCounts{Pending: 2}))
	if u := judged(e).Upload; u.RecordsPending != 10 ||
		u.Sentence != "Saved work is uploading from the hosts that hold the data." {
		t.Errorf("two hosts: %+v", u)
	}
	e.Device.Sources = e.Device.Sources[:1]
	e.Device.Sources[0].Host = ""
	if u := judged(e).Upload; u.Sentence != "Saved work is uploading from the host that holds the data." ||
		len(u.Hosts) != 0 {
		t.Errorf("no name: %+v", u)
	}
}

func TestCatchUp(t *testing.T) {
	for name, kind := range kinds {
		if c := judged(kind("cin_1")); (c.CatchUp != nil) != (name == "pressed") {
			t.Errorf("%s: catch-up %+v", name, c.CatchUp)
		}
	}
	got := judged(pressed("cin_1")).CatchUp
	if got.Pending != 37 || got.OtherPending != 4 || got.Recovered == nil || *got.Recovered != 5 {
		t.Errorf("catch-up %+v", got)
	}
	quiet := map[string]func(*evidence.Evidence){
		"drained":      func(e *evidence.Evidence) { e.Gaps.Groups = e.Gaps.Groups[1:] },
		"not measured": func(e *evidence.Evidence) { e.Gaps = nil },
		"paused":       func(e *evidence.Evidence) { e.Schedule.Enabled = false },
		"cannot arrive": func(e *evidence.Evidence) {
			e.Streams[0].Fact.Skip = &evidence.Skip{Reason: "layout_changed", Action: protocol.NotRetriable}
		},
		"nothing there": func(e *evidence.Evidence) { e.Gaps.Groups = nil },
	}
	for name, set := range quiet {
		e := pressed("cin_1")
		set(&e)
		if c := judged(e).CatchUp; c != nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

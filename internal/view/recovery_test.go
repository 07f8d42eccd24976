package view

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

func judged(e evidence.Evidence) Connection { return Judge(&e, noon, true) }

// A stalled device is shown with words and commands; nothing else is.
func TestRecoveryOnlyForStalledDevices(t *testing.T) {
	t.Attr("spec", "CH-08.1")
	t.Attr("spec", "CH-08.3")
	for name, kind := range kinds {
		c := judged(kind("cin_1"))
		isStalled := c.Health.Axes.Outbox == health.OutboxStalled
		if isStalled != (name == "stalled") {
			t.Fatalf("%s: outbox is %s", name, c.Health.Axes.Outbox)
		}
		if (c.Recovery != nil) != isStalled {
			t.Errorf("%s: recovery %+v", name, c.Recovery)
		}
	}
	c := judged(stalled("cin_1"))
	condition := c.Health.Condition(health.LocalExporterAvailable)
	if r := c.Recovery; r.Remedy == "" || r.Remedy != condition.Remediation.Label || len(r.Commands) == 0 ||
		r.Commands[0].Command == "" {
		t.Errorf("recovery %+v", r)
	}
}

var oneCommand = regexp.MustCompile(`^pdpp-local-collector (run|recover|doctor) --source-instance-id [A-Za-z0-9_-]` +
	`+( --apply)?$`)

// For every cause the owner reads which host, which commands and why.
func TestRecoveryNamesHostCommandsAndPurpose(t *testing.T) {
	t.Attr("spec", "CH-08.2")
	t.Attr("spec", "CH-23.9")
	t.Attr("spec", "CH-23.10")
	causes := map[health.StalledCause]func(*evidence.DeviceSource){
		health.DeadLetterBacklog: func(*evidence.DeviceSource) {},
		health.StateReadFailed:   func(s *evidence.DeviceSource) { s.Heartbeat.Outbox.DeadLetter = 0 },
		health.StalePending: func(s *evidence.DeviceSource) {
			s.Heartbeat.Status, s.Heartbeat.Outbox.DeadLetter, s.Heartbeat.At = evidence.HeartbeatHealthy, 0, *ago(2 * time.Hour)
		},
	}
	for cause, set := range causes {
		e := stalled("cin_secret_path")
		set(&e.Device.Sources[0])
		r := judged(e).Recovery
		if r == nil || r.Cause != string(cause) {
			t.Fatalf("%s: recovery %+v", cause, r)
		}
		if !r.Available || r.Host != "attic" || r.SourceInstanceID != "src_7" || r.Summary == "" || r.Label == "" ||
			len(r.Commands) == 0 {
			t.Errorf("%s: %+v", cause, r)
		}
		for _, c := range r.Commands {
			if !oneCommand.MatchString(c.Command) || !strings.Contains(c.Command, " src_7") ||
				strings.Contains(c.Command, "cin_") {
				t.Errorf("%s: command %q", cause, c.Command)
			}
			if c.Purpose == "" || c.Label == "" {
				t.Errorf("%s: command without a purpose: %+v", cause, c)
			}
		}
	}
	e := stalled("cin_1")
	e.Device.Sources[0].Host = ""
	if host := judged(e).Recovery.Host; host != "the host that holds the data" {
		t.Errorf("host %q", host)
	}
}

// Without exactly one plain source instance there is nothing to copy.
func TestRecoveryIsUnavailableWhenTheTargetIsNotClear(t *testing.T) {
	t.Attr("spec", "CH-23.10")
	blocked := source("src_8", "barn", evidence.HeartbeatBlocked, 1, evidence.OutboxCounts{Pending: 1})
	revoked := blocked
	revoked.RevokedAt = ago(time.Hour)
	tests := map[string]struct {
		sources   []evidence.DeviceSource
		available bool
	}{
		"one":                  {[]evidence.DeviceSource{blocked}, true},
		"one beside a revoked": {[]evidence.DeviceSource{revoked, blocked}, true},
		"several": {[]evidence.DeviceSource{blocked,
			source("src_9", "", evidence.HeartbeatHealthy, 0, evidence.OutboxCounts{})}, false},
	}
	for _, id := range []string{"", "a b", "x;rm", "$(id)", "--apply", "src/7", "ä"} {
		odd := blocked
		odd.ID = id
		tests["id "+id] = struct {
			sources   []evidence.DeviceSource
			available bool
		}{[]evidence.DeviceSource{odd}, false}
	}
	for name, tt := range tests {
		e := stalled("cin_1")
		e.Device.Sources = tt.sources
		r := judged(e).Recovery
		if r == nil || r.Available != tt.available || (len(r.Commands) > 0) != tt.available ||
			(r.UnavailableReason == "") != tt.available {
			t.Errorf("%s: %+v", name, r)
		}
		if !tt.available && r != nil && r.SourceInstanceID != "" {
			t.Errorf("%s: names %q", name, r.SourceInstanceID)
		}
	}
	// A verdict that asks for a recovery while no source is trusted names none.
	e := stalled("cin_1")
	c := judged(e)
	e.Device.Sources[0].Status = evidence.StatusRevoked
	if r := deviceRecovery(&e, &c); r.Available || len(r.Commands) != 0 || r.UnavailableReason != noCollector {
		t.Errorf("none trusted: %+v", r)
	}
}

// The scale counts only stuck work.
func TestScaleCountsOnlyStuckWork(t *testing.T) {
	r := judged(stalled("cin_1")).Recovery
	want := []StuckCount{{"pending", "pending", 11}, {"failed_uploads", "failed uploads", 3}}
	if !slices.Equal(r.Scale, want) {
		t.Errorf("scale %+v", r.Scale)
	}
	all := stuckCounts(&evidence.OutboxCounts{Pending: 1, Retrying: 2, StaleLeases: 3, DeadLetter: 4, BacklogOpen: 5,
		Leased:    6,
		Succeeded: 7, Total: 28})
	sum := int64(0)
	for _, c := range all {
		sum += c.Count
	}
	if len(all) != 5 || sum != 15 {
		t.Errorf("all %+v", all)
	}
	e := stalled("cin_1")
	e.Device.Sources[0].Heartbeat.Outbox = nil
	if r := judged(e).Recovery; len(r.Scale) != 0 {
		t.Errorf("nothing was counted: %+v", r.Scale)
	}
}

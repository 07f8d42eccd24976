package view

import (
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// Recovery is the verdict's remediation for a stalled device, with commands to copy. The owner runs them on the
// device; this program never contacts it.
type Recovery struct {
	Cause   string `json:"cause"`
	Label   string `json:"label"`
	Summary string `json:"summary"`
	// Remedy is the label of the failing condition's remedy.
	Remedy string `json:"remedy"`
	// Host is the owner's name for the machine, or a description.
	Host string `json:"host"`
	// Available is false if it is unclear which collector is meant. Then Commands is empty, because a command could
	// reach the wrong queue.
	Available         bool              `json:"available"`
	UnavailableReason string            `json:"unavailable_reason,omitempty"`
	SourceInstanceID  string            `json:"source_instance_id,omitempty"`
	Commands          []RecoveryCommand `json:"commands"`
	// Scale is how much work is stuck; empty if no device reported it.
	Scale           []StuckCount `json:"scale"`
	LastHeartbeatAt *time.Time   `json:"last_heartbeat_at"`
}

// RecoveryCommand is a command to copy and its purpose.
type RecoveryCommand struct {
	Kind    string `json:"kind"`
	Label   string `json:"label"`
	Purpose string `json:"purpose"`
	Command string `json:"command"`
}

// StuckCount is a positive number of items that are stuck in one way.
type StuckCount struct {
	Kind  string `json:"kind"`
	Label string `json:"label"`
	Count int64  `json:"count"`
}

// anyHost describes a machine without a name.
const anyHost = "the host that holds the data"

// Why there are no commands.
const (
	noCollector       = "No active collector is enrolled for this connection, so there is no command to copy."
	severalCollectors = "Several collectors feed this connection, so one command cannot be right for all. Look on each " +
		"host."
	oddCollectorName = "The collector's name is not one that can be copied safely. Look on the host that holds the data."
)

const localDevice = "local_device"

// deviceRemediation returns the verdict's action for a stalled device, or nil.
func deviceRemediation(v *verdict.Verdict) *verdict.Remediation {
	for i := range v.RequiredActions {
		if r := v.RequiredActions[i].Remediation; r != nil && r.Target.Kind == localDevice {
			return r
		}
	}
	return nil
}

// deviceRecovery fills in the commands. They contain the id of the connection's one trusted source instance, never
// that of the connection.
func deviceRecovery(e *evidence.Evidence, c *Connection) *Recovery {
	r := deviceRemediation(&c.Verdict)
	if r == nil {
		return nil
	}
	out := &Recovery{Cause: r.Cause, Label: r.Label, Summary: r.Summary, Host: anyHost, Commands: []RecoveryCommand{},
		Scale: []StuckCount{}}
	out.Remedy = backlogRemedy(&c.Health)
	if c.Local != nil {
		out.LastHeartbeatAt = c.Local.LastHeartbeatAt
		out.Scale = stuckCounts(c.Local.OutboxCounts)
	}
	sources := trustedSources(e.Device)
	switch {
	case len(sources) == 0:
		out.UnavailableReason = noCollector
		return out
	case len(sources) > 1:
		out.UnavailableReason = severalCollectors
		return out
	case !plainID(sources[0].ID):
		out.UnavailableReason = oddCollectorName
		return out
	}
	s := sources[0]
	if s.Host != "" {
		out.Host = s.Host
	}
	out.Available, out.SourceInstanceID = true, s.ID
	for _, command := range r.Commands {
		out.Commands = append(out.Commands, RecoveryCommand{
			Kind: command.Kind, Label: command.Label, Purpose: command.Purpose,
			Command: strings.ReplaceAll(command.Template, verdict.SourceInstancePlaceholder, s.ID),
		})
	}
	return out
}

// backlogRemedy returns the label of the first failing condition that is fixed on the device, or "".
func backlogRemedy(s *health.Snapshot) string {
	for i := range s.Conditions {
		c := &s.Conditions[i]
		if c.Fails() && c.Remediation != nil && c.Remediation.Action == health.ClearBacklog {
			return c.Remediation.Label
		}
	}
	return ""
}

func trustedSources(d *evidence.Device) []*evidence.DeviceSource {
	if d == nil {
		return nil
	}
	var out []*evidence.DeviceSource
	for i := range d.Sources {
		if s := &d.Sources[i]; s.Trusted() {
			out = append(out, s)
		}
	}
	return out
}

// plainID reports whether an id is safe in a command line: letters, digits, underscores and hyphens, not starting
// with a hyphen.
func plainID(id string) bool {
	if id == "" || id[0] == '-' {
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// stuckCounts lists what waits, without delivered items and totals.
func stuckCounts(o *evidence.OutboxCounts) []StuckCount {
	out := []StuckCount{}
	if o == nil {
		return out
	}
	for _, c := range [...]StuckCount{
		{"pending", "pending", o.Pending},
		{"retrying", "retrying", o.Retrying},
		{"stale_leases", "interrupted", o.StaleLeases},
		{"failed_uploads", "failed uploads", o.DeadLetter},
		{"backlog", "in the backlog", o.BacklogOpen},
	} {
		if c.Count > 0 {
			out = append(out, c)
		}
	}
	return out
}

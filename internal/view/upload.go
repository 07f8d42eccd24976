package view

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// BackgroundUpload means that saved work is being uploaded from a device. It requires no action.
type BackgroundUpload struct {
	Sentence        string     `json:"sentence"`
	RecordsPending  int64      `json:"records_pending"`
	Hosts           []string   `json:"hosts"` // those with pending work that have a name
	LastHeartbeatAt *time.Time `json:"last_heartbeat_at"`
	LastIngestAt    *time.Time `json:"last_ingest_at"`
}

const (
	uploadingFromHost = "Saved work is uploading from "
	anyHosts          = "the hosts that hold the data"
)

// backgroundUpload describes pending work that needs no action, or returns nil. A stalled device has a Recovery
// instead.
func backgroundUpload(e *evidence.Evidence, c *Connection) *BackgroundUpload {
	if c.Recovery != nil || c.Local == nil || c.Local.RecordsPending == nil || *c.Local.RecordsPending <= 0 {
		return nil
	}
	u := &BackgroundUpload{
		RecordsPending: *c.Local.RecordsPending, Hosts: []string{},
		LastHeartbeatAt: c.Local.LastHeartbeatAt, LastIngestAt: c.Local.LastIngestAt,
	}
	uploading := 0
	for _, s := range trustedSources(e.Device) {
		if s.Heartbeat == nil || s.Heartbeat.Pending == nil || *s.Heartbeat.Pending <= 0 {
			continue
		}
		uploading++
		if s.Host != "" {
			u.Hosts = append(u.Hosts, s.Host)
		}
	}
	where := anyHost
	switch {
	case uploading == 1 && len(u.Hosts) == 1:
		where = u.Hosts[0]
	case uploading > 1:
		where = anyHosts
	}
	u.Sentence = uploadingFromHost + where + "."
	return u
}

// CatchUp is how much is left to fetch from a source that asked for a slower pace. While OtherPending is positive,
// clients must not claim that the connection has caught up.
type CatchUp struct {
	Pending             int64  `json:"pending"`
	PendingIsFloor      bool   `json:"pending_is_floor"`
	Recovered           *int64 `json:"recovered"`
	OtherPending        int64  `json:"other_pending"`
	OtherPendingIsFloor bool   `json:"other_pending_is_floor"`
}

// catchUp returns nil if nothing is pending, the backlog was not measured or the connection is not catching up.
func catchUp(s *health.Snapshot) *CatchUp {
	b := s.Backlog
	catching := s.Axes.Coverage == health.RetryableGap || s.Disposition == health.DispositionResumable
	quiet := s.State == health.Healthy || s.State == health.Idle
	if b == nil || b.Pending <= 0 || !catching || quiet {
		return nil
	}
	return &CatchUp{
		Pending: b.Pending, PendingIsFloor: b.PendingIsFloor, Recovered: b.Recovered,
		OtherPending: b.PendingOther, OtherPendingIsFloor: b.PendingOtherIsFloor,
	}
}

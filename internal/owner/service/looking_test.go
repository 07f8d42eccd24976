package service

import (
	"context"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func TestRuntimeAndDevices(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.worker()
	started := b.at
	b.at = b.at.Add(24 * time.Hour)
	r, err := b.Runtime(b.ctx())
	b.must(err)
	if r.Version != "1.0.0" || r.Database != "sqlite" || !r.StartedAt.Equal(started) || len(r.Workers) != 1 || r.Workers[0].Alive {
		t.Errorf("runtime %+v", r)
	}
	b.must(b.Store.PutDevice(b.ctx(), store.Device{ID: "dev_1", DisplayName: "Desk", Status: "active", CreatedAt: b.at, UpdatedAt: b.at}))
	devices, err := b.Devices(b.ctx())
	b.must(err)
	if len(devices) != 1 || devices[0].DisplayName != "Desk" || devices[0].Sources == nil {
		t.Errorf("devices %+v", devices)
	}
}

// planted gives evidence that no database holds.
type planted struct{ all []evidence.Evidence }

func (p planted) Evidence(context.Context, evidence.Query) ([]evidence.Evidence, error) {
	return p.all, nil
}

func (planted) Runtime(context.Context) (evidence.Runtime, error) { return evidence.Runtime{}, nil }

// Connections are judged by the reader that the service is given, word for word.
func TestVerdictsComeFromTheReader(t *testing.T) {
	t.Parallel()
	e := evidence.Evidence{Connection: evidence.Connection{ID: "cin_moon", DisplayName: "Moon", Status: evidence.StatusActive}, Gaps: &evidence.Gaps{}}
	b := newBed(t, func(c *Config) { c.Reader = planted{[]evidence.Evidence{e}} })
	o, err := b.Overview(b.ctx())
	b.must(err)
	why, err := b.Why(b.ctx(), "cin_moon")
	b.must(err)
	if len(o.Connections) != 1 || o.Connections[0].Verdict.ForwardStatement == "" || o.Connections[0].Verdict.ForwardStatement != why.Connection.Verdict.ForwardStatement {
		t.Errorf("overview %+v", o)
	}
	_, err = b.Why(b.ctx(), "cin_none")
	wantError(t, err, api.CodeNotFound, "")
}

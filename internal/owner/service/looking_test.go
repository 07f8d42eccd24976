package service

import (
	"context"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func TestRuntimeAndDevices(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	b.worker()
	started := b.at
	b.at = b.at.Add(24 * time.Hour)
	r, err := b.Runtime(b.ctx())
	b.requireNoError(err)
	if r.Version != "1.0.0" || r.Database != "sqlite" || !r.StartedAt.Equal(started) || len(r.Workers) != 1 ||
		r.Workers[0].Alive {
		t.Errorf("runtime %+v", r)
	}
	b.requireNoError(b.Store.PutDevice(b.ctx(), store.Device{ID: "dev_1", DisplayName: "Desk", Status: "active",
		CreatedAt: b.at,
		UpdatedAt: b.at}))
	devices, err := b.Devices(b.ctx())
	b.requireNoError(err)
	if len(devices) != 1 || devices[0].DisplayName != "Desk" || devices[0].Sources == nil {
		t.Errorf("devices %+v", devices)
	}
}

// plantedReader returns evidence that is not in the database.
type plantedReader struct{ all []evidence.Evidence }

func (p plantedReader) Evidence(context.Context, evidence.Query) ([]evidence.Evidence, error) {
	return p.all, nil
}

func (plantedReader) Runtime(context.Context) (evidence.Runtime, error) {
	return evidence.Runtime{}, nil
}

// The verdicts come from the configured reader, word for word.
func TestVerdictsComeFromTheReader(t *testing.T) {
	t.Parallel()
	e := evidence.Evidence{Connection: evidence.Connection{ID: "cin_moon", DisplayName: "Moon",
		Status: evidence.StatusActive}, Gaps: &evidence.Gaps{}}
	b := newServiceHarness(t, func(c *Config) { c.Reader = plantedReader{[]evidence.Evidence{e}} })
	o, err := b.Overview(b.ctx())
	b.requireNoError(err)
	why, err := b.Why(b.ctx(), "cin_moon")
	b.requireNoError(err)
	if len(o.Connections) != 1 || o.Connections[0].Verdict.ForwardStatement == "" ||
		o.Connections[0].Verdict.ForwardStatement != why.Connection.Verdict.ForwardStatement {
		t.Errorf("overview %+v", o)
	}
	_, err = b.Why(b.ctx(), "cin_none")
	wantError(t, err, api.CodeNotFound, "")
}

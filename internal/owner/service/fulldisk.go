package service

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/disk"
	"github.com/pdpp-go/pdpp/internal/view"
)

// diskWatch adds a full disk to the faults of the runtime. It is measured at each look, because a full
// disk cannot be recorded in the database that is on it.
type diskWatch struct {
	view.EvidenceReader
	config *Config
}

func (d diskWatch) Runtime(ctx context.Context) (evidence.Runtime, error) {
	rt, err := d.EvidenceReader.Runtime(ctx)
	if err != nil || d.config.Home == "" {
		return rt, err
	}
	if free, err := d.config.FreeSpace(d.config.Home); err == nil && free < disk.Full {
		rt.Components = append(rt.Components, evidence.Component{Name: "disk", Status: evidence.ProbeFailed,
			Reason: "disk_full", At: d.config.Now()})
	}
	return rt, nil
}

package service

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/pace"
)

// paceRuns is how many runs are told of unless it is said.
const paceRuns = 8

// Pace gives how fast the newest runs collected.
func (s *Service) Pace(ctx context.Context, id string, runs int) (api.Pace, error) {
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return api.Pace{}, err
	}
	if runs <= 0 {
		runs = paceRuns
	}
	out, err := pace.Read(ctx, s.Store, conn, min(runs, api.PaceRuns), s.Now())
	return out, faults.Error(err, "read the pace")
}

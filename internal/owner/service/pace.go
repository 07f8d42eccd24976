package service

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/pace"
)

// defaultPaceRuns is how many runs Pace includes by default.
const defaultPaceRuns = 8

// Pace returns how fast the newest runs collected.
func (s *Service) Pace(ctx context.Context, id string, runs int) (api.Pace, error) {
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return api.Pace{}, err
	}
	if runs <= 0 {
		runs = defaultPaceRuns
	}
	out, err := pace.ReadPace(ctx, s.Store, conn, min(runs, api.PaceRuns), s.Now())
	return out, faults.OwnerError(err, "read the pace")
}

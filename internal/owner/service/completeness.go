package service

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// Records returns a page of one stream of one connection. If the query asks for it, the page includes how complete
// the stream is.
func (s *Service) Records(ctx context.Context, q api.RecordQuery) (api.RecordPage, error) {
	var result *api.Completeness
	if q.Completeness { // read before the records, so that they contain at least what is reported
		var err error
		if result, err = s.completeness(ctx, q); err != nil {
			return api.RecordPage{}, err
		}
	}
	page, err := s.Collection.Records(ctx, q)
	page.Completeness = result
	return page, err
}

// completeness returns the same completeness that /v1 responses report to a client.
func (s *Service) completeness(ctx context.Context, q api.RecordQuery) (*api.Completeness, error) {
	views, err := s.GrantService.Views(ctx, grants.Access{}, q.Stream, q.ConnectionID)
	if err != nil || len(views) != 1 {
		return nil, faults.OwnerError(err, "find the stream")
	}
	measured, err := s.GrantService.Completeness(ctx, views,
		grants.Reading{Asked: func(grants.StreamView) (r grants.Range) {
			bound := func(at time.Time) *time.Time {
				if at.IsZero() {
					return nil
				}
				return &at
			}
			return grants.Range{Since: bound(q.Since), Until: bound(q.Until)}
		}})
	if err != nil {
		return nil, faults.OwnerError(err, "read what is covered")
	}
	out := &api.Completeness{AsOf: measured[0].AsOf, Whole: string(measured[0].Whole), Covered: []api.Span{}}
	for _, c := range measured[0].Covered {
		out.Covered = append(out.Covered, api.Span{From: c.Since, To: c.Until})
	}
	return out, nil
}

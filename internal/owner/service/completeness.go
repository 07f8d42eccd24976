package service

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// Records gives a page of one stream of one connection, and how complete it is when that is asked.
func (s *Service) Records(ctx context.Context, q api.RecordQuery) (api.RecordPage, error) {
	var told *api.Completeness
	if q.Completeness { // before the records are read: they have at least what is told
		var err error
		if told, err = s.completeness(ctx, q); err != nil {
			return api.RecordPage{}, err
		}
	}
	page, err := s.Collection.Records(ctx, q)
	page.Completeness = told
	return page, err
}

// completeness tells the owner what the answers of /v1 tell a client.
func (s *Service) completeness(ctx context.Context, q api.RecordQuery) (*api.Completeness, error) {
	views, err := s.GrantService.Views(ctx, grants.Access{}, q.Stream, q.ConnectionID)
	if err != nil || len(views) != 1 {
		return nil, faults.Error(err, "find the stream")
	}
	told, err := s.GrantService.Completeness(ctx, views, grants.Reading{Asked: func(grants.View) (r grants.Range) {
		bound := func(at time.Time) *time.Time {
			if at.IsZero() {
				return nil
			}
			return &at
		}
		return grants.Range{Since: bound(q.Since), Until: bound(q.Until)}
	}})
	if err != nil {
		return nil, faults.Error(err, "read what is covered")
	}
	out := &api.Completeness{AsOf: told[0].AsOf, Whole: string(told[0].Whole), Covered: []api.Span{}}
	for _, c := range told[0].Covered {
		out.Covered = append(out.Covered, api.Span{From: c.Since, To: c.Until})
	}
	return out, nil
}

package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/runview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	usualGaps      = 100
	maxGapsPerPage = 100_000
	// shortestGapPrefix is the shortest part of an id that distinguishes the gaps of a list.
	shortestGapPrefix = len("gap_") + 10
)

// Gaps lists gaps, the oldest first.
func (s *Service) Gaps(ctx context.Context, q api.GapQuery) (api.GapPage, error) {
	if q.ConnectionID != "" {
		if _, err := s.find.Connection(ctx, q.ConnectionID); err != nil {
			return api.GapPage{}, err
		}
	}
	if q.Status != "" && !slices.Contains(protocol.GapStatuses, protocol.GapStatus(q.Status)) {
		return api.GapPage{}, api.Invalid("status", "There is no such status of a gap.",
			"Leave it out, or use pending, in_progress, recovered or terminal.")
	}
	if q.Limit <= 0 {
		q.Limit = usualGaps
	}
	q.Limit = min(q.Limit, maxGapsPerPage)
	gaps, err := s.Store.ListGaps(ctx, store.GapQuery{
		ConnectionID: q.ConnectionID, Stream: q.Stream, Status: protocol.GapStatus(q.Status), Missing: q.Status == "",
		Limit: q.Limit + 1,
	})
	if err != nil {
		return api.GapPage{}, faults.OwnerError(err, "list the gaps")
	}
	page := api.GapPage{Gaps: []api.Gap{}, More: len(gaps) > q.Limit}
	declared := s.find.ManifestLibrary()
	for _, g := range gaps[:min(len(gaps), q.Limit)] {
		m, err := declared.ManifestOf(ctx, g.ConnectorID)
		if err != nil {
			return api.GapPage{}, err
		}
		page.Gaps = append(page.Gaps, runview.DescribeGap(m, g))
	}
	if q.ConnectionID != "" {
		left, err := s.LeftOutOf(ctx, q.ConnectionID)
		if err != nil {
			return api.GapPage{}, err
		}
		page.LeftOut = left.All
	}
	return page, nil
}

// Gap returns the gap with an id, or with an id that starts with the argument.
func (s *Service) Gap(ctx context.Context, id string) (api.Gap, error) {
	g, err := s.findGapByPrefix(ctx, id)
	if err != nil {
		return api.Gap{}, err
	}
	return s.describeGap(ctx, g)
}

// RetryGap lets the next run try it again.
func (s *Service) RetryGap(ctx context.Context, id string) (api.Gap, error) {
	return s.decideGap(ctx, id, func(id string) (store.Gap, error) { return s.Store.RetryGap(ctx, id, s.Now()) })
}

// IgnoreGap stops trying.
func (s *Service) IgnoreGap(ctx context.Context, id, why string) (api.Gap, error) {
	if strings.TrimSpace(why) == "" {
		return api.Gap{}, api.Invalid("reason", "Ignoring a gap needs a reason.", "Say why it may stay missing.")
	}
	return s.decideGap(ctx, id, func(id string) (store.Gap, error) { return s.Store.IgnoreGap(ctx, id, why, s.Now()) })
}

func (s *Service) decideGap(ctx context.Context, id string, decide func(id string) (store.Gap, error)) (api.Gap,
	error) {
	g, err := s.findGapByPrefix(ctx, id)
	if err != nil {
		return api.Gap{}, err
	}
	if g.Status == protocol.GapRecovered {
		return api.Gap{}, &api.Error{Status: http.StatusConflict, Code: api.CodeGapRecovered,
			Message: fmt.Sprintf("Gap %s is closed: its item has been fetched.", g.ID[:min(len(g.ID), shortestGapPrefix)]),
			Next:    "There is nothing to decide."}
	}
	if g, err = decide(g.ID); err != nil {
		return api.Gap{}, faults.OwnerError(err, "decide about the gap")
	}
	return s.describeGap(ctx, g)
}

func (s *Service) describeGap(ctx context.Context, g store.Gap) (api.Gap, error) {
	m, err := s.find.StoredManifest(ctx, g.ConnectorID)
	return runview.DescribeGap(m, g), err
}

// findGapByPrefix finds the gap of an id, or of the beginning of one.
func (s *Service) findGapByPrefix(ctx context.Context, id string) (store.Gap, error) {
	g, err := s.Store.Gap(ctx, id)
	if !errors.Is(err, store.ErrNotFound) {
		return g, faults.OwnerError(err, "read the gap")
	}
	missing := api.NotFound(fmt.Sprintf("There is no gap %.80q.", id), "Choose one of the gaps that are listed.")
	if len(id) < shortestGapPrefix {
		return g, missing
	}
	all, err := s.Store.ListGaps(ctx, store.GapQuery{Limit: maxGapsPerPage})
	if err != nil {
		return g, faults.OwnerError(err, "list the gaps")
	}
	all = slices.DeleteFunc(all, func(g store.Gap) bool { return !strings.HasPrefix(g.ID, id) })
	switch len(all) {
	case 0:
		return g, missing
	case 1:
		return all[0], nil
	default:
		return g, api.Invalid("gap_id", fmt.Sprintf("%.80q means several gaps.", id), "Use the whole id.")
	}
}

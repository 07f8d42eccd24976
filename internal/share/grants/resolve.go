package grants

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

// resolve finds the connections that fit what an app asks for. It looks only at those
// that were there when the app asked, so that what the owner sees is what is granted.
func (b *Service) resolve(ctx context.Context, kept store.GrantRequest) (Request, error) {
	r := Request{
		ID: kept.ID, ClientID: kept.ClientID, ClientName: kept.ClientName, RedirectURI: kept.RedirectURI,
		Purpose: kept.Purpose, Mode: kept.Mode, ExpiresAt: kept.GrantExpires,
	}
	// However long an app asks for, more than a year is for the owner to choose.
	if year := kept.CreatedAt.AddDate(1, 0, 0); r.ExpiresAt == nil || r.ExpiresAt.After(year) {
		r.ExpiresAt = &year
	}
	var wants []Want
	if err := json.Unmarshal(kept.Scope, &wants); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	all, err := b.store.ListConnections(ctx)
	if err != nil {
		return Request{}, fmt.Errorf("list connections: %w", err)
	}
	all = slices.DeleteFunc(all, func(c store.Connection) bool { return c.CreatedAt.After(kept.CreatedAt) })
	for _, w := range wants {
		found, err := b.fitting(ctx, w, all)
		if err != nil {
			return Request{}, err
		}
		if len(found) == 0 {
			r.Missing = append(r.Missing, cmp.Or(w.Stream.Stream, w.Profile))
		}
		for _, s := range found {
			if !slices.ContainsFunc(r.Scope, func(o Stream) bool { return o.ConnectionID == s.ConnectionID && o.Stream == s.Stream }) && len(r.Scope) < maxStreams {
				r.Scope = append(r.Scope, s)
			}
		}
	}
	return r, nil
}

// fitting gives the streams that can be granted for one want. A field that a stream
// does not have is left out; a stream without a time cannot be bounded by one, and does
// not fit.
func (b *Service) fitting(ctx context.Context, w Want, all []store.Connection) ([]Stream, error) {
	var found []Stream
	for _, c := range all {
		if w.ConnectionID != "" && c.ID != w.ConnectionID {
			continue
		}
		src, err := b.sources.of(ctx, c.ConnectorID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find manifest: %w", err)
		}
		if w.Connector != "" && w.Connector != c.ConnectorID && w.Connector != src.manifest.ConnectorID && w.Connector != src.manifest.Key() {
			continue
		}
		wanted := []Stream{w.Stream}
		if w.Profile != "" {
			wanted = src.profile(w.Profile)
		}
		for _, s := range wanted {
			s.ConnectionID, s.Since, s.Until = c.ID, w.Since, w.Until
			asked := len(s.Fields)
			s.Fields = slices.DeleteFunc(slices.Clone(s.Fields), func(f string) bool {
				return !strings.HasPrefix(f, ViewMark) && !slices.Contains(src.streams[s.Stream].fields, f)
			})
			if asked > 0 && len(s.Fields) == 0 {
				continue // no fields would mean all of them
			}
			s, err = b.settleStream(ctx, s)
			var refused *fault.Fault
			switch {
			case errors.As(err, &refused):
			case err != nil:
				return nil, err
			default:
				found = append(found, s)
			}
		}
	}
	return found, nil
}

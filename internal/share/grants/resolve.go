package grants

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// resolve finds the connections that fit what an app asks for. It looks only at those
// that were there when the app asked, so that what the owner sees is what is granted.
func (b *Service) resolve(ctx context.Context, kept store.GrantRequest) (Request, error) {
	r := Request{
		ID: kept.ID, ClientID: kept.ClientID, ClientName: kept.ClientName, RedirectURI: kept.RedirectURI,
		Purpose: kept.Purpose, Mode: kept.Mode, ExpiresAt: kept.GrantExpires,
	}
	if r.ExpiresAt == nil {
		usual := kept.CreatedAt.AddDate(0, 0, UsualDays)
		r.ExpiresAt = &usual
	}
	// However long an app asks for, more than a year is for the owner to choose.
	if year := kept.CreatedAt.AddDate(1, 0, 0); r.ExpiresAt.After(year) {
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
	if len(wants) == 0 {
		return b.offered(ctx, r, all, kept)
	}
	for _, w := range wants {
		found, err := b.fitting(ctx, w, all)
		if err != nil {
			return Request{}, err
		}
		if len(found) == 0 {
			r.Missing = append(r.Missing, cmp.Or(w.Stream.Stream, w.Profile))
		}
		for _, s := range found {
			if !slices.ContainsFunc(r.Scope, func(o Stream) bool {
				return o.ConnectionID == s.ConnectionID &&
					o.Stream == s.Stream
			}) && len(r.Scope) < maxStreams {
				r.Scope = append(r.Scope, s)
			}
		}
	}
	return r, nil
}

// fitting returns the streams that can be granted for one want. Fields that a stream lacks are left out. A stream
// without a time cannot be limited by time and does not fit.
func (b *Service) fitting(ctx context.Context, w Want, all []store.Connection) ([]Stream, error) {
	var found []Stream
	for _, c := range all {
		if w.ConnectionID != "" && c.ID != w.ConnectionID {
			continue
		}
		src, err := b.sources.sourceOf(ctx, c.ConnectorID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find manifest: %w", err)
		}
		if w.Connector != "" && w.Connector != c.ConnectorID && w.Connector != src.manifest.ConnectorID &&
			w.Connector != src.manifest.Key() {
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
			var refused *usererr.Error
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

// offered returns a request with every stream that the owner can choose from.
func (b *Service) offered(ctx context.Context, r Request, all []store.Connection, kept store.GrantRequest) (Request,
	error) {
	r.OwnerChooses = true
	for _, c := range all {
		views, err := b.viewsOf(ctx, c, nil, "")
		if err != nil {
			return Request{}, err
		}
		for _, v := range views {
			if len(r.Scope) < maxStreams {
				r.Scope = append(r.Scope, v.stream)
			}
		}
	}
	return r, nil
}

// Narrow returns the streams of a scope that the owner left ticked, each as the app asked for it. No choice means all.
func Narrow(scope, ticked GrantedStreams) (GrantedStreams, error) {
	if len(ticked) == 0 {
		return scope, nil
	}
	same := func(a Stream) func(Stream) bool {
		return func(b Stream) bool { return a.ConnectionID == b.ConnectionID && a.Stream == b.Stream }
	}
	var out GrantedStreams
	for _, s := range scope {
		if slices.ContainsFunc(ticked, same(s)) {
			out = append(out, s)
		}
	}
	for _, s := range ticked {
		if !slices.ContainsFunc(scope, same(s)) {
			return nil, invalid("streams", "A chosen stream is not among those that were offered.", "Choose again.")
		}
	}
	return out, nil
}

// chosen returns the streams of a request that the owner grants. Streams that were not offered are refused.
func (b *Service) chosen(ctx context.Context, r Request, chosen GrantedStreams) (GrantedStreams, error) {
	if !r.OwnerChooses {
		return Narrow(r.Scope, chosen)
	}
	if len(chosen) == 0 {
		return nil, invalid("streams", "No stream was chosen.", "Choose what the app may read, or decline.")
	}
	for _, s := range chosen {
		if !slices.ContainsFunc(r.Scope, func(o Stream) bool {
			return o.ConnectionID == s.ConnectionID && o.Stream == s.Stream
		}) {
			return nil, invalid("streams", "A chosen stream is not among those that were offered.", "Choose again.")
		}
	}
	return b.normalizeScope(ctx, chosen)
}

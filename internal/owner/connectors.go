package owner

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"pdpp/internal/owner/declaration"
	"pdpp/internal/owner/told"
	"pdpp/internal/ownerapi"
)

// Connectors lists what is installed, by display name. One that is broken is left
// out: nothing can be connected with it, and pdpp doctor names it.
func (s *Service) Connectors(ctx context.Context) ([]ownerapi.Connector, error) {
	names, err := s.Config.Connectors.Names(ctx)
	if err != nil {
		return nil, told.Error(err, "list the connectors")
	}
	out := []ownerapi.Connector{}
	for _, name := range names {
		found, err := s.find.Connectors.Find(ctx, name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			out = append(out, declaration.Describe(found.Name, found.Manifest))
		}
	}
	slices.SortFunc(out, func(a, b ownerapi.Connector) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.DisplayName), strings.ToLower(b.DisplayName)), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

package browse

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

// names looks up what records are called, and words what the pages list.
type names struct {
	*things.Names
	p   *browsePages
	ctx context.Context
	all *things.Streams
}

func (p *browsePages) names(ctx context.Context, all *things.Streams) *names {
	return &names{Names: things.NewNames(ctx, p.Owner, p.Log, all), p: p, ctx: ctx, all: all}
}

func (p *browsePages) streams(ctx context.Context) (*things.Streams, error) {
	return things.ReadStreams(ctx, p.Owner)
}

package status

import (
	"context"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Ask returns a strip with the first thing that needs the owner, and nil if nothing does. What else there is waits
// among the sources. While a part of the server is at fault, the strip is about that.
func (p *Pages) Ask(all *view.Overview) templ.Component {
	if all.Indicator != nil {
		return faultStrip(all)
	}
	var first *view.Connection
	more := -1
	for i := range all.Connections {
		if c := &all.Connections[i]; c.Verdict.Channel == verdict.Attention {
			if more++; first == nil {
				first = c
			}
		}
	}
	if first == nil {
		return nil
	}
	return askStrip(first, &board{names: ui.SourceNames(all.Connections), kindOf: p.kindOf}, more)
}

// Welcome returns what to begin with in a home without sources.
func (p *Pages) Welcome(ctx context.Context, all *view.Overview) (templ.Component, error) {
	connectors, err := p.owner.Connectors(ctx)
	if err != nil {
		return nil, err
	}
	return welcome(&board{Overview: *all, connectors: connectors}), nil
}

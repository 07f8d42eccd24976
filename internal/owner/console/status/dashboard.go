package status

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/view"
)

// board is the dashboard at one moment.
type board struct {
	view.Overview
	connectors []api.Connector // to begin with; only while there is no connection
	kept       api.Kept
	names      map[string]string // how a source is addressed, by its id
	kindOf     func(connectionID string) string
}

// group is the connections of one channel.
type group struct {
	Channel verdict.Channel
	Title   string
	Lede    string
	Rows    []templ.Component
}

var groups = [...]group{
	{Channel: verdict.Attention, Title: "Needs you", Lede: "Only you can move these forward."},
	{Channel: verdict.Advisory, Title: "Worth a look", Lede: "Not urgent, or waiting on a connector fix."},
	{Channel: verdict.Calm, Title: "Working fine"},
}

func (p *Pages) board(ctx context.Context) (board, error) {
	all, err := p.owner.Overview(ctx)
	if err != nil {
		return board{}, err
	}
	all.ObservedAt = p.here(all.ObservedAt)
	b := board{Overview: all, names: ui.SourceNames(all.Connections), kindOf: p.kindOf}
	if len(all.Connections) == 0 {
		if b.connectors, err = p.owner.Connectors(ctx); err != nil {
			return board{}, err
		}
	}
	b.kept, err = p.owner.Kept(ctx)
	return b, err
}

// path is the address of a source, by its name where only one source has it.
func (b *board) path(id string) string { return "/sources/" + url.PathEscape(cmp.Or(b.names[id], id)) }

// keptOf returns what is stored of a connection. A connection without records has none.
func (b *board) keptOf(id string) *api.KeptSource { return keptSource(&b.kept, id) }

// ended lists the sources that the owner ended and that still have records here.
func (b *board) ended() (all []api.KeptSource) {
	for _, s := range b.kept.Sources {
		if s.Status == revoked {
			all = append(all, s)
		}
	}
	return all
}

// frame surrounds the page. Live carries what the page shows, so that the first
// event brings only what has changed since.
func (b *board) frame(live string) ui.Frame {
	return ui.Frame{Title: "Sources", Active: "sources", Watched: true, Indicator: b.Indicator, Now: b.ObservedAt,
		Live: live}
}

func rowID(id string) string { return "row-" + id }

// parts makes the dashboard. Groups follow the channel and nothing else; the order is
// the one of the overview.
func (b *board) parts(ctx context.Context) (pieces, error) {
	var all, rows pieces
	var shape strings.Builder
	shown := groups
	for i := range b.Connections {
		c := &b.Connections[i]
		one, err := render(ctx, rowID(c.ID), row(b, c))
		if err != nil {
			return nil, err
		}
		one.inside = "groups"
		rows = append(rows, one)
		for g := range shown {
			if shown[g].Channel == c.Verdict.Channel {
				shown[g].Rows = append(shown[g].Rows, made(one.html))
				shape.WriteString(string(c.Verdict.Channel) + " " + c.ID + "\n")
			}
		}
	}
	for _, one := range []struct {
		id string
		c  templ.Component
	}{
		{"runtime-word", ui.Runtime(b.frame(""))},
		{"board-head", boardHead(b)},
		{"strip", strip(b)},
		{"ended", endedSources(b)},
	} {
		next, err := render(ctx, one.id, one.c)
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	held, err := holding(ctx, "groups", shape.String(), boardGroups(b, shown[:]))
	if err != nil {
		return nil, err
	}
	return append(append(all, held), rows...), nil
}

func (p *Pages) lookAtBoard(ctx context.Context) (pieces, error) {
	b, err := p.board(ctx)
	if err != nil {
		return nil, err
	}
	return b.parts(ctx)
}

func (p *Pages) getDashboard(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := bounded(r.Context())
	defer cancel()
	b, err := p.board(ctx)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	parts, err := b.parts(ctx)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	f := b.frame("/sources/events?seen=" + parts.digest())
	f.Flash = ui.TakeFlash(w, r)
	ui.Render(w, r, http.StatusOK, ui.Page(f, boardPage(parts)))
}

func (p *Pages) getDashboardEvents(w http.ResponseWriter, r *http.Request) {
	p.stream(w, r, "dashboard", p.lookAtBoard)
}

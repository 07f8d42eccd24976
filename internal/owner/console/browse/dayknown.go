package browse

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// dayKnown is how much is known of a day.
type dayKnown int

const (
	// dayUncollected: no source was asked for the day.
	dayUncollected dayKnown = iota
	// dayPartly: some source may hold more.
	dayPartly
	// dayWhole: every source that has an account of the day was read to its end.
	dayWhole
)

// judgeDay finds out what may be missing of the day: sources with a verdict that is not good, not read to the
// end of the day. A source that has nothing to do with the day is not named.
func (p *browsePages) judgeDay(ctx context.Context, page *timelinePage) error {
	all, err := p.behind(ctx, page.source)
	if err != nil {
		return err
	}
	kept, err := p.Owner.Kept(ctx)
	if err != nil {
		return err
	}
	page.Behind = nil
	day := page.Day.Format(time.DateOnly)
	for _, b := range all {
		i := slices.IndexFunc(kept.Sources, func(s api.KeptSource) bool {
			return strings.HasSuffix(b.Address, "/"+ui.Segment(s.ConnectionID))
		})
		if i < 0 || !coversWhole(&kept, &kept.Sources[i], day) {
			page.Behind = append(page.Behind, b)
		}
	}
	page.Known = dayUncollected
	if page.Count > 0 || coveredOn(&kept, day) {
		page.Known = dayPartly
		if len(page.Behind) == 0 && !slices.ContainsFunc(kept.Sources, func(s api.KeptSource) bool {
			return !s.Complete && !coversWhole(&kept, &s, day)
		}) {
			page.Known = dayWhole
		}
	}
	return nil
}

// coversWhole reports whether a source was read to the end of a day.
func coversWhole(k *api.Kept, s *api.KeptSource, day string) bool {
	return slices.ContainsFunc(s.Covered,
		func(c api.Covered) bool { return records.WholeSpan(k, s, c) && c.From <= day && day <= c.To })
}

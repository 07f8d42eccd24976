package readapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Headers with the completeness of an answer, for clients that do not parse the body.
const (
	headerAsOf    = "PDPP-As-Of"   // the oldest of the streams that were read
	headerWhole   = "PDPP-Whole"   // yes when all of them are
	headerCovered = "PDPP-Covered" // the spans in which all of them are, as from/to
)

// measureCompleteness returns the completeness of what is about to be read. It runs before the read, so that nothing
// is claimed about later data. A single-use grant receives it only with its first page, because later changes are not
// part of it.
func (a *api) measureCompleteness(r *http.Request, who grants.Access, q query, views []grants.StreamView,
	searched bool) ([]grants.Completeness, error) {
	if who.SingleUse() && (q.cursor != "" || r.PathValue("stream") == "") {
		out := make([]grants.Completeness, len(views))
		for i, v := range views {
			out[i] = grants.Completeness{ConnectionID: v.ConnectionID(), Stream: v.Name(), Range: v.Window(),
				Whole: grants.WholeUnknown}
		}
		return out, nil
	}
	return a.Grants.Completeness(r.Context(), views, grants.Reading{Asked: q.asked, Searched: searched})
}

// complete returns the completeness in the form of an answer.
func (a *api) complete(r *http.Request, who grants.Access, q query, views []grants.StreamView,
	searched bool) ([]grantview.Completeness, error) {
	measured, err := a.measureCompleteness(r, who, q, views, searched)
	if err != nil {
		return nil, err
	}
	return a.completeness(views, measured), nil
}

// completeWith includes the related records.
func (a *api) completeWith(r *http.Request, who grants.Access, q query, views []grants.StreamView,
	beside []*expansion) ([]grantview.Completeness, error) {
	completeness, err := a.complete(r, who, q, views, false)
	if err != nil || len(beside) == 0 {
		return completeness, err
	}
	var others []grants.StreamView
	for _, e := range beside {
		same := func(v grants.StreamView) bool {
			return v.ConnectionID() == e.to.ConnectionID() && v.Name() == e.to.Name()
		}
		if !slices.ContainsFunc(others, same) && !slices.ContainsFunc(views, same) {
			others = append(others, e.to)
		}
	}
	more, err := a.complete(r, who, query{}, others, false)
	return append(completeness, more...), err
}

func (a *api) completeness(views []grants.StreamView, measured []grants.Completeness) []grantview.Completeness {
	out := make([]grantview.Completeness, len(measured))
	for i, c := range measured {
		out[i] = grantview.Completeness{
			ConnectionID: c.ConnectionID, ConnectorName: views[i].ConnectorName, Stream: c.Stream, AsOf: c.AsOf,
			Freshness: a.freshness(views[i], c.CapturedAt).Status,
			Range:     span(c.Range), Whole: grantview.Whole(c.Whole), Covered: make([]grantview.Span, len(c.Covered)),
		}
		for n, s := range c.Covered {
			out[i].Covered[n] = span(s)
		}
	}
	return out
}

func span(r grants.Range) grantview.Span { return grantview.Span{From: r.Since, To: r.Until} }

// asked is the range of time that the query asks for of a view. It may be wider than what
// is found, and is never narrower.
func (q *query) asked(v grants.StreamView) (r grants.Range) {
	compared, err := q.comparisons(v)
	if err != nil {
		return r // the query is refused elsewhere
	}
	for _, c := range compared {
		at, err := protocol.ParseTime(c.Value)
		if c.Field != v.TimeField() || c.Kind != manifest.ValueTime && c.Kind != manifest.ValueDate || err != nil {
			continue
		}
		at = at.UTC()
		switch c.Op {
		case manifest.RangeGT, manifest.RangeGTE:
			r = r.Within(grants.Range{Since: &at})
		case manifest.RangeLT:
			r = r.Within(grants.Range{Until: &at})
		case manifest.RangeLTE:
			after := at.Add(time.Microsecond)
			r = r.Within(grants.Range{Until: &after})
		}
	}
	return r
}

// freshness compares the newest complete run with the source's declared maximum age. It does not reveal reasons.
func (a *api) freshness(v grants.StreamView, captured *time.Time) grantview.Freshness {
	f := grantview.Freshness{Status: grantview.FreshnessUnknown, CapturedAt: captured}
	policy := v.Refresh()
	if captured == nil || policy == nil || policy.MaximumStalenessSeconds <= 0 {
		return f
	}
	f.Status = grantview.FreshnessCurrent
	if a.Now().Sub(*captured) > time.Duration(policy.MaximumStalenessSeconds)*time.Second {
		f.Status = grantview.FreshnessStale
	}
	return f
}

// announce sums the completeness of an answer up in its headers.
func announce(h http.Header, measured []grantview.Completeness) {
	if len(measured) == 0 {
		return
	}
	whole, asOf, spans := grantview.WholeYes, measured[0].AsOf, measured[0].Covered
	for i, c := range measured {
		switch {
		case c.Whole == grantview.WholeNo || whole == grantview.WholeNo:
			whole = grantview.WholeNo
		case c.Whole != grantview.WholeYes:
			whole = grantview.WholeUnknown
		}
		if asOf != nil && (c.AsOf == nil || c.AsOf.Before(*asOf)) {
			asOf = c.AsOf
		}
		if i > 0 {
			spans = common(spans, c.Covered)
		}
	}
	h.Set(headerWhole, string(whole))
	if asOf != nil {
		h.Set(headerAsOf, asOf.UTC().Format(time.RFC3339Nano))
	}
	if len(spans) > mostSpans {
		spans = nil
	}
	texts := make([]string, len(spans))
	for i, s := range spans {
		texts[i] = bound(s.From) + "/" + bound(s.To)
	}
	h.Set(headerCovered, strings.Join(texts, ", "))
}

// mostSpans keeps a header short; the body contains all.
const mostSpans = 20

// bound writes a bound of a span as ISO 8601 has it, where two dots are none.
func bound(at *time.Time) string {
	if at == nil {
		return ".."
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// common are the spans that two lists have in common.
func common(a, b []grantview.Span) (out []grantview.Span) {
	for _, s := range a {
		for _, o := range b {
			one, other := grants.Range{Since: s.From, Until: s.To}, grants.Range{Since: o.From, Until: o.To}
			if one.Overlaps(other) {
				out = append(out, span(one.Within(other)))
			}
		}
	}
	slices.SortFunc(out, func(x, y grantview.Span) int { return strings.Compare(bound(x.From), bound(y.From)) })
	return out
}

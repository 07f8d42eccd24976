package grants

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Range is a span of time without its end; nil is no bound.
type Range struct{ Since, Until *time.Time }

// Window is the time that the view is bounded to.
func (v StreamView) Window() Range { return Range{v.stream.Since, v.stream.Until} }

// TimeField is the field that the times of the view's records are taken from; empty when
// they have none.
func (v StreamView) TimeField() string { return v.declared.ConsentTimeField }

// Within is what two ranges have in common.
func (r Range) Within(o Range) Range {
	if r.Since == nil || o.Since != nil && o.Since.After(*r.Since) {
		r.Since = o.Since
	}
	if r.Until == nil || o.Until != nil && o.Until.Before(*r.Until) {
		r.Until = o.Until
	}
	return r
}

// Overlaps reports whether two ranges have something in common.
func (r Range) Overlaps(o Range) bool { return !r.Within(o).empty() }

func (r Range) empty() bool { return r.Since != nil && r.Until != nil && !r.Since.Before(*r.Until) }

// ends reports whether a bound of the range is after a time: nothing is known about it. A range without an end means
// up to the last read.
func (r Range) ends(at time.Time) bool {
	return r.Since != nil && r.Since.After(at) || r.Until != nil && r.Until.After(at)
}

// Without returns what is left of the range without some spans, in order.
func (r Range) Without(spans []Range) []Range {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b Range) int { return a.begin().Compare(b.begin()) })
	var left []Range
	for _, s := range spans {
		if !r.Overlaps(s) {
			continue
		}
		if s.Since != nil {
			if before := r.Within(Range{Until: s.Since}); !before.empty() {
				left = append(left, before)
			}
		}
		if s.Until == nil {
			return left
		}
		r = r.Within(Range{Since: s.Until})
	}
	if r.empty() {
		return left
	}
	return append(left, r)
}

func (r Range) begin() time.Time {
	if r.Since == nil {
		return time.Time{}
	}
	return *r.Since
}

// margin widens the windows of lists: a date is the beginning of a day that is elsewhere
// another one.
const margin = 24 * time.Hour

// window is a part of a list that has not been walked, inclusive at both ends; zero is open.
// Connectors that are made with the kit write it as a bookmark and into gaps.
type window struct {
	Before time.Time `json:"before,omitzero"`
	Floor  time.Time `json:"floor,omitzero"`
}

func (w window) span() Range {
	until := w.Before.Add(margin).UTC()
	r := Range{Until: &until}
	if !w.Floor.IsZero() {
		since := w.Floor.Add(-margin).UTC()
		r.Since = &since
	}
	return r
}

// bookmarkWindow reads the bookmark of a walk through history; false when it is not such a window.
func bookmarkWindow(v jsontext.Value) (Range, bool) {
	var w window
	if json.Unmarshal(v, &w, json.RejectUnknownMembers(true)) != nil || w.Before.IsZero() {
		return Range{}, false
	}
	return w.span(), true
}

// gapWindow returns the window that a gap covers; false if it covers none. Detail means that the list is there and
// only details are missing.
func gapWindow(locator jsontext.Value) (span Range, detail, ok bool) {
	var w struct {
		Kind string `json:"kind"`
		window
	}
	if len(locator) == 0 || json.Unmarshal(locator, &w) != nil || !strings.HasSuffix(w.Kind, "_backlog") ||
		w.Before.IsZero() {
		return Range{}, false, false
	}
	return w.span(), strings.HasSuffix(w.Kind, "_detail_backlog"), true
}

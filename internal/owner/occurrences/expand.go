package occurrences

import (
	"cmp"
	"slices"
	"time"
)

// mostOfAll limits how many times all rules together may produce.
const mostOfAll = 2_000_000

// Occurrence is one time at which something takes place.
type Occurrence struct {
	Start string `json:"start"`
	End   string `json:"end,omitempty"`
	Title string `json:"title"`
	Key   string `json:"record_key"`
	// Computed means that the occurrence was computed from the rule of a series and has no record of its own.
	Computed bool `json:"computed"`

	at time.Time
}

// Skipped is a series without computed occurrences, and the reason.
type Skipped struct {
	Key    string `json:"record_key"`
	Title  string `json:"title"`
	Reason string `json:"reason"`
}

// Range is a span of time in the reader's time zone. It excludes its end.
type Range struct {
	From, Until time.Time
	Zone        *time.Location
}

// Result is what takes place in a span of time, in its order.
type Result struct {
	Occurrences []Occurrence `json:"occurrences"`
	NotComputed []Skipped    `json:"not_computed"`
	// Cut means that there are more occurrences.
	Cut bool `json:"cut"`
}

// Expand returns the occurrences of events within r, at most most of them. It also returns the series that it could
// not compute.
func Expand(events []CalendarEvent, r Range, most int) Result {
	out := Result{Occurrences: []Occurrence{}, NotComputed: []Skipped{}}
	changed := map[[3]string][]CalendarEvent{} // occurrences that are records of their own, by their series
	for _, e := range events {
		if e.RecurrenceID == "" {
			continue
		}
		name := [3]string{e.Calendar, "uid", e.UID}
		if e.Series != "" {
			name = [3]string{e.Calendar, "id", e.Series}
		}
		changed[name] = append(changed[name], e)
	}
	budget := mostOfAll
	for _, e := range events {
		if e.cancelled() {
			continue
		}
		if !e.repeats() || e.RecurrenceID != "" {
			s, _ := e.span(r.Zone) // without a zone it is shown as it is written
			out.add(e, s, s.wall, r, false)
			continue
		}
		others := slices.Concat(changed[[3]string{e.Calendar, "id", e.ID}], changed[[3]string{e.Calendar, "uid", e.UID}])
		if reason := out.series(e, others, r, &budget); reason != "" {
			out.NotComputed = append(out.NotComputed, Skipped{Key: e.Key, Title: e.Title, Reason: reason})
		}
	}
	slices.SortFunc(out.Occurrences, func(x, y Occurrence) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.Title, y.Title), cmp.Compare(x.Key, y.Key))
	})
	if out.Cut = len(out.Occurrences) > most; out.Cut {
		out.Occurrences = out.Occurrences[:most]
	}
	return out
}

// series adds the occurrences of a series that are no records of their own.
func (out *Result) series(e CalendarEvent, others []CalendarEvent, r Range, budget *int) (reason string) {
	s, known := e.span(r.Zone)
	if !known {
		return reasonZone
	}
	own := moments{}
	for _, o := range others {
		at, day, ok := parse(o.RecurrenceID)
		switch {
		case o.ThisOnwards:
			return reasonLater
		case !ok:
			return reasonRule
		case day:
			own[at] = true
		case e.TimeKind == "floating": // written as if it were UTC, as the series is
			own.note(at.UTC())
		default:
			own.put(s, at)
		}
	}
	walls, reason := e.times(s, onWall(r.Until.In(s.where)).Add(24*time.Hour), budget)
	if reason != "" {
		return reason
	}
	for _, wall := range walls {
		if !own.has(s, wall) {
			out.add(e, s, wall, r, true)
		}
	}
	return ""
}

// add adds an occurrence when it is within the span, or at least a part of it is.
func (out *Result) add(e CalendarEvent, s span, wall time.Time, r Range, computed bool) {
	at, ends := s.instant(wall), s.ends(wall)
	if !at.Before(r.Until) || ends.Before(r.From) || ends.Equal(r.From) && s.length > 0 {
		return
	}
	start, end := s.texts(wall)
	if !computed && e.TimeKind != "floating" {
		start, end = e.Start, e.End // as the record has it
	}
	out.Occurrences = append(out.Occurrences, Occurrence{Start: start, End: end, Title: e.Title, Key: e.Key,
		Computed: computed, at: at})
}

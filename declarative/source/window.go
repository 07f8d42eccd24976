package source

import (
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// bookmarkTime is the form of times in bookmarks.
const bookmarkTime = "2006-01-02T15:04:05.000000Z07:00"

// window reads a stream by windows of time.
type window struct {
	*document.Cursor
	stream *stream
	state  *runState // of the run, set when the first window begins
}

// sendsWindow reports whether requests contain the bounds of the cursor. Without them a window would change nothing.
func (s *stream) sendsWindow() bool {
	c := s.IncrementalSync
	if c.StartOption != nil || c.EndOption != nil {
		return true
	}
	from, to := fieldNames(c)
	sends := false
	document.Walk(s.Retriever.Requester, func(u document.Use) {
		for _, path := range u.Template.Paths() {
			if path.Variable == expression.StreamSlice && len(path.Members) > 0 &&
				(path.Members[0] == from || path.Members[0] == to) {
				sends = true
			}
		}
	})
	return sends
}

// fieldNames returns the names of the bounds in templates.
func fieldNames(c *document.Cursor) (from, to string) {
	from, to = "start_time", "end_time"
	if c.PartitionStart.IsSet() {
		from = c.PartitionStart.Source()
	}
	if c.PartitionEnd.IsSet() {
		to = c.PartitionEnd.Source()
	}
	return from, to
}

// sync returns the windows for the engine. The bookmark follows the newest record, as the document promises.
func (w *window) sync() rest.DateWindows {
	return rest.DateWindows{
		Layout: bookmarkTime, FollowItems: true, KeepMissing: true,
		Start: func(r *rest.Run) (time.Time, error) {
			w.state = w.stream.program.stateOf(r)
			return w.bound(w.Start)
		},
		End: func(r *rest.Run) time.Time {
			if w.End == nil {
				return w.state.now
			}
			end, err := w.bound(w.End)
			if err != nil {
				return w.state.now
			}
			return end
		},
		Step:        func(from time.Time) time.Time { return w.shift(w.Step, from, false) },
		Lookback:    func(at time.Time) time.Time { return w.shift(w.Lookback, at, true) },
		Granularity: w.granularity(),
	}
}

// granularity returns the smallest difference of two times.
func (w *window) granularity() time.Duration {
	d, err := expression.ParseDuration(w.Granularity)
	if err != nil {
		return 0
	}
	begin := time.Unix(0, 0).UTC()
	after, err := d.After(begin)
	if err != nil {
		return 0
	}
	return after.Sub(begin)
}

// shift returns the time that a duration of the document after or before another time. An absent or unreadable
// duration changes nothing.
func (w *window) shift(t document.Template, at time.Time, back bool) time.Time {
	text, err := templateText(t, w.state.context(w.Cursor))
	if err != nil || text == "" {
		return at
	}
	d, err := expression.ParseDuration(text)
	if err != nil {
		return at
	}
	var out time.Time
	if back {
		out, err = d.Before(at)
	} else {
		out, err = d.After(at)
	}
	if err != nil {
		return at
	}
	return out
}

// bound evaluates a time within its own bounds.
func (w *window) bound(m *document.MinMax) (time.Time, error) {
	at, err := w.time(m, m.Datetime)
	if err != nil {
		return at, err
	}
	if m.Min.IsSet() {
		if least, err := w.time(m, m.Min); err == nil && least.After(at) {
			at = least
		}
	}
	if m.Max.IsSet() {
		if most, err := w.time(m, m.Max); err == nil && most.Before(at) {
			at = most
		}
	}
	return at, nil
}

func (w *window) time(m *document.MinMax, t document.Template) (time.Time, error) {
	text, err := templateText(t, w.state.context(m))
	if err != nil {
		return time.Time{}, err
	}
	formats := []string{m.Format, w.Format, "%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%SZ",
		"%Y-%m-%d"}
	if at, ok := parseAny(text, formats); ok {
		return at, nil
	}
	return time.Time{}, connectorkit.Fail(connectorkit.Malformed, errors.New("the first or last time is not readable: "+
		"check the date in the settings"))
}

// parseAny parses a time with the first format that fits.
func parseAny(text string, formats []string) (time.Time, bool) {
	for _, format := range formats {
		if format == "" {
			continue
		}
		if at, err := expression.ParseTime(text, format); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// texts returns the bounds of a window in the form of the document. A stream that is read as a parent has one window.
func (w *window) texts(win rest.Window, state *runState) (from, to string, err error) {
	if w.state == nil {
		w.state = state
	}
	if win.From.IsZero() {
		if win.From, err = w.bound(w.Start); err != nil {
			return "", "", err
		}
		win.To = state.now
	}
	if from, err = expression.FormatTime(win.From, w.Format); err == nil {
		to, err = expression.FormatTime(win.To, w.Format)
	}
	if err != nil {
		return "", "", connectorkit.Fail(connectorkit.Malformed, err)
	}
	return from, to, nil
}

// setBounds adds the bounds to the variables of a request.
func (w *window) setBounds(b *expression.Builder, win rest.Window, state *runState) {
	from, to, err := w.texts(win, state)
	if err != nil {
		return // addOptions reports it
	}
	fromName, toName := fieldNames(w.Cursor)
	b.Set(fromName, expression.StringValue(from)).Set(toName, expression.StringValue(to))
}

// addOptions adds the bounds to a request.
func (w *window) addOptions(state *runState, win rest.Window, d *draft) error {
	from, to, err := w.texts(win, state)
	if err != nil {
		return err
	}
	if err := inject(w.StartOption, state, expression.StringValue(from), d); err != nil {
		return err
	}
	return inject(w.EndOption, state, expression.StringValue(to), d)
}

// timeOf returns the time of a record in the form of bookmarks, or "".
func (w *window) timeOf(record expression.Value, state *runState) string {
	name, err := templateText(w.CursorField, state.context(w.Cursor))
	if err != nil {
		return ""
	}
	at, ok := parseAny(expression.Print(record.Member(name)), append(w.CursorFormats, w.Format))
	if !ok {
		return ""
	}
	return at.Format(bookmarkTime)
}

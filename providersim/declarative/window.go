package declarative

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// window is a period that a request asks for.
type window struct{ from, to time.Time }

// sampleWindows returns two windows that differ in every part of a time.
func (p *Provider) sampleWindows() (one, other window) {
	at := p.now.Truncate(24 * time.Hour).Add(-41*24*time.Hour + 3*time.Hour + 17*time.Minute + 29*time.Second)
	one = window{at, at.Add(8*24*time.Hour + 5*time.Hour + 13*time.Minute + 11*time.Second)}
	shift := 63*24*time.Hour + 2*time.Hour + 7*time.Minute + 5*time.Second
	return one, window{one.from.Add(-shift), one.to.Add(-shift)}
}

// texts returns the bounds in the format of the cursor.
func (w window) texts(c *document.Cursor) (from, to string) {
	from, _ = expression.FormatTime(w.from, c.Format) // a format that does not work makes the text empty
	to, _ = expression.FormatTime(w.to, c.Format)
	return from, to
}

// slice returns the bounds as templates read them.
func (w window) slice(c *document.Cursor) expression.Value {
	fromName, toName := "start_time", "end_time"
	if c.PartitionStart.IsSet() {
		fromName = c.PartitionStart.Source()
	}
	if c.PartitionEnd.IsSet() {
		toName = c.PartitionEnd.Source()
	}
	from, to := w.texts(c)
	return expression.NewObject(2).Set(fromName, expression.StringValue(from)).
		Set(toName, expression.StringValue(to)).Value()
}

// windowForm reads the bounds out of a place of a request.
type windowForm struct {
	pattern            *regexp.Regexp // groups from and to; nil if the place cannot be read
	fromForm, toFormat string
}

// newWindowForm finds the times of a known window in the text of a place.
func (e *endpoint) newWindowForm(c *document.Cursor, text string, w window) *windowForm {
	f := &windowForm{}
	if c == nil || text == "" {
		return f
	}
	pattern := regexp.QuoteMeta(strings.Trim(text, `"`))
	replace := func(group string, at time.Time) (format string) {
		formats := append([]string{c.Format}, timeFormats...)
		texts := map[string]string{}
		for _, format := range formats {
			texts[format], _ = expression.FormatTime(at, format)
		}
		slices.SortStableFunc(formats[1:], func(a, b string) int { return cmp.Compare(len(texts[b]), len(texts[a])) })
		for _, format := range formats {
			quoted := regexp.QuoteMeta(texts[format])
			if quoted != "" && strings.Contains(pattern, quoted) {
				pattern = strings.Replace(pattern, quoted, "(?P<"+group+">.+?)", 1)
				return format
			}
		}
		return ""
	}
	f.fromForm, f.toFormat = replace("from", w.from), replace("to", w.to)
	if f.fromForm == "" && f.toFormat == "" {
		return f
	}
	if re, err := regexp.Compile("^" + pattern + "$"); err == nil {
		f.pattern = re
	}
	return f
}

// windowFilter is what a request asks for, as far as it can be read.
type windowFilter struct {
	id       string // the texts of the window's places
	from, to time.Time
	fromForm string
	toFormat string
}

// filterOf reads the window of a request.
func (s *shape) filterOf(in flat) windowFilter {
	var out windowFilter
	var ids []string
	for place, form := range s.window {
		text, ok := in.values[place]
		ids = append(ids, place+"="+text)
		if !ok || form.pattern == nil {
			continue
		}
		found := form.pattern.FindStringSubmatch(strings.Trim(text, `"`))
		if found == nil {
			continue
		}
		for i, group := range form.pattern.SubexpNames() {
			switch group {
			case "from":
				if at, err := expression.ParseTime(found[i], form.fromForm); err == nil {
					out.from, out.fromForm = at.UTC(), form.fromForm
				}
			case "to":
				if at, err := expression.ParseTime(found[i], form.toFormat); err == nil {
					out.to, out.toFormat = at.UTC(), form.toFormat
				}
			}
		}
	}
	slices.Sort(ids)
	out.id = strings.Join(ids, "\n")
	return out
}

// admits reports whether a row is in the window. Times are compared as exactly as the request writes them.
func (f windowFilter) admits(at time.Time) bool {
	if !f.from.IsZero() && rounded(at, f.fromForm).Before(f.from) {
		return false
	}
	return f.to.IsZero() || !rounded(at, f.toFormat).After(f.to)
}

func rounded(at time.Time, format string) time.Time {
	text, err := expression.FormatTime(at, format)
	if err != nil {
		return at
	}
	out, err := expression.ParseTime(text, format)
	if err != nil {
		return at
	}
	return out.UTC()
}

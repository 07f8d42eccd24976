package status

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// coming is how far the first run has come with one stream. Nil is not known.
type coming struct {
	Kept  int64
	Found *int64 // so far: the list may go on
	Begun bool
	Low   *int64 // seconds that it takes at least, at the measured pace
	High  *int64
}

// comingOf combines the stored count of a stream with the progress that the active run reports.
func comingOf(s *shown, row *verdict.StreamRow) coming {
	var c coming
	if row.Kept != nil {
		c.Kept = *row.Kept
	}
	if s.ActiveRun == nil {
		return c
	}
	for i := range s.ActiveRun.Streams {
		if t := &s.ActiveRun.Streams[i]; t.Name == row.StreamID {
			c.Begun, c.Found = true, atLeast(t.Considered, c.Kept)
			c.Low, c.High = t.LeftLow, t.LeftHigh
		}
	}
	return c
}

func (c coming) foundWords() string {
	switch {
	case c.Found != nil:
		return text.Number(*c.Found)
	case c.Begun:
		return notKnown
	default:
		return "not looked yet"
	}
}

func (c coming) leftWords() string {
	if c.Low == nil || c.High == nil {
		return notKnown
	}
	if *c.High == 0 {
		return "none so far"
	}
	return rangeWords(*c.Low, *c.High)
}

// progressText returns the run's message about the stream, or that the stream has not started.
func (c coming) progressText(s *shown, row *verdict.StreamRow) string {
	if !c.Begun {
		return "Waiting for its turn."
	}
	for i := range s.ActiveRun.Streams {
		if t := &s.ActiveRun.Streams[i]; t.Name == row.StreamID && t.Message != "" {
			return text.Upper(t.Message)
		}
	}
	return row.Statement
}

// rangeWords formats a range of seconds. The page promises no exact time.
func rangeWords(low, high int64) string {
	a, b := words.ShortSpan(low), words.ShortSpan(high)
	switch unit := " min"; {
	case a == b:
		return "about " + a
	case strings.HasSuffix(a, unit) && strings.HasSuffix(b, unit) && !strings.Contains(a+b, " h"):
		return strings.TrimSuffix(a, unit) + " to " + b
	default:
		return a + " to " + b
	}
}

// comingInAll is the first run as a whole.
type comingInAll struct {
	Kept, Found int64
	// Open is how many streams may hold more than is found so far.
	Open int
	// Low and High bound the seconds left in the streams with a known pace. They are nil if no
	// pace is known. Unmeasured counts the streams without a known pace.
	Low, High  *int64
	Unmeasured int
}

func (s *shown) inAll() comingInAll {
	var all comingInAll
	var low, high int64
	measured := false
	for i := range s.Verdict.Streams {
		c := comingOf(s, &s.Verdict.Streams[i])
		all.Kept += c.Kept
		if c.Found == nil {
			all.Open++
			all.Found += c.Kept
		} else {
			all.Found += *c.Found
		}
		if c.Low == nil || c.High == nil {
			all.Unmeasured++
			continue
		}
		measured = true
		low, high = low+*c.Low, high+*c.High
	}
	if measured {
		all.Low, all.High = &low, &high
	}
	return all
}

// openWords returns why the end of the bar is hatched.
func (c *comingInAll) openWords() string {
	if c.Open == 0 {
		return "still counting"
	}
	return "still counting " + text.Count(int64(c.Open), "stream", "streams")
}

// left returns the range or the minimum of the time left, or "" if it is unknown.
func (c *comingInAll) left() string {
	switch {
	case c.Low == nil:
		return ""
	case c.Unmeasured > 0:
		return "At least " + words.ShortSpan(*c.Low) + " left"
	default:
		return text.Upper(rangeWords(*c.Low, *c.High)) + " left"
	}
}

// leftBecause is what the range rests on.
func (c *comingInAll) leftBecause() string {
	switch {
	case c.Low == nil:
		return "Time left appears after 5 minutes."
	case c.Unmeasured > 0:
		return "By the pace of the last minutes. " + text.Count(int64(c.Unmeasured), "stream is", "streams are") +
			" not measured yet."
	default:
		return "By the pace of the last minutes, if nothing more is found."
	}
}

// meter is a bar of what is kept and found; what is not known is hatched.
type meter struct {
	Kept, Found, Rest string // widths; Rest is empty where all is known
	RestAt            string
	Label             string
}

// openShare is how much of a bar is hatched while more may be found.
const openShare = 0.2

func meterOf(kept, found int64, open bool) meter {
	if found <= 0 {
		return meter{Kept: "0%", Found: "0%", Rest: "100%", RestAt: "0%", Label: "Nothing is known yet"}
	}
	whole := 1.0
	m := meter{Label: text.Number(kept) + " saved of " + text.Number(found) + " found"}
	if open {
		whole = 1 - openShare
		m.Rest, m.RestAt = percent(1-whole), percent(whole)
		m.Label += " so far, the rest is not known yet"
	}
	m.Found, m.Kept = percent(whole), percent(whole*float64(min(kept, found))/float64(found))
	return m
}

func (c coming) meter() meter {
	if c.Found == nil {
		return meterOf(0, 0, true)
	}
	return meterOf(c.Kept, *c.Found, true)
}

func (c *comingInAll) meter() meter { return meterOf(c.Kept, c.Found, true) }

// Package words has the phrases that the console and the command line share, one function per phrase. Both surfaces
// call it, so that the same fact has the same words on a page and in a terminal.
package words

import (
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	minuteSeconds = 60
	hourSeconds   = 60 * minuteSeconds
	daySeconds    = 24 * hourSeconds
)

// ShortSpan returns a short length of time: "12 s", "41 min", "2 h 5 min", "3 days".
func ShortSpan(seconds int64) string {
	switch {
	case seconds < 0:
		return "0 s"
	case seconds < minuteSeconds:
		return strconv.FormatInt(seconds, 10) + " s"
	case seconds < hourSeconds:
		return strconv.FormatInt(seconds/minuteSeconds, 10) + " min"
	case seconds < 2*daySeconds:
		line := strconv.FormatInt(seconds/hourSeconds, 10) + " h"
		if m := seconds % hourSeconds / minuteSeconds; m > 0 {
			line += " " + strconv.FormatInt(m, 10) + " min"
		}
		return line
	default:
		return text.Count(seconds/daySeconds, "day", "days")
	}
}

// RunInterval returns how often something happens: "Every 6 hours".
func RunInterval(seconds int64) string {
	for _, unit := range []struct {
		seconds   int64
		one, many string
	}{{daySeconds, "day", "days"}, {hourSeconds, "hour", "hours"}, {minuteSeconds, "minute", "minutes"}} {
		if seconds >= unit.seconds && seconds%unit.seconds == 0 {
			if n := seconds / unit.seconds; n > 1 {
				return "Every " + text.Number(n) + " " + unit.many
			}
			return "Every " + unit.one
		}
	}
	return "Every " + text.Count(max(seconds, 1), "second", "seconds")
}

// TimeAgo returns how long ago a time was: "just now", "5 minutes ago", "2 days ago". A time in the future is "just
// now", because clocks differ a little.
func TimeAgo(t, now time.Time) string {
	seconds := int64(now.Sub(t) / time.Second)
	switch {
	case seconds < minuteSeconds:
		return "just now"
	case seconds < hourSeconds:
		return text.Count(seconds/minuteSeconds, "minute", "minutes") + " ago"
	case seconds < daySeconds:
		return text.Count(seconds/hourSeconds, "hour", "hours") + " ago"
	default:
		return text.Count(seconds/daySeconds, "day", "days") + " ago"
	}
}

// LongDay returns a day in the zone of now: "9 March 2026".
func LongDay(t, now time.Time) string { return t.In(now.Location()).Format("2 January 2006") }

// LastWholeDay returns the last day before an exclusive end.
func LastWholeDay(end, now time.Time) string { return LongDay(end.Add(-time.Nanosecond), now) }

// CountAtLeast returns a count, or "at least" the count when floor is set.
func CountAtLeast(n int64, floor bool) string {
	if floor {
		return "at least " + text.Number(n)
	}
	return text.Number(n)
}

// SizeOrCounting returns a size, or "still counting" while it is unknown.
func SizeOrCounting(bytes *int64) string {
	if bytes == nil {
		return "still counting"
	}
	return text.Bytes(*bytes)
}

// ConnectionSchedule returns when a connection collects.
func ConnectionSchedule(onDevice bool, s *api.Schedule) string {
	switch {
	case onDevice:
		return "By the collector on the device"
	case s == nil:
		return "Only when you ask"
	case !s.Enabled:
		return RunInterval(s.IntervalSeconds) + ", paused"
	default:
		return RunInterval(s.IntervalSeconds)
	}
}

// SignInMethod returns how the owner signed in.
func SignInMethod(method string) string {
	switch method {
	case "passkey":
		return "Passkey"
	case "recovery_code":
		return "Recovery code"
	default:
		return "Password"
	}
}

// RecoveryCodesLeft returns how many recovery codes are left.
func RecoveryCodesLeft(c api.RecoveryCodes) string {
	if c.Made == 0 {
		return "None made yet"
	}
	return strconv.Itoa(c.Left) + " of " + strconv.Itoa(c.Made) + " left"
}

// DeviceUndone returns what was taken back from a device.
func DeviceUndone(d api.DeviceUndone) string {
	return text.Count(d.Restored, "record is as it was before", "records are as they were before") + ", " +
		text.Count(d.Deleted, "record was deleted", "records were deleted")
}

// ImportUndo returns what undoing an import deletes and keeps. Both counts must be known.
func ImportUndo(i api.Import) string {
	sentence := text.Count(*i.UndoDeletes, "record came only from this file and is deleted; its history stays.",
		"records came only from this file and are deleted; their history stays.")
	if *i.UndoKeeps > 0 {
		sentence += " " + text.Count(*i.UndoKeeps, "record stays as it is, because something else brought it too.",
			"records stay as they are, because something else brought them too.")
	}
	return sentence + " The next run reads everything else again."
}

// GapAttempts returns how often a missing item was tried.
func GapAttempts(g *api.Gap) string {
	if g.Attempts == 0 {
		return "Not tried yet"
	}
	return "Tried " + text.Count(int64(g.Attempts), "time", "times")
}

// SingleUse is the mode of a grant that can be read once.
const SingleUse = "single_use"

// GrantMode returns how often a grant may be read.
func GrantMode(mode string) string {
	if mode == SingleUse {
		return "Once: each stream can be read through one time"
	}
	return "Again and again, until it ends"
}

// GrantUsage returns how much was read with a grant.
func GrantUsage(g api.Grant) string {
	return text.Count(g.Uses, "read", "reads") + ", " + text.Count(g.Records, "record", "records")
}

// GrantRange returns which records of a stream are granted, and "" when all of them are.
func GrantRange(g api.GrantStream, now time.Time) string {
	var parts []string
	switch {
	case g.Since != nil && g.Until != nil:
		parts = append(parts, LongDay(*g.Since, now)+" to "+LastWholeDay(*g.Until, now))
	case g.Since != nil:
		parts = append(parts, LongDay(*g.Since, now)+" onwards")
	case g.Until != nil:
		parts = append(parts, "up to "+LastWholeDay(*g.Until, now))
	}
	switch n := len(g.Resources); {
	case g.ResourceField != "":
		parts = append(parts, "only where "+text.Name(g.ResourceField)+" is "+strings.Join(g.Resources, " or "))
	case n > 0:
		parts = append(parts, text.Count(int64(n), "chosen record", "chosen records"))
	}
	return strings.Join(parts, ", ")
}

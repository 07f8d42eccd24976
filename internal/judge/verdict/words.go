package verdict

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/text"
)

const secondsPerDay = 24 * 60 * 60

// age returns how many calendar days (UTC) before the judgement the data was last refreshed. It is empty if a time is
// unknown or they contradict each other.
func (r *reading) age() string {
	p := r.in.Progress
	if p == nil || p.ObservedAt == nil {
		return ""
	}
	at := p.LastRefreshedAt
	if at == nil {
		at = r.in.Snapshot.LastSuccessAt
	}
	if at == nil {
		return ""
	}
	return ageWords(calendarDay(p.ObservedAt.Unix()) - calendarDay(at.Unix()))
}

func calendarDay(unix int64) int64 {
	day := unix / secondsPerDay
	if unix%secondsPerDay < 0 {
		day--
	}
	return day
}

func ageWords(days int64) string {
	switch {
	case days < 0:
		return ""
	case days == 0:
		return ageToday
	case days == 1:
		return ageYesterday
	default:
		return text.Number(days) + afterDays
	}
}

// counted returns a number with its noun. The number must not be negative.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1" + one
	}
	return text.Number(max(n, 0)) + many
}

// TotalSentence compares the total that a source reports with how many items it listed.
func TotalSentence(t *evidence.Total) string {
	return beforeTotal + counted(t.Announced, wordTotalItem, wordTotalItems) + betweenTotal +
		counted(t.Counted, afterListedOne, afterListed)
}

// totalsSentence is TotalSentence for all streams of a connection.
func totalsSentence(totals []*evidence.Total) string {
	if len(totals) == 1 {
		return TotalSentence(totals[0])
	}
	return sentence(stTotals)
}

// unreadSentence names the families that could not be read. Families without a name in unreadWords are omitted.
func unreadSentence(families []string) string {
	var named []string
	for _, f := range families {
		for _, w := range unreadWords {
			if w.Family == f {
				named = append(named, w.Words)
			}
		}
	}
	if len(named) == 0 {
		return unreadUnspecified
	}
	return beforeUnread + strings.Join(named, ", ") + afterUnread
}

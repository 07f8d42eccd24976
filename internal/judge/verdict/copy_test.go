package verdict

import (
	"regexp"
	"strings"
	"testing"
)

// outOfPlace are the words that no owner reads: of the machinery, of a hosted
// service, of blame, of false comfort.
var outOfPlace = regexp.MustCompile(`(?i)dead.?letter|outbox|\b429\b|source_pressure|retry budget|needs you|\bwe\b|` +
	`\bus\b|\bour\b|oops|sorry|!|` +
	`nothing for you to do|please|failed to|invalid|\bgap|axis|backlog|disposition|\bwill\b|snake_case|[a-z]_[a-z]`)

func TestEveryLineFollowsTheRules(t *testing.T) {
	seen := map[string]bool{}
	for l, text := range sentences {
		if text == "" {
			t.Errorf("line %d is empty", l)
			continue
		}
		if word := outOfPlace.FindString(text); word != "" {
			t.Errorf("%q says %q", text, word)
		}
		if len(text) > 160 || text != strings.TrimSpace(text) || text[0] < 'A' || text[0] > 'Z' {
			t.Errorf("%q is long or starts badly", text)
		}
		seen[text] = true
	}
	if len(seen) < len(sentences)-5 { // some sentences about pauses and runs are shared
		t.Errorf("%d different texts in %d lines", len(seen), len(sentences))
	}
}

func TestSentencesEndAndLabelsDoNot(t *testing.T) {
	for l, text := range sentences {
		l := sentenceID(l)
		sentence := l <= stPartMissing || l >= sumUploadFailed && l <= sumStalledTerminal || l >= rowComplete &&
			l <= rowUnavailableAccepted ||
			l >= hapStalled && l <= nextByOwner || l == purposeRun || l == purposePreview || l == purposeApply ||
			l == purposeDoctor
		if strings.HasSuffix(text, ".") != sentence || strings.Count(text, ".") > 1 {
			t.Errorf("%q ends badly", text)
		}
	}
}

func TestTerminalLinesPromiseNothing(t *testing.T) {
	for _, l := range []sentenceID{
		stCodeFix, stTerminal, stTerminalReauth, stTerminalAnswer, stTerminalRuntime, ctaNeedsCode, ctaReconnect,
		ctaAddCredential,
		sumUploadFailedTerminal, sumStateReadTerminal, sumStalePendingTerminal, sumStalledTerminal,
		rowTerminalGap, rowUnsupported, rowUnavailable, rowUnsupportedAccepted, rowUnavailableAccepted, rowAccepted,
		rowUnknown,
		hapTerminal, meansTerminal, meansStopped, nextNothing,
	} {
		if w := containsAny(sentence(l), promiseWords); w != "" {
			t.Errorf("%q promises %q", sentence(l), w)
		}
	}
}

func TestOnlyOneLineClaimsThatAllIsWell(t *testing.T) {
	for l, text := range sentences {
		if w := containsAny(text, claimWords); w != "" && sentenceID(l) != stNormal {
			t.Errorf("%q claims %q", text, w)
		}
	}
}

func TestFragmentsAreWords(t *testing.T) {
	for _, text := range []string{
		beforeAgeFresh, beforeAgeBroken, beforeAgeManual, beforeAgeStale, afterAgeRetained, ageToday, ageYesterday, afterDays,
		wordRecord, wordRecords, afterCommitted, afterHeld, afterHeldDevice, wordItem, wordItems, beforeDrained,
		betweenHeldDrained,
		beforeUnread, afterUnread, unreadUnspecified,
		afterAgeNothingNew, wordNewRecord, wordNewRecords, wordRecordIs, wordRecordsAre, afterKeptStopped, afterKeptFirst,
		afterKeptGoesOn,
		beforeNext, afterNextSooner,
		inAMoment, inMinutes, inAnHour, inADay, beforeHours, afterHours, afterDaysAhead,
	} {
		if word := outOfPlace.FindString(text); word != "" {
			t.Errorf("%q says %q", text, word)
		}
	}
	for _, w := range unreadWords {
		if word := outOfPlace.FindString(w.Words); word != "" {
			t.Errorf("%q says %q", w.Words, word)
		}
	}
}

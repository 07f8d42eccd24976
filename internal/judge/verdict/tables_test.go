package verdict

import (
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// TestToneOfEveryValue writes the votes out once more, by tone.
func TestToneOfEveryValue(t *testing.T) {
	for axis, byTone := range map[string]map[Tone]string{
		axisState: {Green: "healthy idle", Grey: "unknown", Amber: "degraded needs_attention cooling_off",
			Red: "blocked"},
		axisFreshness: {Green: "fresh stale", Grey: "unknown"},
		axisDisposition: {Green: "complete owner_refresh_due", Grey: "checking", Amber: "resumable awaiting_owner",
			Red: "terminal"},
		axisAttention: {Green: "none", Amber: "open acknowledged in_progress"},
		axisOutbox:    {Green: "idle active unknown", Amber: "stalled"},
		axisCoverage: {
			Green: "complete deferred inventory_only", Grey: "unknown",
			Amber: "partial gaps retryable_gap", Red: "terminal_gap unsupported unavailable",
		},
	} {
		for tone, values := range byTone {
			for _, value := range strings.Fields(values) {
				if got := toneOf(axis, value); got != tone {
					t.Errorf("%s %s votes %s, want %s", axis, value, got, tone)
				}
			}
		}
	}
	if toneOf("no_such_axis", "fresh") != Grey || toneOf(axisState, "") != Grey {
		t.Error("what is not known does not vote grey")
	}
}

func TestToneTableHoldsTheWholeVocabulary(t *testing.T) {
	vocabulary := map[string][]string{
		axisState: texts(health.States...),
		axisCoverage: texts(health.Complete, health.Partial, health.Gapped, health.RetryableGap, health.TerminalGap,
			health.Deferred,
			health.InventoryOnly, health.Unavailable, health.Unsupported, health.CoverageUnknown),
		axisDisposition: texts(dispositionOrder[:]...),
		axisAttention: texts(health.AttentionNone, health.AttentionOpen, health.AttentionAcknowledged,
			health.AttentionInProgress),
		axisOutbox:    texts(health.OutboxIdle, health.OutboxActive, health.OutboxStalled, health.OutboxUnknown),
		axisFreshness: texts(health.Fresh, health.Stale, health.FreshnessUnknown),
	}
	for _, a := range toneTable {
		var listed []string
		for _, v := range a.Votes {
			listed = append(listed, v.Value)
		}
		want := slices.Clone(vocabulary[a.Axis])
		slices.Sort(listed)
		slices.Sort(want)
		if !slices.Equal(listed, want) {
			t.Errorf("%s lists %v, want %v", a.Axis, listed, want)
		}
	}
}

func texts[T ~string](values ...T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

func TestLabelsAreABijection(t *testing.T) {
	byLabel, byTone := map[string]Tone{}, map[Tone]string{}
	for _, l := range labelTable {
		byLabel[l.Label], byTone[l.Tone] = l.Tone, l.Label
	}
	if len(byLabel) != 4 || len(byTone) != 4 {
		t.Errorf("labels %v, tones %v", byLabel, byTone)
	}
}

func TestTablesAreComplete(t *testing.T) {
	names := map[string]int{"tone": 34, "label": 4, "actions": len(actionRules), "channel": len(channelTable)}
	for _, table := range Tables() {
		if names[table.Name] != len(table.Rows) {
			t.Errorf("%s has %d rows, want %d", table.Name, len(table.Rows), names[table.Name])
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Head) || slices.Contains(row, "") {
				t.Errorf("%s: row %v under %v", table.Name, row, table.Head)
			}
		}
	}
}

// TestEveryFamilyHasWords keeps a new family of evidence from going unnamed.
func TestEveryFamilyHasWords(t *testing.T) {
	for _, f := range evidence.Families {
		if unreadSentence([]string{string(f)}) == unreadUnspecified {
			t.Errorf("%s has no words", f)
		}
	}
}

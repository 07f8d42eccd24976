package verdict

import "github.com/pdpp-go/pdpp/internal/judge/health"

// annotations returns the notes beside the pill. A calm verdict has at most one. Below the attention channel they
// mention only freshness, schedule and activity. None contains a count.
func annotations(r *reading, c Channel) []Annotation {
	notes := make([]Annotation, 0, 1)
	if text := freshnessNote(r); text != "" {
		notes = append(notes, Annotation{KindFreshness, text})
	}
	if c == Calm && len(notes) > 0 {
		return notes
	}
	if text := activityNote(r); text != "" {
		notes = append(notes, Annotation{KindActivity, text})
	}
	if c == Calm {
		return notes
	}
	if r.paused {
		notes = append(notes, Annotation{KindSchedule, sentence(noteSchedulePaused)})
	}
	if c == Attention {
		notes = append(notes, attentionNotes(r)...)
	}
	return notes
}

func attentionNotes(r *reading) (notes []Annotation) {
	if r.asked {
		notes = append(notes, Annotation{KindAttention, sentence(noteAnswer)})
	}
	if r.stalled {
		notes = append(notes, Annotation{KindOutbox, sentence(noteStalled)})
	}
	if t := toneOf(axisCoverage, string(r.coverage)); t == Amber || t == Red {
		notes = append(notes, Annotation{KindCoverage, sentence(noteMissing)})
	}
	return notes
}

// freshnessNote returns a note for all data that is not fresh. If the pill is not green, it states only when the last
// refresh succeeded.
func freshnessNote(r *reading) string {
	age := r.age()
	switch {
	case r.freshnessUnknown():
		return sentence(noteFreshnessUnknown)
	case age == "" && r.fresh() && r.tone == Green:
		return ""
	case age == "":
		return sentence(noteRefreshTimeUnknown)
	case r.tone != Green:
		return beforeAgeBroken + age
	case r.fresh():
		return beforeAgeFresh + age
	case r.manualOnly:
		return beforeAgeManual + age
	default:
		return beforeAgeStale + age
	}
}

func activityNote(r *reading) string {
	switch {
	case r.syncing:
		return sentence(noteRunUnderWay)
	case r.in.Snapshot.Axes.Outbox == health.OutboxActive:
		return sentence(noteUploading)
	default:
		return ""
	}
}

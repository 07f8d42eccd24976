package verdict

import "github.com/pdpp-go/pdpp/internal/judge/health"

// annotations are the notes beside the pill. A calm verdict has at most one. Up
// to the advisory channel they speak of freshness, schedule and activity alone,
// and none of them ever holds a count.
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
		notes = append(notes, Annotation{KindSchedule, say(noteSchedulePaused)})
	}
	if c == Attention {
		notes = append(notes, attentionNotes(r)...)
	}
	return notes
}

func attentionNotes(r *reading) (notes []Annotation) {
	if r.asked {
		notes = append(notes, Annotation{KindAttention, say(noteAnswer)})
	}
	if r.stalled {
		notes = append(notes, Annotation{KindOutbox, say(noteStalled)})
	}
	if t := toneOf(axisCoverage, string(r.coverage)); t == Amber || t == Red {
		notes = append(notes, Annotation{KindCoverage, say(noteMissing)})
	}
	return notes
}

// freshnessNote is never empty for data that is not fresh. Beside a pill that
// is not green it tells when the last refresh succeeded and claims no more.
func freshnessNote(r *reading) string {
	age := r.age()
	switch {
	case r.freshnessUnknown():
		return say(noteFreshnessUnknown)
	case age == "" && r.fresh() && r.tone == Green:
		return ""
	case age == "":
		return say(noteRefreshTimeUnknown)
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
		return say(noteRunUnderWay)
	case r.in.Snapshot.Axes.Outbox == health.OutboxActive:
		return say(noteUploading)
	default:
		return ""
	}
}

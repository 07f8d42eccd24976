package verdict

import "github.com/pdpp-go/pdpp/internal/judge/health"

// buildProgress returns the sign of progress that fits how the connection collects. Unmeasured numbers stay absent. A
// number that is zero because of how the connection collects is not shown as a result.
func buildProgress(r *reading) Progress {
	e := r.in.Progress
	if e == nil {
		return Progress{Mode: health.ModeManual, Headline: sentence(progressUnknown), FirstRun: r.firstRun()}
	}
	p := Progress{
		Mode: r.mode(), RetainedRecords: e.RetainedRecords, RecordsCommittedLastRun: e.RecordsCommittedLastRun,
		GapsDrainedLastRun: e.GapsDrainedLastRun, LastRefreshedAt: e.LastRefreshedAt,
		FirstRun: r.firstRun(),
	}
	if p.Mode == health.ModeDeferred && p.RecordsCommittedLastRun != nil && *p.RecordsCommittedLastRun == 0 {
		p.RecordsCommittedLastRun = nil
	}
	p.Headline = progressHeadline(r, &p)
	return p
}

func progressHeadline(r *reading, p *Progress) string {
	var text string
	switch p.Mode {
	case health.ModeScheduled:
		text = committed(p)
	case health.ModeDeferred:
		text = drained(p)
	case health.ModeLocalDevice:
		text = heldRecords(p, afterHeldDevice)
	default:
		text = heldSince(r, p)
	}
	if text == "" {
		return sentence(progressUnknown)
	}
	return text
}

// committed describes what the last run collected, or what is stored if no run reported it.
func committed(p *Progress) string {
	switch n := p.RecordsCommittedLastRun; {
	case n == nil:
		return heldRecords(p, afterHeld)
	case *n <= 0:
		return sentence(progressNothingNew)
	default:
		return counted(*n, wordRecord, wordRecords) + afterCommitted
	}
}

// drained describes how many earlier gaps the last run filled.
func drained(p *Progress) string {
	text := heldRecords(p, afterHeld)
	n := p.GapsDrainedLastRun
	switch {
	case n == nil || *n <= 0:
		return text
	case text == "":
		return beforeDrained + counted(*n, wordItem, wordItems)
	default:
		return text + betweenHeldDrained + counted(*n, wordItem, wordItems)
	}
}

// heldSince omits the age of the refresh if no refresh can help.
func heldSince(r *reading, p *Progress) string {
	text, age := heldRecords(p, afterHeld), r.age()
	switch {
	case age == "" || r.terminal():
		return text
	case text == "":
		return beforeAgeManual + age
	default:
		return text + afterAgeRetained + age
	}
}

func heldRecords(p *Progress, after string) string {
	switch n := p.RetainedRecords; {
	case n == nil:
		return ""
	case *n <= 0:
		return sentence(progressNoneHeld)
	default:
		return counted(*n, wordRecord, wordRecords) + after
	}
}

package verdict

import "github.com/pdpp-go/pdpp/internal/judge/health"

// progress shows the sign of progress that suits how the connection collects.
// A number that is not measured stays absent, and one that is zero because of
// how the connection collects is not shown as a result.
func progress(r *reading) Progress {
	e := r.in.Progress
	if e == nil {
		return Progress{Mode: health.ModeManual, Headline: say(progressUnknown), FirstRun: r.firstRun()}
	}
	p := Progress{
		Mode: r.mode(), RetainedRecords: e.RetainedRecords, RecordsCommittedLastRun: e.RecordsCommittedLastRun,
		GapsDrainedLastRun: e.GapsDrainedLastRun, LastRefreshedAt: e.LastRefreshedAt,
		FirstRun: r.firstRun(),
	}
	if p.Mode == health.ModeDeferred && p.RecordsCommittedLastRun != nil && *p.RecordsCommittedLastRun == 0 {
		p.RecordsCommittedLastRun = nil
	}
	p.Headline = headline(r, &p)
	return p
}

func headline(r *reading, p *Progress) string {
	var text string
	switch p.Mode {
	case health.ModeScheduled:
		text = committed(p)
	case health.ModeDeferred:
		text = drained(p)
	case health.ModeLocalDevice:
		text = held(p, afterHeldDevice)
	default:
		text = heldSince(r, p)
	}
	if text == "" {
		return say(progressUnknown)
	}
	return text
}

// committed is what the last run brought, or what is held when no run told.
func committed(p *Progress) string {
	switch n := p.RecordsCommittedLastRun; {
	case n == nil:
		return held(p, afterHeld)
	case *n <= 0:
		return say(progressNothingNew)
	default:
		return counted(*n, wordRecord, wordRecords) + afterCommitted
	}
}

// drained is what the last run filled in of what earlier runs left.
func drained(p *Progress) string {
	text := held(p, afterHeld)
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

// heldSince leaves the age of the refresh out where no refresh can help.
func heldSince(r *reading, p *Progress) string {
	text, age := held(p, afterHeld), r.age()
	switch {
	case age == "" || r.terminal():
		return text
	case text == "":
		return beforeAgeManual + age
	default:
		return text + afterAgeRetained + age
	}
}

func held(p *Progress, after string) string {
	switch n := p.RetainedRecords; {
	case n == nil:
		return ""
	case *n <= 0:
		return say(progressNoneHeld)
	default:
		return counted(*n, wordRecord, wordRecords) + after
	}
}

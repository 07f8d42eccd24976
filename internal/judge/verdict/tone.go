package verdict

// Inputs of the tone, in the order in which they are named as its cause.
const (
	axisState       = "state"
	axisCoverage    = "coverage"
	axisDisposition = "disposition"
	axisAttention   = "attention"
	axisOutbox      = "outbox"
	axisFreshness   = "freshness"
)

// axisVotes maps the values of one axis to tones. An unlisted value means unknown: grey.
type axisVotes struct {
	Axis  string
	Votes []vote
}

type vote struct {
	Value string
	Tone  Tone
}

// toneTable defines all tones; the worst vote wins. Stale data is not a collection failure: it votes green and gets
// an annotation.
var toneTable = [...]axisVotes{
	{axisState, []vote{
		{"healthy", Green}, {"idle", Green}, {"unknown", Grey},
		{"degraded", Amber}, {"needs_attention", Amber}, {"cooling_off", Amber}, {"blocked", Red},
	}},
	{axisCoverage, []vote{
		{"complete", Green}, {"deferred", Green}, {"inventory_only", Green}, {"unknown", Grey},
		{"partial", Amber}, {"gaps", Amber}, {"retryable_gap", Amber},
		{"terminal_gap", Red}, {"unsupported", Red}, {"unavailable", Red},
	}},
	{axisDisposition, []vote{
		{"complete", Green}, {"owner_refresh_due", Green}, {"checking", Grey},
		{"resumable", Amber}, {"awaiting_owner", Amber}, {"terminal", Red},
	}},
	{axisAttention, []vote{
		{"none", Green}, {"open", Amber}, {"acknowledged", Amber}, {"in_progress", Amber},
	}},
	{axisOutbox, []vote{
		{"idle", Green}, {"active", Green}, {"unknown", Green}, {"stalled", Amber},
	}},
	{axisFreshness, []vote{
		{"fresh", Green}, {"stale", Green}, {"unknown", Grey},
	}},
}

// labelTable lists the label of each tone, from the best tone to the worst.
var labelTable = [...]struct {
	Tone  Tone
	Label string
}{
	{Green, "Healthy"}, {Grey, "Checking"}, {Amber, "Degraded"}, {Red, "Can't collect"},
}

func toneRank(t Tone) int {
	for i := range labelTable {
		if labelTable[i].Tone == t {
			return i
		}
	}
	return toneRank(Grey)
}

func labelOf(t Tone) string { return labelTable[toneRank(t)].Label }

func toneOf(axis, value string) Tone {
	for i := range toneTable {
		if toneTable[i].Axis == axis {
			return toneTable[i].toneFor(value)
		}
	}
	return Grey
}

func (a *axisVotes) toneFor(value string) Tone {
	for i := range a.Votes {
		if a.Votes[i].Value == value {
			return a.Votes[i].Tone
		}
	}
	return Grey
}

// toneInputs returns one vote per axis. Coverage and disposition are the worst of the voting streams.
func toneInputs(r *reading) []ToneInput {
	s := &r.in.Snapshot
	values := [...]string{
		string(s.State), string(r.coverage), string(r.disposition),
		string(s.Axes.Attention), string(s.Axes.Outbox), string(s.Axes.Freshness),
	}
	inputs := make([]ToneInput, len(toneTable))
	for i := range toneTable {
		inputs[i] = ToneInput{Axis: toneTable[i].Axis, Tone: toneTable[i].toneFor(values[i])}
	}
	return inputs
}

// worstTone returns the worst vote and the first axis with it.
func worstTone(inputs []ToneInput) (worst Tone, cause string) {
	worst = Green
	for _, v := range inputs {
		if cause == "" || toneRank(v.Tone) > toneRank(worst) {
			worst, cause = v.Tone, v.Axis
		}
	}
	return worst, cause
}

package conformance

import "fmt"

// few is the owner's cap under test.
const few = "1"

func needsLane(k *kit) string {
	if k.first == nil {
		return ""
	}
	for _, s := range k.Manifest.Streams {
		if len(s.ParentStreams) > 0 && len(k.first.Of(s.Name)) >= enough {
			return ""
		}
	}
	return "no stream with parent_streams sent enough records"
}

// capped lets the owner allow one detail. What is left becomes gaps, as the owner's own
// choice.
func capped(k *kit) ([]Fault, error) {
	name := k.Manifest.EnvPrefix() + maxDetails
	o, err := k.run(request{env: map[string]string{name: few}, answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	if !o.succeeded() {
		return faults, nil
	}
	k.held = o
	if len(o.Gaps) == 0 {
		faults = append(faults, Fault{
			Text: fmt.Sprintf("with %s=%s it declares nothing as left", name, few),
			Mend: "Fetch at most so many details in a run, and say DETAIL_GAP with the class run_cap_deferred for the rest.",
		})
	}
	for _, g := range o.Gaps {
		if g.Reason.SourcePressure() {
			faults = append(faults, Fault{
				Text: fmt.Sprintf("a gap of %s blames the provider (%s) although the owner's cap left it", g.Stream, g.Reason),
				Mend: "Use a reason such as run_cap_deferred or max_requests: pressure slows later runs down.",
			})
			break
		}
	}
	return append(faults, k.lost(o)...), nil
}

func needsGaps(k *kit) string {
	if k.first == nil || k.left() != nil {
		return ""
	}
	return "no run left a gap"
}

// left is a run that left gaps behind, if there is one.
func (k *kit) left() *outcome {
	for _, o := range []*outcome{k.held, k.first} {
		if o != nil {
			if _, gaps := o.kept(); len(entries(gaps)) > 0 {
				return o
			}
		}
	}
	return nil
}

// recovery serves the gaps that were left, the first with START and the rest on the next
// page, and asks for nothing else.
func recovery(k *kit) ([]Fault, error) {
	before := k.left()
	o, err := k.run(request{state: before, recovery: true, answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	if !o.succeeded() {
		return faults, nil
	}
	_, gaps := before.kept()
	served := entries(gaps)
	settled := len(o.Recovered)
	lanes := map[string]bool{}
	for _, g := range served {
		lanes[g.Stream], lanes[g.ParentStream] = true, true
	}
	for _, g := range o.Gaps {
		if g.GapID != "" {
			settled++
		}
	}
	if settled == 0 {
		faults = append(faults, Fault{
			Text: fmt.Sprintf("none of %d gaps that were served is recovered or put off", len(served)),
			Mend: "Fetch what START.detail_gaps names, say DETAIL_GAP_ATTEMPTED, the records, DETAIL_GAP_RECOVERED, and ask for the next page until it is empty.",
		})
	}
	for _, r := range o.Records {
		if !lanes[r.Stream] {
			faults = append(faults, Fault{Text: "a recovery_only run sends records of " + r.Stream + ", which has no gap", Mend: "When START says recovery_only, recover gaps and do nothing else."})
			break
		}
	}
	for stream, cursor := range o.State {
		if place(cursor) != place(before.State[stream]) {
			faults = append(faults, Fault{Text: "a recovery_only run moves the cursor of " + stream, Mend: "When START says recovery_only, send no STATE that moves a place."})
		}
	}
	return append(faults, k.lost(before, o)...), nil
}

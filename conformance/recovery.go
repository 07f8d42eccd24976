package conformance

import "fmt"

// detailCap is the owner's cap in this check.
const detailCap = "1"

func needsLane(k *testKit) string {
	if k.first == nil {
		return ""
	}
	for _, s := range k.Manifest.Streams {
		if len(s.ParentStreams) > 0 && len(k.first.Of(s.Name)) >= enoughRecords {
			return ""
		}
	}
	return "no stream with parent_streams sent enough records"
}

// checkCap allows one detail. The rest must become gaps with a reason of the owner's choice.
func checkCap(k *testKit) ([]Fault, error) {
	name := k.Manifest.EnvPrefix() + maxDetails
	o, err := k.run(runRequest{env: map[string]string{name: detailCap}, answer: k.owner()})
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
			Text: fmt.Sprintf("with %s=%s it declares nothing as remaining", name, detailCap),
			Fix:  "Fetch at most that many details per run, and send DETAIL_GAP with the class run_cap_deferred for the rest.",
		})
	}
	for _, g := range o.Gaps {
		if g.Reason.SourcePressure() {
			faults = append(faults, Fault{
				Text: fmt.Sprintf("a gap of %s blames the provider (%s) although the owner's cap left it", g.Stream, g.Reason),
				Fix:  "Use a reason such as run_cap_deferred or max_requests: pressure slows later runs down.",
			})
			break
		}
	}
	return append(faults, k.lost(o)...), nil
}

func needsGaps(k *testKit) string {
	if k.first == nil || k.left() != nil {
		return ""
	}
	return "no run left a gap"
}

// left returns a run that left gaps, or nil.
func (k *testKit) left() *runOutcome {
	for _, o := range []*runOutcome{k.held, k.first} {
		if o != nil {
			if _, gaps := o.kept(); len(gapEntries(gaps)) > 0 {
				return o
			}
		}
	}
	return nil
}

// checkRecovery serves the remaining gaps, the first with START and the rest on the next page, and requests nothing
// else.
func checkRecovery(k *testKit) ([]Fault, error) {
	before := k.left()
	o, err := k.run(runRequest{state: before, recovery: true, answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	if !o.succeeded() {
		return faults, nil
	}
	_, gaps := before.kept()
	served := gapEntries(gaps)
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
			Text: fmt.Sprintf("none of %d served gaps is recovered or postponed", len(served)),
			Fix: "Fetch the gaps of START.detail_gaps, send DETAIL_GAP_ATTEMPTED, the records, DETAIL_GAP_RECOVERED, and " +
				"request pages until one is empty.",
		})
	}
	for _, r := range o.Records {
		if !lanes[r.Stream] {
			faults = append(
				faults,
				Fault{
					Text: "a recovery_only run sends records of " + r.Stream + ", which has no gap",
					Fix:  "If START has recovery_only, only recover gaps.",
				},
			)
			break
		}
	}
	for stream, cursor := range o.State {
		if position(cursor) != position(before.State[stream]) {
			faults = append(
				faults,
				Fault{
					Text: "a recovery_only run moves the cursor of " + stream,
					Fix:  "If START has recovery_only, send no STATE that moves a cursor.",
				},
			)
		}
	}
	return append(faults, k.lost(before, o)...), nil
}

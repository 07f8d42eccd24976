package conformance

import (
	"encoding/json"
	"fmt"
	"syscall"

	"github.com/pdpp-go/pdpp/protocol"
)

func firstRun(k *testKit) ([]Fault, error) {
	o, err := k.run(runRequest{answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	if o.succeeded() && len(o.Records) == 0 {
		faults = append(
			faults,
			Fault{
				Text: "it sent no record",
				Fix: "Try it with an account that has something in it; if a source cannot be read, send SKIP_RESULT or end as " +
					"failed.",
			},
		)
	}
	if o.succeeded() && len(faults) == 0 {
		k.first = o
	}
	return faults, nil
}

// unsuccessful returns why a run did not succeed.
func (k *testKit) unsuccessful(o *runOutcome) []Fault {
	switch {
	case o.succeeded():
		return nil
	case o.Done == nil && len(o.Faults) > 0: // already reported
		return nil
	case o.Done == nil:
		return []Fault{{Text: "it did not finish" + quoteOutput(o.lastWord), Fix: "See the check done."}}
	case o.Done.Status == protocol.DoneSucceeded:
		return nil // cut off after DONE: the checks of run ends report it
	}
	text := string(o.Done.Status)
	if e := o.Done.Error; e != nil {
		text += fmt.Sprintf(": %s %s", e.Code, e.Message)
	}
	return []Fault{
		{Text: "it ended as " + text, Fix: "Use an account that it can read, with the variables of its manifest."},
	}
}

// enoughRecords distinguishes a run that starts over from one that sends the last record again.
const enoughRecords = 3

func resume(k *testKit) ([]Fault, error) {
	o, err := k.run(runRequest{state: k.first, answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	for _, s := range k.Manifest.Streams {
		before, again := k.first.Of(s.Name), o.Of(s.Name)
		if !s.Incremental || len(before) < enoughRecords || position(k.first.State[s.Name]) == "" {
			continue
		}
		same := 0
		for key, r := range before {
			if have, ok := again[key]; ok && have.Sum == r.Sum {
				same++
			}
		}
		if same == len(before) {
			faults = append(faults, Fault{
				Text: fmt.Sprintf(
					"the second run sends all %d records of %s again although START contained the cursor: it starts over",
					same,
					s.Name,
				),
				Fix: "Begin at START.state[stream], or declare the stream without incremental.",
			})
		}
	}
	return faults, nil
}

// checkKill ends the connector at three moments and lets the next run continue from the stored state.
func checkKill(k *testKit) ([]Fault, error) {
	var faults []Fault
	half := len(k.first.Records) / 2
	for _, moment := range []func(m protocol.Message, t *Transcript) bool{
		func(_ protocol.Message, t *Transcript) bool { return len(t.Records) >= 1 },
		func(_ protocol.Message, t *Transcript) bool { return len(t.State) > 0 },
		func(_ protocol.Message, t *Transcript) bool { return len(t.Records) > half },
	} {
		killed, err := k.run(runRequest{stopAt: moment, answer: k.owner()})
		if err != nil {
			return nil, err
		}
		next, err := k.run(runRequest{state: killed, answer: k.owner()})
		if err != nil {
			return nil, err
		}
		faults = append(faults, next.Faults...)
		faults = append(faults, k.unsuccessful(next)...)
		if next.succeeded() {
			faults = append(faults, k.lost(killed, next)...)
		}
	}
	return faults, nil
}

// lost reports records of the first run that these runs together neither send nor declare.
func (k *testKit) lost(runs ...*runOutcome) []Fault {
	var faults []Fault
	var have []Record
	declared := map[string]bool{}
	for _, o := range runs {
		records, gaps := o.kept()
		have = append(have, records...)
		for _, g := range gaps {
			declared[g.Stream] = true
		}
		for _, s := range o.Skips {
			declared[s.Stream] = true
		}
	}
	for _, s := range k.Manifest.Streams {
		want, got := k.first.Of(s.Name), existingRecords(have, s.Name)
		missing := 0
		for key := range want {
			if _, ok := got[key]; !ok {
				missing++
			}
		}
		if missing > 0 && !declared[s.Name] && !declared[""] {
			faults = append(faults, Fault{
				Text: fmt.Sprintf(
					"%d of %d records of %s are lost: no later run sends them, and no gap declares them",
					missing,
					len(want),
					s.Name,
				),
				Fix: "Send STATE after the records that its cursor covers, never before, and continue exactly there.",
			})
		}
	}
	return faults
}

// pendingOutput exceeds the output that a connector can have buffered when it is stopped. A connector that has
// finished by then may report that.
const pendingOutput = 256 << 10

func stop(k *testKit) ([]Fault, error) {
	o, err := k.run(runRequest{signal: syscall.SIGTERM, slow: true, answer: k.owner(),
		stopAt: func(_ protocol.Message, t *Transcript) bool { return len(t.Records) >= 1 }})
	if err != nil {
		return nil, err
	}
	const fix = "On SIGTERM send DONE with cancelled and exit with another code than 0, or do not catch the signal."
	switch {
	case !o.inTime || o.cut:
		return []Fault{{Text: fmt.Sprintf("it was still running %v after SIGTERM", k.stopGrace()), Fix: fix}}, nil
	case o.succeeded() && o.after > pendingOutput:
		return []Fault{{Text: fmt.Sprintf("it wrote %d KiB more after SIGTERM", o.after>>10), Fix: fix}}, nil
	case o.code == 0 && (o.Done == nil || o.Done.Status != protocol.DoneSucceeded):
		return []Fault{
			{
				Text: "it exits with 0 after SIGTERM although it had not succeeded",
				Fix:  "Exit with another code than 0 after SIGTERM.",
			},
		}, nil
	}
	return nil, nil
}

func slowly(k *testKit) ([]Fault, error) {
	o, err := k.run(runRequest{slow: true, answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	if o.succeeded() {
		faults = append(faults, k.lost(o)...)
	}
	return faults, nil
}

// checkSharing announces that another run joined and left, as soon as the connector uses a shared quota.
func checkSharing(k *testKit) ([]Fault, error) {
	o, err := k.run(runRequest{shared: true, answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	if len(o.senders) == 0 && len(faults) == 0 {
		return nil, inapplicable("it asked for no allowance")
	}
	if o.succeeded() {
		faults = append(faults, k.lost(o)...)
	}
	return faults, nil
}

// checkInteraction declines to answer questions: with all variables set, and without the credential.
func checkInteraction(k *testKit) ([]Fault, error) {
	var faults []Fault
	asked := false
	tries := []map[string]string{k.withoutCredentials()}
	if k.declaresQuestions() {
		tries = append(tries, nil)
	}
	for _, env := range tries {
		o, err := k.run(runRequest{env: env, answer: func(protocol.Interaction) protocol.InteractionResponse {
			return protocol.InteractionResponse{Status: protocol.ResponseCancelled}
		}})
		if err != nil {
			return nil, err
		}
		if len(o.Questions) == 0 {
			continue
		}
		asked = true
		faults = append(faults, o.Faults...)
		if o.Done != nil && o.Done.Status == protocol.DoneSucceeded && len(o.Records) == 0 && len(o.Skips) == 0 &&
			len(o.Gaps) == 0 {
			faults = append(
				faults,
				Fault{
					Text: "it succeeds without records although its question was declined",
					Fix:  "End with DONE, failed, and an error that names what was declined.",
				},
			)
		}
	}
	if !asked {
		return nil, inapplicable("it asked nothing")
	}
	return faults, nil
}

func (k *testKit) declaresQuestions() bool {
	if rr := k.Manifest.RuntimeRequirements; rr != nil {
		if _, interactive := rr.Bindings["interactive"]; interactive {
			return true
		}
	}
	return k.Manifest.Capabilities != nil && len(k.Manifest.Capabilities.HumanInteraction) > 0
}

func success(answers map[string]string) protocol.InteractionResponse {
	data, _ := json.Marshal(answers) // strings
	return protocol.InteractionResponse{Status: protocol.ResponseSuccess, Data: data}
}

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"pdpp/protocol"
)

// check is one row of the report.
type check struct {
	name  string
	about string
	// needs says why the check does not apply; empty means that it does.
	needs func(*kit) string
	// alone marks checks that need no successful first run before them.
	alone bool
	run   func(*kit) ([]Fault, error)
}

// checks in the order in which they are made.
var checks = []check{
	{"no start", "exits with another code than 0, and says nothing, when stdin ends without START", nil, true, withoutStart},
	{"missing credential", "says which credential is missing, and ends", needsCredential, true, missingCredential},
	{"first run", "collects from nothing; every line keeps the rules", nil, true, firstRun},
	{"resume", "goes on from its own cursors", nil, false, resume},
	{"kill", "loses nothing when it is killed: no cursor is ahead of its records", nil, false, kill},
	{"stop", "ends on SIGTERM", nil, false, stop},
	{"scope", "sends what is asked for and nothing else", nil, false, scoped},
	{"slow reader", "waits for whoever reads its output, and loses nothing", nil, false, slowly},
	{"cap", "keeps to the owner's cap, and writes down what it left", needsLane, false, capped},
	{"gap recovery", "brings what was left, page by page", needsGaps, false, recovery},
	{"allowance", "shares an allowance that it asks for, whatever is said of it meanwhile", nil, false, sharing},
	{"interaction", "ends when a question is not answered", nil, true, interaction},
	{"done", "ends every run with one DONE, the right count and the right exit code", nil, true, func(k *kit) ([]Fault, error) { return k.ends, nil }},
	{"secrets", "keeps credentials out of what it writes for people", needsCredential, true, func(k *kit) ([]Fault, error) { return k.told, nil }},
}

// Run makes every check and reports. The error is about what kept the checks from being
// made at all.
func Run(ctx context.Context, target Target) (Report, error) {
	if target.Patience == 0 {
		target.Patience = defaultPatience
	}
	began := time.Now()
	k := &kit{ctx: ctx, Target: &target}
	report := Report{Connector: target.Manifest.Key(), Version: target.Manifest.Version}
	for _, c := range checks {
		row := Check{Name: c.name, About: c.about}
		why := ""
		if c.needs != nil {
			why = c.needs(k)
		}
		missing := target.unset()
		switch {
		case why != "":
			row.Result, row.Why = DoesNotApply, why
		case c.name == "first run" && missing != "":
			row.Result, row.Why = NotTried, "set "+missing+" in the environment, for an account that has something in it"
		case !c.alone && k.first == nil:
			row.Result, row.Why = NotTried, "needs a first run that succeeds"
		default:
			faults, err := c.run(k)
			var idle inapplicable
			switch row.Result, row.Faults = Passed, merged(faults); {
			case errors.As(err, &idle):
				row.Result, row.Why = DoesNotApply, string(idle)
			case err != nil:
				return report, err
			case len(row.Faults) > 0:
				row.Result = Failed
			}
		}
		report.Checks = append(report.Checks, row)
	}
	report.Runs, report.Seconds = k.runs, time.Since(began).Round(time.Millisecond).Seconds()
	return report, nil
}

// inapplicable says why a check could not show anything.
type inapplicable string

func (i inapplicable) Error() string { return string(i) }

func merged(faults []Fault) []Fault {
	var t Transcript
	for _, f := range faults {
		t.fault(f)
	}
	return t.Faults
}

func needsCredential(k *kit) string {
	if len(k.Manifest.CredentialEnv()) == 0 {
		return "the manifest declares no required credential"
	}
	return ""
}

func withoutStart(k *kit) ([]Fault, error) {
	k.runs++
	p, err := k.start(nil, false)
	if err != nil {
		return []Fault{{Text: "it cannot be started: " + err.Error(), Mend: "Make the file executable, and begin a script with #! and an interpreter that is in " + searchPath + "."}}, nil
	}
	defer p.close()
	_ = p.stdin.Close()
	wrote := make(chan int, 1)
	go func() {
		n, _ := p.stdout.Read(make([]byte, 1))
		wrote <- n
	}()
	inTime := p.wait(exitGrace)
	var faults []Fault
	if <-wrote > 0 {
		faults = append(faults, Fault{Text: "it writes to stdout before START was said", Mend: "Read START from stdin before anything else."})
	}
	switch {
	case !inTime:
		faults = append(faults, Fault{Text: fmt.Sprintf("it was still running %v after stdin had ended without START", exitGrace), Mend: "Exit with another code than 0 when stdin ends before START."})
	case p.code() == 0:
		faults = append(faults, Fault{Text: "it exits with 0 although nobody said START", Mend: "Exit with another code than 0 when stdin ends before START."})
	case p.code() == 127 || p.code() == 126:
		faults = append(faults, Fault{Text: fmt.Sprintf("its interpreter or a program that it starts cannot be run (%s)%s", p.exit(), said(p.stderr.last())), Mend: "Install it, or name it in the first line; connectors find programs in " + searchPath + "."})
	}
	return faults, nil
}

// withoutCredentials takes away everything that signs in.
func (k *kit) withoutCredentials() map[string]string {
	out := map[string]string{}
	for _, name := range k.Manifest.SecretEnv() {
		out[name] = ""
	}
	return out
}

func missingCredential(k *kit) ([]Fault, error) {
	o, err := k.run(request{env: k.withoutCredentials()})
	if err != nil {
		return nil, err
	}
	faults := o.Faults
	if o.Done == nil {
		return faults, nil // the rules of ends have it
	}
	if o.Done.Status == protocol.DoneSucceeded {
		return append(faults, Fault{Text: "it succeeds without its credential", Mend: "End with DONE, failed, and an error that names the missing variable."}), nil
	}
	text := ""
	if e := o.Done.Error; e != nil {
		text = e.Message
	}
	for _, s := range o.Skips {
		if s.Message != nil {
			text += " " + *s.Message
		}
	}
	names := k.Manifest.CredentialEnv()
	names = append(names, k.labels()...)
	if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(n)) }) {
		faults = append(faults, Fault{Text: fmt.Sprintf("the error does not name what is missing: %q", text), Mend: "Name the variable in error.message, such as " + names[0] + "."})
	}
	return faults, nil
}

// labels are what the owner calls the credential's fields.
func (k *kit) labels() (names []string) {
	if s := k.Manifest.Setup; s != nil && s.CredentialCapture != nil {
		for _, f := range s.CredentialCapture.Fields {
			if f.Required {
				names = append(names, f.Name, f.Label)
			}
		}
	}
	return names
}

// owner answers questions by what the author gave; nil when nothing was given.
func (k *kit) owner() func(protocol.Interaction) protocol.InteractionResponse {
	if len(k.Answers) == 0 {
		return nil
	}
	return func(protocol.Interaction) protocol.InteractionResponse { return success(k.Answers) }
}

func firstRun(k *kit) ([]Fault, error) {
	o, err := k.run(request{answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	if o.succeeded() && len(o.Records) == 0 {
		faults = append(faults, Fault{Text: "it sent no record", Mend: "Try it with an account that has something in it; when a source cannot be read, say SKIP_RESULT or end as failed."})
	}
	if o.succeeded() && len(faults) == 0 {
		k.first = o
	}
	return faults, nil
}

// unsuccessful tells why a run that should have succeeded has not.
func (k *kit) unsuccessful(o *outcome) []Fault {
	switch {
	case o.succeeded():
		return nil
	case o.Done == nil && len(o.Faults) > 0: // told already
		return nil
	case o.Done == nil:
		return []Fault{{Text: "it did not come to its end" + said(o.lastWord), Mend: "See the check done."}}
	case o.Done.Status == protocol.DoneSucceeded:
		return nil // cut off after DONE: the rules of ends have it
	}
	text := string(o.Done.Status)
	if e := o.Done.Error; e != nil {
		text += fmt.Sprintf(": %s %s", e.Code, e.Message)
	}
	return []Fault{{Text: "it ended as " + text, Mend: "Give it an account that it can read, with the variables of its manifest."}}
}

// enough is how many records tell a run that starts over from one that meets the last
// record again.
const enough = 3

func resume(k *kit) ([]Fault, error) {
	o, err := k.run(request{state: k.first, answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	for _, s := range k.Manifest.Streams {
		before, again := k.first.Of(s.Name), o.Of(s.Name)
		if !s.Incremental || len(before) < enough || place(k.first.State[s.Name]) == "" {
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
				Text: fmt.Sprintf("the second run sends all %d records of %s again although it was given the cursor: it starts over", same, s.Name),
				Mend: "Begin at START.state[stream], or declare the stream without incremental.",
			})
		}
	}
	return faults, nil
}

// kill ends the connector at three moments, and lets the next run go on from what was
// kept.
func kill(k *kit) ([]Fault, error) {
	var faults []Fault
	half := len(k.first.Records) / 2
	for _, moment := range []func(m protocol.Message, t *Transcript) bool{
		func(_ protocol.Message, t *Transcript) bool { return len(t.Records) >= 1 },
		func(_ protocol.Message, t *Transcript) bool { return len(t.State) > 0 },
		func(_ protocol.Message, t *Transcript) bool { return len(t.Records) > half },
	} {
		killed, err := k.run(request{stopAt: moment, answer: k.owner()})
		if err != nil {
			return nil, err
		}
		next, err := k.run(request{state: killed, answer: k.owner()})
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

// lost tells what the first run had and these runs together neither have nor declare.
func (k *kit) lost(runs ...*outcome) []Fault {
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
		want, got := k.first.Of(s.Name), existing(have, s.Name)
		missing := 0
		for key := range want {
			if _, ok := got[key]; !ok {
				missing++
			}
		}
		if missing > 0 && !declared[s.Name] && !declared[""] {
			faults = append(faults, Fault{
				Text: fmt.Sprintf("%d of %d records of %s are lost: no later run sends them, and no gap stands for them", missing, len(want), s.Name),
				Mend: "Send STATE after the records that its cursor covers, never before, and go on exactly there.",
			})
		}
	}
	return faults
}

// onItsWay is more than a connector can have written, or hold ready, when it is told to
// stop: one that has finished its work by then may say so.
const onItsWay = 256 << 10

func stop(k *kit) ([]Fault, error) {
	o, err := k.run(request{signal: syscall.SIGTERM, slow: true, answer: k.owner(),
		stopAt: func(_ protocol.Message, t *Transcript) bool { return len(t.Records) >= 1 }})
	if err != nil {
		return nil, err
	}
	const mend = "On SIGTERM say DONE with cancelled and exit with another code than 0, or do not catch the signal."
	switch {
	case !o.inTime || o.cut:
		return []Fault{{Text: fmt.Sprintf("it was still running %v after SIGTERM", stopGrace), Mend: mend}}, nil
	case o.succeeded() && o.after > onItsWay:
		return []Fault{{Text: fmt.Sprintf("it wrote %d KiB more after SIGTERM", o.after>>10), Mend: mend}}, nil
	case o.code == 0 && (o.Done == nil || o.Done.Status != protocol.DoneSucceeded):
		return []Fault{{Text: "it exits with 0 after SIGTERM although it had not succeeded", Mend: "Exit with another code than 0 after SIGTERM."}}, nil
	}
	return nil, nil
}

func slowly(k *kit) ([]Fault, error) {
	o, err := k.run(request{slow: true, answer: k.owner()})
	if err != nil {
		return nil, err
	}
	faults := append(o.Faults, k.unsuccessful(o)...)
	if o.succeeded() {
		faults = append(faults, k.lost(o)...)
	}
	return faults, nil
}

// sharing says that another run has come and gone, as soon as the connector draws on an allowance.
func sharing(k *kit) ([]Fault, error) {
	o, err := k.run(request{shared: true, answer: k.owner()})
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

// interaction refuses to answer: with everything set, and with the credential missing.
func interaction(k *kit) ([]Fault, error) {
	var faults []Fault
	asked := false
	tries := []map[string]string{k.withoutCredentials()}
	if k.declaresQuestions() {
		tries = append(tries, nil)
	}
	for _, env := range tries {
		o, err := k.run(request{env: env, answer: func(protocol.Interaction) protocol.InteractionResponse {
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
		if o.Done != nil && o.Done.Status == protocol.DoneSucceeded && len(o.Records) == 0 && len(o.Skips) == 0 && len(o.Gaps) == 0 {
			faults = append(faults, Fault{Text: "it succeeds with nothing although its question was refused", Mend: "End with DONE, failed, and an error that says what was refused."})
		}
	}
	if !asked {
		return nil, inapplicable("it asked nothing")
	}
	return faults, nil
}

func (k *kit) declaresQuestions() bool {
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

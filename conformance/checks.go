package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// checkSpec is one row of the report.
type checkSpec struct {
	name  string
	about string
	// needs returns why the check does not apply, or "" if it does.
	needs func(*testKit) string
	// independent marks checks that do not need a successful first run.
	independent bool
	run         func(*testKit) ([]Fault, error)
}

// checkList are in order of execution.
var checkList = []checkSpec{
	{
		"no start",
		"exits with another code than 0, and writes nothing but a DONE that failed, when stdin ends without START",
		nil,
		true,
		withoutStart,
	},
	{"missing credential", "names the missing credential, and ends", needsCredential, true, missingCredential},
	{"first run", "collects from the beginning; every line follows the rules", nil, true, firstRun},
	{"resume", "resumes from its own cursors", nil, false, resume},
	{"kill", "loses nothing when it is killed: no cursor is ahead of its records", nil, false, checkKill},
	{"stop", "ends on SIGTERM", nil, false, stop},
	{"scope", "sends exactly the requested scope", nil, false, checkScope},
	{"slow reader", "waits for a slow reader, and loses nothing", nil, false, slowly},
	{"cap", "respects the owner's cap, and declares the rest", needsLane, false, checkCap},
	{"gap recovery", "recovers the remaining gaps, page by page", needsGaps, false, checkRecovery},
	{"allowance", "shares a quota that it requests, whatever changes meanwhile", nil, false, checkSharing},
	{"interaction", "ends when a question is not answered", nil, true, checkInteraction},
	{
		"done",
		"ends every run with one DONE, the right count and the right exit code",
		nil,
		true,
		func(k *testKit) ([]Fault, error) { return k.ends, nil },
	},
	{
		"secrets",
		"keeps credentials out of its output for people",
		needsCredential,
		true,
		func(k *testKit) ([]Fault, error) { return k.secretsFound, nil },
	},
}

// Run makes every check and returns the report. The error means that the checks could not be made.
func Run(ctx context.Context, target Target) (Report, error) {
	if target.Patience == 0 {
		target.Patience = defaultPatience
	}
	began := time.Now()
	k := &testKit{ctx: ctx, Target: &target}
	k.keepRotated()
	report := Report{Protocol: string(target.Manifest.ProtocolVersion), Connector: target.Manifest.Key(),
		Version: target.Manifest.Version}
	for _, c := range checkList {
		row := Check{ID: strings.ReplaceAll(c.name, " ", "_"), Name: c.name, About: c.about}
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
		case !c.independent && k.first == nil:
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

// inapplicable is the reason why a check was not possible.
type inapplicable string

func (i inapplicable) Error() string { return string(i) }

func merged(faults []Fault) []Fault {
	var t Transcript
	for _, f := range faults {
		t.fault(f)
	}
	return t.Faults
}

func needsCredential(k *testKit) string {
	if len(k.Manifest.CredentialEnv()) == 0 {
		return "the manifest declares no required credential"
	}
	return ""
}

func withoutStart(k *testKit) ([]Fault, error) {
	k.runs++
	p, err := k.start(nil, false)
	if err != nil {
		return []Fault{
			{
				Text: "it cannot be started: " + err.Error(),
				Fix:  "Make the file executable, and begin a script with #! and an interpreter that is in " + searchPath + ".",
			},
		}, nil
	}
	defer p.close()
	_ = p.stdin.Close()
	wrote := make(chan []byte, 1)
	go func() {
		output, _ := io.ReadAll(io.LimitReader(p.stdout, longestRefusal)) // what could be read counts
		wrote <- output
	}()
	inTime := p.wait(exitGrace)
	var faults []Fault
	if output := <-wrote; len(output) > 0 && !refusesRun(output) {
		faults = append(
			faults,
			Fault{Text: "it got no START, and wrote something other than one DONE with the status failed",
				Fix: "Read START from stdin before anything else; write nothing, or one DONE that failed, if stdin ends."},
		)
	}
	switch {
	case !inTime:
		faults = append(
			faults,
			Fault{
				Text: fmt.Sprintf("it was still running %v after stdin had ended without START", exitGrace),
				Fix:  "Exit with another code than 0 when stdin ends before START.",
			},
		)
	case p.code() == 0:
		faults = append(
			faults,
			Fault{Text: "it exits with 0 without START", Fix: "Exit with another code than 0 when stdin ends before START."},
		)
	case p.code() == 127 || p.code() == 126:
		faults = append(
			faults,
			Fault{
				Text: fmt.Sprintf(
					"its interpreter or a program that it starts cannot be run (%s)%s",
					p.exit(),
					quoteOutput(p.stderr.last()),
				),
				Fix: "Install it, or name it in the first line; connectors find programs in " + searchPath + ".",
			},
		)
	}
	return faults, nil
}

// longestRefusal bounds what is read of a connector that got no START, in bytes.
const longestRefusal = 64 << 10

// refusesRun reports whether an output is one DONE that did not succeed.
func refusesRun(output []byte) bool {
	line, rest, _ := bytes.Cut(output, []byte("\n"))
	var done struct {
		Type   protocol.MessageType `json:"type"`
		Status protocol.DoneStatus  `json:"status"`
	}
	return len(bytes.TrimSpace(rest)) == 0 && json.Unmarshal(line, &done) == nil && done.Type == protocol.TypeDone &&
		done.Status != "" && done.Status != protocol.DoneSucceeded
}

// withoutCredentials returns overrides that remove all credentials.
func (k *testKit) withoutCredentials() map[string]string {
	out := map[string]string{}
	for _, name := range k.Manifest.SecretEnv() {
		out[name] = ""
	}
	return out
}

func missingCredential(k *testKit) ([]Fault, error) {
	o, err := k.run(runRequest{env: k.withoutCredentials()})
	if err != nil {
		return nil, err
	}
	faults := o.Faults
	if o.Done == nil {
		return faults, nil // the checks of run ends report it
	}
	if o.Done.Status == protocol.DoneSucceeded {
		return append(
			faults,
			Fault{
				Text: "it succeeds without its credential",
				Fix:  "End with DONE, failed, and an error that names the missing variable.",
			},
		), nil
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
	if !slices.ContainsFunc(
		names,
		func(n string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(n)) },
	) {
		faults = append(
			faults,
			Fault{
				Text: fmt.Sprintf("the error does not name what is missing: %q", text),
				Fix:  "Name the variable in error.message, such as " + names[0] + ".",
			},
		)
	}
	return faults, nil
}

// labels returns the owner's names of the credential fields.
func (k *testKit) labels() (names []string) {
	if s := k.Manifest.Setup; s != nil && s.CredentialCapture != nil {
		for _, f := range s.CredentialCapture.Fields {
			if f.Required {
				names = append(names, f.Name, f.Label)
			}
		}
	}
	return names
}

// owner returns a function that answers questions with the author's answers, or nil if there are none.
func (k *testKit) owner() func(protocol.Interaction) protocol.InteractionResponse {
	if len(k.Answers) == 0 {
		return nil
	}
	return func(protocol.Interaction) protocol.InteractionResponse { return success(k.Answers) }
}

package runner

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/protocol"
)

// Messages that a connector may not send, besides invalid records. Each case runs with a gap of the messages stream
// served under page-1:gap-m1, and without an Asker.
func TestMessageRules(t *testing.T) {
	served := protocol.GapEntry{GapID: "gap-m1", LeaseID: "page-1:gap-m1", Stream: "messages"}
	stolen, misplaced := served, served
	stolen.LeaseID = "page-7:gap-m1"
	misplaced.Stream = "threads"
	unserved := protocol.GapEntry{GapID: "gap-m2", LeaseID: "page-1:gap-m2", Stream: "messages"}
	help := `{"type":"ASSISTANCE","assistance_request_id":"h1","progress_posture":"running","owner_action":"none",` +
		`"response_contract":"none","message":"look"}`

	for name, c := range map[string]struct {
		lines []string
		rule  protocol.Subtype
	}{
		"progress": {[]string{`{"type":"PROGRESS","message":"x","stream":"notes"}`},
			protocol.UndeclaredProgress},
		"state":                 {[]string{state("notes", 1)}, protocol.UndeclaredState},
		"skip":                  {[]string{skip("notes", "x")}, protocol.UndeclaredStream},
		"gap":                   {[]string{gapOf("notes", "", "1")}, protocol.UndeclaredStream},
		"coverage":              {[]string{coverage("notes", "threads", "", "", "", "")}, protocol.UndeclaredStream},
		"coverage of no anchor": {[]string{coverage("messages", "notes", "", "", "", "")}, protocol.UndeclaredStream},
		"page": {[]string{`{"type":"DETAIL_GAPS_PAGE_REQUEST","request_id":"p","streams":["messages",` +
			`"notes"]}`}, protocol.UndeclaredStream},

		"question to nobody": {[]string{`{"type":"INTERACTION","request_id":"q","kind":"otp","message":"code?"}`},
			protocol.NoInteractiveBinding},

		"attempt under another lease":  {[]string{attempted(stolen)}, protocol.GapLeaseMismatch},
		"attempt of another stream":    {[]string{attempted(misplaced)}, protocol.GapLeaseMismatch},
		"attempt of an unserved gap":   {[]string{attempted(unserved)}, protocol.GapLeaseMismatch},
		"recovery under another lease": {[]string{recovered(stolen)}, protocol.GapLeaseMismatch},
		"recovery of an unserved gap":  {[]string{recovered(unserved)}, protocol.GapLeaseMismatch},
		"recovery twice":               {[]string{recovered(served), recovered(served)}, protocol.GapLeaseMismatch},
		"recovery of another key": {[]string{strings.Replace(recovered(served), `"gap_id"`, `"record_key":"m2","gap_id"`, 1)},
			protocol.GapLeaseMismatch},
		"deferral under another lease": {[]string{gapOf("messages", "threads", "m1", lease("gap-m1", "page-7:gap-m1"))},
			protocol.GapLeaseMismatch},
		"deferral of another key": {[]string{gapOf("messages", "threads", "m2", lease("gap-m1", "page-1:gap-m1"))},
			protocol.GapLeaseMismatch},
		"deferral after recovery": {[]string{recovered(served),
			gapOf("messages", "threads", "m1", lease("gap-m1", "page-1:gap-m1"))},
			protocol.GapLeaseMismatch},
		"attempt without outcome": {[]string{attempted(served)}, protocol.AttemptWithoutResult},

		"gap of no parent":      {[]string{gapOf("files", "", "f1")}, protocol.InvalidField},
		"gap of another parent": {[]string{gapOf("messages", "folders", "m9")}, protocol.InvalidField},

		"coverage twice": {[]string{coverage("messages", "threads", "", "", "", ""),
			coverage("messages", "threads", "", "", "", "")},
			protocol.DuplicateCoverage},
		"coverage of a riding stream": {[]string{coverage("rider", "threads", "", "", "", "")}, protocol.InvalidCoverage},
		"coverage of a wrong parent": {[]string{coverage("messages", "folders", "", "", "", "")},
			protocol.InvalidCoverage},
		"coverage with two outcomes": {[]string{coverage("messages", "threads", "", "k", "k", "")},
			protocol.InvalidCoverage},
		"coverage of an unasked key": {[]string{`{"type":"DETAIL_COVERAGE","stream":"messages","state_stream":"threads",` +
			`"required_keys":[],"hydrated_keys":["k"]}`}, protocol.InvalidCoverage},
		"help twice under one id": {[]string{help, help}, protocol.InvalidField},
		"end of help never asked for": {[]string{`{"type":"ASSISTANCE_STATUS","assistance_request_id":"h2",` +
			`"status":"resolved"}`}, protocol.UnknownAssistance},
		"unknown type": {[]string{`{"type":"GREETING"}`}, protocol.UnknownMessageType},
		"a message of the runner's": {[]string{`{"type":"INTERACTION_RESPONSE","request_id":"q","status":"success"}`},
			protocol.WrongDirection},
		"garbage":       {[]string{"hello"}, protocol.MalformedJSON},
		"not an object": {[]string{"[]"}, protocol.NotAnObject},
		"message after DONE": {[]string{doneLine("succeeded", 0), `{"type":"PROGRESS","message":"x"}`},
			protocol.MessageAfterDone},
		"garbage after DONE": {[]string{doneLine("succeeded", 0), "bye"}, protocol.MalformedJSON},
		"second DONE": {[]string{doneLine("succeeded", 0), doneLine("succeeded", 0)},
			protocol.MessageAfterDone},
		"too many records in DONE": {[]string{doneLine("succeeded", 1)}, protocol.RecordCountMismatch},
		"too few records in DONE": {[]string{rec("threads", "1"), state("threads", 1, accounted("", "", "")),
			rec("threads", "2"), doneLine("succeeded", 1)}, protocol.RecordCountMismatch},
		"wrong count in a failed DONE":  {[]string{rec("threads", "1"), doneLine("failed", 0)}, protocol.RecordCountMismatch},
		"success and then exit code 3":  {[]string{doneLine("succeeded", 0), "exit 3"}, protocol.ExitCodeMismatch},
		"failure and then exit code 0":  {[]string{doneLine("failed", 0), "exit 0"}, protocol.ExitCodeMismatch},
		"cancelled, and exit code zero": {[]string{doneLine("cancelled", 0), "exit 0"}, protocol.ExitCodeMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t, "threads", "messages", "folders", "files", "rider")
			d.owe("m1")
			o := d.play(t.Context(), func(transcript *connector) int {
				transcript.start()
				for _, l := range c.lines {
					if code, isExit := strings.CutPrefix(l, "exit "); isExit {
						transcript.done("")
						return int(code[0] - '0')
					}
					transcript.line(l)
				}
				return transcript.done(protocol.DoneSucceeded)
			})
			mustViolate(t, o, c.rule)
		})
	}
}

// A violation names things; a secret that a connector puts into a name goes,
// and the stored texts keep their bounds.
func TestViolationIsSafeToKeep(t *testing.T) {
	const secret = "hunter2-very-secret"
	long := strings.Repeat("k", 400)
	d := newDialogue(t, "notes")
	d.spec.Command.Secrets = []string{secret}
	for _, l := range []string{
		rec(secret+"\n"+long, "1"),
		`{"type":"` + secret + `"}`,
		`{"type":"PROGRESS","message":"x","stream":"` + long[:190] + secret + `"}`,
		rec("notes", "1", `"at":"`+secret+`"`) + "}",
	} {
		o := d.say(t, l)
		mustFail(t, o, ReasonViolation)
		v := o.Failure.Violation
		texts := fmt.Sprint(o.Failure.Message, v.Stream, v.Received, v.MessageType, o.KnownGaps,
			string(o.Events[len(o.Events)-1].Data))
		if strings.Contains(texts, secret) || strings.Contains(texts, secret[:10]) {
			t.Errorf("the secret survives in %s", texts)
		}
		if utf8.RuneCountInString(o.Failure.Message) > maxMessage || strings.ContainsAny(o.Failure.Message, "\r\n") ||
			len(v.Stream) > 200 || len(v.Received) > 200 {
			t.Errorf("violation is out of bounds: %+v", o.Failure)
		}
	}
}

// Half a line at the end is a connector that died while it wrote; a whole
// message that only lacks its LF counts.
func TestTornLastLine(t *testing.T) {
	raw := func(text string) func(*connector) int {
		return func(c *connector) int {
			c.start()
			_, _ = c.p.fromStdout.Write([]byte(text))
			return 0
		}
	}
	done := doneLine("succeeded", 0)
	t.Run("whole", func(t *testing.T) {
		mustSucceed(t, newDialogue(t, "notes").play(t.Context(), raw(done)))
		mustSucceed(t, newDialogue(t, "notes").play(t.Context(), raw(done+"\r\n\n")))
	})
	t.Run("half", func(t *testing.T) {
		for cut := 1; cut < len(done); cut++ {
			mustFail(t, newDialogue(t, "notes").play(t.Context(), raw(done[:cut])), ReasonExitWithoutDone)
		}
	})
	t.Run("half and ended", func(t *testing.T) {
		mustViolate(t, newDialogue(t, "notes").play(t.Context(), raw(done[:9]+"\n")), protocol.MalformedJSON)
	})
	t.Run("half after DONE", func(t *testing.T) {
		mustViolate(t, newDialogue(t, "notes").play(t.Context(), raw(done+"\n"+done[:9])), protocol.MalformedJSON)
	})
}

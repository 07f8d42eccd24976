package tryout

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/conformance"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// Report is the result of a trial.
type Report struct {
	Source       string         `json:"source"`
	Streams      []StreamResult `json:"streams"`
	NotCollected []NotCollected `json:"not_collected"`
	Problems     []TrialProblem `json:"problems"`
}

// StreamResult is what a stream collected, and what the provider has.
type StreamResult struct {
	Name     string   `json:"name"`
	Records  int      `json:"records"`
	Expected int      `json:"expected"`
	Equal    int      `json:"equal"` // records that are the same in every member
	Requests int      `json:"requests"`
	Pages    int      `json:"pages"`
	Repeated int      `json:"repeated_pages"`
	Twice    int      `json:"records_sent_twice"`
	Again    int      `json:"requests_of_second_run"`
	Missing  []string `json:"declared_missing"`
	Notes    []string `json:"notes"`

	ended bool // the run succeeded
}

// NotCollected is a stream that does not run.
type NotCollected struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	Fix    string `json:"fix"`
}

// TrialProblem is something that is wrong, and what to do.
type TrialProblem struct {
	Stream string `json:"stream,omitempty"`
	Text   string `json:"text"`
	Next   string `json:"next"`
}

// OK reports whether every stream collected exactly what the provider has.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// report runs the file twice and compares.
func (t *trial) report(ctx context.Context) (*Report, error) {
	out := &Report{Source: t.Key, Streams: []StreamResult{}, NotCollected: []NotCollected{}, Problems: []TrialProblem{}}
	for _, s := range t.d.Disabled {
		out.NotCollected = append(out.NotCollected, NotCollected{s.ID, s.Reason, s.Fix})
	}
	t.Progress("first run")
	first, log, err := t.run(ctx, nil)
	if err != nil {
		return nil, err
	}
	truth, traffic := t.provider.Truth(), t.provider.Traffic()
	ended := t.addEnd(out, first, log)
	for _, s := range t.d.Streams {
		result := StreamResult{Name: s.ID, Records: len(t.stored[s.ID]), Expected: len(truth[s.ID]),
			Requests: traffic[s.ID].Requests, Pages: traffic[s.ID].Pages, Repeated: traffic[s.ID].Repeated,
			Twice: t.twice[s.ID], Missing: missing(first, s.ID), Notes: []string{}, ended: ended}
		if simple := traffic[s.ID].Simple; simple != "" {
			result.Notes = append(result.Notes, "one page only: "+simple)
		}
		t.compare(out, &result, truth[s.ID])
		out.Streams = append(out.Streams, result)
	}
	for _, request := range t.provider.Unknown() {
		out.Problems = append(out.Problems, TrialProblem{Text: "a request fits no stream of the file: " + request,
			Next: "Compare its path and parameters with the stream that should send it."})
	}
	if !ended || !out.OK() {
		return out, ctx.Err()
	}
	t.Progress("second run")
	t.provider.ForgetTraffic()
	second, log, err := t.run(ctx, first)
	if err != nil {
		return nil, err
	}
	t.addEnd(out, second, log)
	traffic = t.provider.Traffic()
	for i := range out.Streams {
		name := out.Streams[i].Name
		out.Streams[i].Again = traffic[name].Requests
		again := out.Streams[i]
		if t.compare(out, &again, truth[name]); again.Equal != out.Streams[i].Equal {
			out.Problems[len(out.Problems)-1].Text += " (after the second run)"
		}
	}
	return out, ctx.Err()
}

// addEnd reports a run that did not succeed.
func (t *trial) addEnd(out *Report, run *conformance.Transcript, log string) bool {
	for _, f := range run.Faults {
		out.Problems = append(out.Problems, TrialProblem{Text: f.Text, Next: f.Fix})
	}
	switch done := run.Done; {
	case done == nil:
		out.Problems = append(out.Problems, TrialProblem{Text: "the run ended without a result: " + lastLine(log),
			Next: "Run it again with --keep and read the log of: pdpp-connectors adapt DIR"})
		return false
	case done.Status != protocol.DoneSucceeded:
		text := "the run failed"
		if done.Error != nil {
			text += ": " + strings.TrimSuffix(done.Error.Message, ".")
		}
		if found := logCause.FindStringSubmatch(lastLine(log)); found != nil {
			text += " (" + found[1] + ")"
		}
		out.Problems = append(out.Problems, TrialProblem{Text: text,
			Next: "Correct the part of the file that is named, and try again."})
		return false
	}
	return true
}

// logCause finds the cause in a line of the connector's log.
var logCause = regexp.MustCompile(`cause="([^"]*)"`)

func lastLine(log string) string { return log[strings.LastIndexByte(log, '\n')+1:] }

// missing returns what a run declared as not collected.
func missing(run *conformance.Transcript, stream string) []string {
	count := map[string]int{}
	for _, skip := range run.Skips {
		if skip.Stream == stream {
			text := string(skip.Reason)
			if skip.Message != nil {
				text += ": " + *skip.Message
			}
			count[text]++
		}
	}
	for _, gap := range run.Gaps {
		if gap.Stream == stream {
			count["gap, "+string(gap.Reason)]++
		}
	}
	out := []string{}
	for _, text := range slices.Sorted(maps.Keys(count)) {
		out = append(out, fmt.Sprintf("%s (%d)", text, count[text]))
	}
	return out
}

// compare reports what differs between the stored records of a stream and the provider's.
func (t *trial) compare(out *Report, r *StreamResult, items map[string]providersim.Item) {
	want := map[string]jsontext.Value{}
	for key, item := range items {
		want[key] = jsontext.Value(item.Data)
	}
	stored := t.stored[r.Name]
	if names := t.provider.Volatile()[r.Name]; len(names) > 0 {
		stored, want = byContent(stored, names), byContent(want, names)
	}
	var absent, different, invented []string
	r.Equal = 0
	for key, item := range want {
		switch have, ok := stored[key]; {
		case !ok:
			absent = append(absent, key)
		case !equalJSON(have, item):
			different = append(different, key+": "+difference(have, item))
		default:
			r.Equal++
		}
	}
	for key := range stored {
		if _, ok := want[key]; !ok {
			invented = append(invented, key)
		}
	}
	for _, kind := range []struct {
		keys       []string
		text, next string
	}{
		{absent, "records are missing", "Check the paging of the stream: its page size, stop condition and token."},
		{different, "records differ", "Check the transformations of the stream."},
		{invented, "records are not at the provider", "Check the key and the filter of the stream."},
	} {
		if n := len(kind.keys); n > 0 {
			if len(r.Missing) > 0 || !r.ended {
				kind.next = "Correct what stopped the stream, as the other lines name it."
			}
			slices.Sort(kind.keys)
			out.Problems = append(out.Problems, TrialProblem{Stream: r.Name, Next: kind.next,
				Text: fmt.Sprintf("%d %s: %s", n, kind.text, strings.Join(kind.keys[:min(n, 3)], ", "))})
		}
	}
}

// byContent returns records without the fields that depend on the time of a run. Their keys may depend on it too, so
// that the content identifies a record.
func byContent(records map[string]jsontext.Value, volatile []string) map[string]jsontext.Value {
	out := map[string]jsontext.Value{}
	for _, raw := range records {
		record := members(raw)
		for _, name := range append([]string{describe.DigestField}, volatile...) {
			delete(record, name)
		}
		body, err := json.Marshal(record)
		if err != nil {
			continue
		}
		out[string(body)] = body
	}
	return out
}

// difference returns the names of the members that differ.
func difference(have, want []byte) string {
	a, b := members(have), members(want)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(union(a, b))) {
		if !equalJSON(a[name], b[name]) {
			names = append(names, name)
		}
	}
	return strings.Join(names[:min(len(names), 4)], " ")
}

// Print writes the report as a table, with each problem and what to do below it.
func (r *Report) Print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STREAM\tRECORDS\tEXPECTED\tEQUAL\tREQUESTS\tPAGES\tREPEATED\tTWICE\tSECOND RUN")
	for _, s := range r.Streams {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d requests\n", s.Name, s.Records, s.Expected, s.Equal,
			s.Requests, s.Pages, s.Repeated, s.Twice, s.Again)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, s := range r.Streams {
		for _, text := range s.Missing {
			fmt.Fprintf(w, "declared missing in %s: %s\n", s.Name, text)
		}
		for _, text := range s.Notes {
			fmt.Fprintf(w, "note on %s: %s\n", s.Name, text)
		}
	}
	for _, s := range r.NotCollected {
		fmt.Fprintf(w, "not collected: %s %s. %s\n", s.Name, s.Reason, s.Fix)
	}
	for _, p := range r.Problems {
		where := ""
		if p.Stream != "" {
			where = p.Stream + ": "
		}
		fmt.Fprintf(w, "problem: %s%s\n    next: %s\n", where, p.Text, p.Next)
	}
	return nil
}

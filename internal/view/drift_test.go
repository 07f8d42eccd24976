package view

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// TestDriftIsShown holds what differing answers change: a total that disagrees the coverage of its
// stream, and of the connection if the stream is required; everything else nothing but the words.
func TestDriftIsShown(t *testing.T) {
	short := &evidence.Drift{Total: &evidence.Total{Announced: 300, Counted: 53}}
	noted := &evidence.Drift{
		Answers: 9, More: 2, Total: &evidence.Total{Announced: 53, Counted: 53}, Beginning: &evidence.Beginning{Days: 365},
		Differences: []evidence.Difference{
			{Kind: evidence.NewMember, Route: "GET v1/notes", Member: "notes/[]/colour", Count: 3},
			{Kind: evidence.AbsentMember, Route: "GET v1/notes", Member: "notes/[]/title", Count: 9, Of: 9},
			{Kind: evidence.OtherType, Route: "GET v1/notes", Member: "notes/[]/size", Expected: "number", Found: "text",
				Count: 1},
			{Kind: evidence.SmallPage, Route: "GET v1/notes", Count: 50, Of: 200},
		},
	}
	for _, c := range []struct {
		name     string
		required bool
		drift    *evidence.Drift
		coverage health.Coverage
		axis     health.Coverage
		texts    []string
	}{
		{"nothing differs", true, nil, health.Complete, health.Complete, nil},
		{"a total of a required stream", true, short, health.Partial, health.Partial,
			[]string{"The source reports 300 items and 53 were listed."}},
		{"a total of another stream", false, short, health.Partial, health.Complete,
			[]string{"The source reports 300 items and 53 were listed."}},
		{"everything else", true, noted, health.Complete, health.Complete, []string{
			"The history begins exactly 365 days before the run.", "New member: notes/[]/colour in 3 places (GET v1/notes).",
			"Missing member: notes/[]/title, in all 9 (GET v1/notes).",
			"Other type: notes/[]/size is text instead of number in 1 place (GET v1/notes).",
			"A list ended after exactly 50 items although 200 were asked for (GET v1/notes).", "2 further differences",
		}},
	} {
		e := collected("cin_1")
		e.Streams[0].Required = c.required
		fact := *e.Streams[0].Fact
		fact.Drift = c.drift
		e.Streams[0].Fact = &fact
		conn, steps := explain(e)
		if got := conn.Verdict.Streams[0].Coverage; got != c.coverage || conn.Health.Axes.Coverage != c.axis {
			t.Errorf("%s: the stream is %s and the connection %s, want %s and %s", c.name, got, conn.Health.Axes.Coverage,
				c.coverage, c.axis)
		}
		var output strings.Builder
		for _, d := range conn.Drift {
			output.WriteString(strings.Join(d.Statements, "\n"))
		}
		for _, want := range c.texts {
			if !strings.Contains(output.String(), want) {
				t.Errorf("%s: no %q in %q", c.name, want, output.String())
			}
		}
		if len(c.texts) == 0 && len(conn.Drift) > 0 {
			t.Errorf("%s: %+v", c.name, conn.Drift)
		}
		last := 0
		for _, s := range steps {
			if s.Rule == "answers differ from what this version expects" && s.Result == "noted" {
				last++
			}
		}
		if c.drift == noted && last != len(conn.Drift[0].Statements) {
			t.Errorf("%s: %d steps of why", c.name, last)
		}
		kept := Redact(&e)
		if again := Judge(&kept, noon, true); len(again.Drift) != len(conn.Drift) {
			t.Errorf("%s: a support file has %d, want %d", c.name, len(again.Drift), len(conn.Drift))
		}
	}
}

package conformance

import (
	"fmt"
	"html/template"
	"io"
	"strings"
)

// Result is the result of one check.
type Result string

const (
	Passed       Result = "passed"
	Failed       Result = "failed"
	NotTried     Result = "not_tried"      // the author can provide what is missing
	DoesNotApply Result = "does_not_apply" // the connector has nothing that the check applies to
)

// Report is the result of all checks.
type Report struct {
	Protocol  string  `json:"protocol_version"`
	Connector string  `json:"connector"`
	Version   string  `json:"version"`
	Checks    []Check `json:"checks"`
	Runs      int     `json:"runs"`
	Seconds   float64 `json:"seconds"`
}

// Check is one row of a report.
type Check struct {
	ID     string  `json:"id"` // the same in every version
	Name   string  `json:"name"`
	About  string  `json:"about"`
	Result Result  `json:"result"`
	Why    string  `json:"why,omitempty"` // why the check was not made
	Faults []Fault `json:"faults,omitempty"`
}

// Result returns Failed if any check failed, and NotTried if any could not be made.
func (r Report) Result() Result {
	whole := Passed
	for _, c := range r.Checks {
		switch {
		case c.Result == Failed:
			return Failed
		case c.Result == NotTried:
			whole = NotTried
		}
	}
	return whole
}

// Print writes the report as a table, with each fault and its fix below its row.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d runs in %.1f s\n\n", r.Connector, r.Version, r.Runs, r.Seconds)
	for _, c := range r.Checks {
		word := strings.ReplaceAll(string(c.Result), "_", " ")
		text := c.About
		if c.Why != "" {
			text = c.Why
		}
		fmt.Fprintf(&b, "%-19s  %-14s  %s\n", c.Name, word, text)
		for _, f := range c.Faults {
			fmt.Fprintf(&b, "    wrong: %s\n    fix:   %s\n", f, f.Fix)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Badge returns the report in one line of Markdown, for the page of a connector.
func (r Report) Badge() string {
	made, passed := 0, 0
	for _, c := range r.Checks {
		if c.Result != DoesNotApply {
			made++
		}
		if c.Result == Passed {
			passed++
		}
	}
	return fmt.Sprintf("**PDPP conformance** (protocol %s): %s %s passed %d of %d checks",
		r.Protocol, r.Connector, r.Version, passed, made)
}

// WriteHTML writes the report as one page without scripts and without foreign addresses.
func (r Report) WriteHTML(w io.Writer) error { return reportPage.Execute(w, r) }

// reportPage is the page of a report.
var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{
	"words": func(result Result) string { return strings.ReplaceAll(string(result), "_", " ") },
}).Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Connector}} {{.Version}}: conformance</title>
<style>
:root { color-scheme: light dark; --line: #8886; --good: #1b6e43; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --good: #7fd6a4; --bad: #ffb4ab } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-top: 1px solid var(--line) }
.passed { color: var(--good) } .failed { color: var(--bad); font-weight: 600 }
dl { margin: .25rem 0 } dd { margin: 0 0 .5rem }
</style>
<h1>{{.Connector}} {{.Version}}</h1>
<p>Protocol {{.Protocol}}. {{.Runs}} runs in {{printf "%.1f" .Seconds}} s.</p>
<table>
<thead><tr><th scope="col">Check</th><th scope="col">Result</th><th scope="col">What it shows</th></tr></thead>
<tbody>
{{range .Checks}}<tr id="{{.ID}}"><th scope="row">{{.Name}}</th><td class="{{.Result}}">{{words .Result}}</td>
<td>{{or .Why .About}}{{with .Faults}}<dl>{{range .}}<dt>{{.}}</dt><dd>Fix: {{.Fix}}</dd>{{end}}</dl>{{end}}</td></tr>
{{end}}</tbody>
</table>
</html>
`))

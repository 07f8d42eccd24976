package archtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	statementRow = regexp.MustCompile(`(?m)^\| (` + statementName + `) \| ([^|\n]+) \| ([^|\n]*) \|$`)
	totalsPlace  = regexp.MustCompile(`(?s)<!-- totals -->\n.*?<!-- end -->`)
)

const untested = "**no test**"

// Index is the document that lists the requirement of each statement of the specification, in
// order. A program writes only its list of tests.
type Index struct {
	text       string
	Statements []string
}

// ReadIndex reads the rows of the document.
func ReadIndex(text string) Index {
	i := Index{text: text}
	for _, row := range statementRow.FindAllStringSubmatch(text, -1) {
		i.Statements = append(i.Statements, row[1])
	}
	return i
}

// Problems returns duplicate statements, and scenarios without their requirement.
func (i Index) Problems() (out []string) {
	seen := map[string]bool{}
	for _, s := range i.Statements {
		if seen[s] {
			out = append(out, s+" stands twice")
		}
		seen[s] = true
		if whole, _, scenario := strings.Cut(s, "."); scenario && !seen[whole] {
			out = append(out, s+" does not follow "+whole)
		}
	}
	return out
}

// Unknown returns the names that the index lacks.
func (i Index) Unknown(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return slices.Contains(i.Statements, s) })
}

// Fresh is the document with the tests of these claims.
func (i Index) Fresh(claims []Claim) string {
	tests := map[string][]string{}
	for _, c := range claims {
		tests[c.Statement] = append(tests[c.Statement], fmt.Sprintf("`%s` (%s)", c.Function, c.Package))
	}
	own, byScenarios, none := 0, 0, 0
	text := statementRow.ReplaceAllStringFunc(i.text, func(row string) string {
		cells := statementRow.FindStringSubmatch(row)
		proof := strings.Join(tests[cells[1]], ", ")
		switch {
		case proof != "":
			own++
		default:
			if proof = i.scenarios(cells[1], tests); proof == untested {
				none++
			} else {
				byScenarios++
			}
		}
		return fmt.Sprintf("| %s | %s | %s |", cells[1], cells[2], proof)
	})
	totals := fmt.Sprintf("Of %d statements %d are claimed by tests of their own, %d by tests of their scenarios; %d "+
		"have %s.",
		len(i.Statements), own, byScenarios, none, untested)
	return totalsPlace.ReplaceAllLiteralString(text, "<!-- totals -->\n"+totals+"\n<!-- end -->")
}

// scenarios returns how many of a requirement's scenarios have tests.
func (i Index) scenarios(requirement string, tests map[string][]string) string {
	all, proven := 0, 0
	for _, s := range i.Statements {
		if strings.HasPrefix(s, requirement+".") {
			if all++; len(tests[s]) > 0 {
				proven++
			}
		}
	}
	switch {
	case proven == 0:
		return untested
	case proven == all:
		return "by its scenarios"
	default:
		return fmt.Sprintf("by %d of its %d scenarios", proven, all)
	}
}

// CitedStatements lists the statements that a text names, each once.
func CitedStatements(text string) []string {
	names := citedStatement.FindAllString(text, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

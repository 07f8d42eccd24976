package archtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// LongestLine is the greatest number of characters of a line of Go code.
const LongestLine = 120

// newPackageRate is the number of uses of a word per 1,000 comment lines that a package without a ceiling may have.
const newPackageRate = 2

// Vocabulary lists the words that comments and documents avoid, each with its forms. They are counted because plain
// technical English has a more exact verb or noun for nearly every use.
var Vocabulary = map[string]*regexp.Regexp{
	"says":   regexp.MustCompile(`(?i)\b(says?|said|saying)\b`),
	"gives":  regexp.MustCompile(`(?i)\b(gives?|gave|given|giving)\b`),
	"tells":  regexp.MustCompile(`(?i)\b(tells?|told|telling)\b`),
	"nobody": regexp.MustCompile(`(?i)\b(nobody|somebody|everybody|anybody|whoever)\b`),
	"whose":  regexp.MustCompile(`(?i)\b(whose|whom)\b`),
	"alone":  regexp.MustCompile(`(?i)\b(alone|by itself|by themselves)\b`),
	"stands": regexp.MustCompile(`(?i)\b(stands?|stood|standing)\b`),
	"mends":  regexp.MustCompile(`(?i)\b(mends?|mended|mending|anew|heeds?|heard)\b`),
}

// Usage counts, for one package or document, what has a ceiling: the uses of each word of Vocabulary and, under
// "long", the lines of Go code over LongestLine.
type Usage map[string]int

// GoUsage counts the words of a Go file's comments and its long lines. The second result is the number of comment
// lines.
func GoUsage(f File, source string) (Usage, int) {
	usage, lines := Usage{}, 0
	for _, group := range f.AST.Comments {
		for _, comment := range group.List {
			lines += strings.Count(comment.Text, "\n") + 1
			usage.count(comment.Text)
		}
	}
	for line := range strings.Lines(source) {
		if len([]rune(strings.TrimRight(line, "\n"))) > LongestLine {
			usage["long"]++
		}
	}
	return usage, lines
}

// DocumentUsage counts the words of a Markdown document, and its lines.
func DocumentUsage(text string) (Usage, int) {
	usage := Usage{}
	usage.count(text)
	return usage, strings.Count(text, "\n")
}

func (u Usage) count(text string) {
	for word, forms := range Vocabulary {
		if n := len(forms.FindAllString(text, -1)); n > 0 {
			u[word] += n
		}
	}
}

// Add adds another count to u.
func (u Usage) Add(other Usage) {
	for word, n := range other {
		u[word] += n
	}
}

// CheckUsage compares a package with its ceilings. A package without ceilings may use each word newPackageRate times
// per 1,000 lines, at least once, and has no long line.
func CheckUsage(where string, usage Usage, lines int, ceilings Usage) []Finding {
	var findings []Finding
	for _, word := range slices.Sorted(maps.Keys(usage)) {
		ceiling, reason := ceilings[word], "use the verb an engineer would use: returns, reports, sends, rejects"
		if ceilings == nil && word != "long" {
			ceiling = max(1, lines*newPackageRate/1000)
		}
		if word == "long" {
			reason = fmt.Sprintf("break lines over %d characters; a file limit is not met by widening lines", LongestLine)
		}
		if usage[word] > ceiling {
			findings = append(findings, Finding{
				Where:   where,
				Offence: fmt.Sprintf("%q counts %d, at most %d are allowed", word, usage[word], ceiling),
				Reason:  reason,
			})
		}
	}
	return findings
}

// ParseCeilings reads lines such as "internal/serve says=12 long=3". FormatCeilings writes them.
func ParseCeilings(text string) (map[string]Usage, error) {
	ceilings := map[string]Usage{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		usage := Usage{}
		for _, field := range fields[1:] {
			var n int
			word, number, _ := strings.Cut(field, "=")
			if _, err := fmt.Sscanf(number, "%d", &n); err != nil {
				return nil, fmt.Errorf("ceilings of %s: %q is not word=number", fields[0], field)
			}
			usage[word] = n
		}
		ceilings[fields[0]] = usage
	}
	return ceilings, nil
}

// FormatCeilings writes ceilings as ParseCeilings reads them, sorted.
func FormatCeilings(ceilings map[string]Usage) string {
	var text strings.Builder
	for _, where := range slices.Sorted(maps.Keys(ceilings)) {
		text.WriteString(where)
		for _, word := range slices.Sorted(maps.Keys(ceilings[where])) {
			if n := ceilings[where][word]; n > 0 {
				fmt.Fprintf(&text, " %s=%d", word, n)
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

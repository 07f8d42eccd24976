package view_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// match compares the expected with the actual value and returns the differences.
//
// An object matches by the members that are listed. Each element of a list matches a later element than the one
// before it. Null matches only null. An object with one of these members is a rule instead:
//
//	{"exactly": x}      the same value as a whole
//	{"only": [x, y]}    a list of just these, matched one by one
//	{"not": x}          anything that does not match x
//	{"one_of": [x, y]}  what matches one of them
//	{"contains": [...]} a text that has all of these words
//	{"lacks": [...]}    a text that has none of them
//	{"set": true}       anything but null
func match(at string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		if differences, ruled := matchRule(at, w, got); ruled {
			return differences
		}
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %s, want an object", at, short(got))}
		}
		var out []string
		for name, value := range w {
			if have, found := g[name]; found {
				out = append(out, match(at+"."+name, value, have)...)
			} else {
				out = append(out, fmt.Sprintf("%s has no member %s", at, name))
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %s, want a list", at, short(got))}
		}
		return matchList(at, w, g)
	default:
		if want != got {
			return []string{fmt.Sprintf("%s is %s, want %s", at, short(got), short(want))}
		}
		return nil
	}
}

func matchRule(at string, rule map[string]any, got any) (differences []string, ruled bool) {
	if len(rule) != 1 {
		return nil, false
	}
	fail := func(format string, args ...any) ([]string, bool) {
		return []string{at + fmt.Sprintf(format, args...)}, true
	}
	for name, value := range rule {
		switch name {
		case "exactly":
			if short(value) != short(got) {
				return fail(" is %s, want exactly %s", short(got), short(value))
			}
		case "only":
			g, ok := got.([]any)
			if want := value.([]any); !ok || len(g) != len(want) {
				return fail(" is %s, want only %s", short(got), short(want))
			}
			return matchList(at, value.([]any), g), true
		case "not":
			if len(match(at, value, got)) == 0 {
				return fail(" is %s", short(got))
			}
		case "one_of":
			if !slices.ContainsFunc(value.([]any), func(one any) bool { return len(match(at, one, got)) == 0 }) {
				return fail(" is %s, want one of %s", short(got), short(value))
			}
		case "contains", "lacks":
			text, _ := got.(string)
			for _, words := range value.([]any) {
				if says(text, words.(string)) != (name == "contains") {
					return fail(" is %q: %s %q fails", text, name, words)
				}
			}
		case "set":
			if got == nil {
				return fail(" is null")
			}
		default:
			return nil, false
		}
	}
	return nil, true
}

func matchList(at string, want, got []any) []string {
	next := 0
	for i, w := range want {
		var last []string
		found := false
		for ; next < len(got) && !found; next++ {
			last = match(fmt.Sprintf("%s[%d]", at, next), w, got[next])
			found = len(last) == 0
		}
		if !found {
			return append([]string{fmt.Sprintf("%s: nothing matches element %d, %s, of %s", at, i, short(w), short(got))},
				last...)
		}
	}
	return nil
}

// says reports whether the text contains the words, as whole words in any case.
func says(text, words string) bool {
	edge := func(c byte) string {
		if regexp.MustCompile(`\w`).MatchString(string(c)) {
			return `\b`
		}
		return ""
	}
	return regexp.MustCompile(`(?i)` + edge(words[0]) + regexp.QuoteMeta(words) +
		edge(words[len(words)-1])).MatchString(text)
}

// ownerText is every word of a verdict that is written for the owner, a line each.
func ownerText(v *verdict.Verdict) string {
	lines := []string{
		v.Pill.Label, v.ForwardStatement, v.Outline.Happened, v.Outline.Means, v.Outline.Next, v.Progress.Headline,
	}
	for _, a := range v.Annotations {
		lines = append(lines, a.Text)
	}
	for _, a := range v.RequiredActions {
		lines = append(lines, a.CTA)
		if r := a.Remediation; r != nil {
			lines = append(lines, r.Label, r.Summary)
			for _, c := range r.Commands {
				lines = append(lines, c.Label, c.Purpose)
			}
		}
	}
	for _, s := range v.Streams {
		lines = append(lines, s.Statement)
	}
	return strings.Join(lines, "\n")
}

package archtest

import (
	"regexp"
	"slices"
)

var (
	namedTest   = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*|Fuzz[A-Z][A-Za-z0-9]*)`")
	namedScript = regexp.MustCompile("`([a-z0-9-]+\\.txtar)`")
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)\(`)
)

// NamedTests lists the tests and scripts that a document promises, each once.
func NamedTests(document string) []string {
	var out []string
	for _, pattern := range []*regexp.Regexp{namedTest, namedScript} {
		for _, m := range pattern.FindAllStringSubmatch(document, -1) {
			if !slices.Contains(out, m[1]) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// TestFuncs lists the tests that a Go test file defines.
func TestFuncs(source string) []string {
	var out []string
	for _, m := range testFunc.FindAllStringSubmatch(source, -1) {
		out = append(out, m[1])
	}
	return out
}

// MissingTests gives those of the promised tests that do not exist.
func MissingTests(promised []string, existing map[string]bool) []string {
	var out []string
	for _, name := range promised {
		if !existing[name] {
			out = append(out, name)
		}
	}
	return out
}

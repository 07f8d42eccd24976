package archtest

import (
	"regexp"
	"slices"
	"strings"
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

// MissingTests returns the promised tests that do not exist.
func MissingTests(promised []string, existing map[string]bool) []string {
	var out []string
	for _, name := range promised {
		if !existing[name] {
			out = append(out, name)
		}
	}
	return out
}

var (
	namedPath = regexp.MustCompile("`((?:internal|cmd|connectorkit|connectors|docs|governor|manifest|protocol|" +
		"providersim|scripts)/[^`\\s]*)`")
	drawnPath  = regexp.MustCompile(`\b(?:internal|connectorkit|connectors)/[a-z0-9/]*[a-z0-9](?:\.[a-z]+)?`)
	ofPackage  = regexp.MustCompile(`\.[A-Z].*$`) // api.Owner
	makeTarget = regexp.MustCompile("(?m)(?:`|^)make ([a-z]+)")
	linkedTo   = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
)

// NamedPaths lists the files and folders of the repository that a document names,
// in words and in drawings, each once. Patterns such as connectors/<name> are cut
// at what is to be filled in.
func NamedPaths(document string) []string {
	var out []string
	for _, m := range namedPath.FindAllStringSubmatch(document, -1) {
		out = append(out, m[1])
	}
	out = append(out, drawnPath.FindAllString(document, -1)...)
	for i, path := range out {
		for _, gap := range []string{"<", "*", "..."} {
			path, _, _ = strings.Cut(path, gap)
		}
		out[i] = strings.TrimRight(ofPackage.ReplaceAllString(path, ""), "/")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// LinkedFiles lists the files that a document links to, each once.
func LinkedFiles(document string) []string {
	var out []string
	for _, m := range linkedTo.FindAllStringSubmatch(document, -1) {
		if !strings.Contains(m[1], "://") && !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// NamedTargets lists the make targets that a document names, each once.
func NamedTargets(document string) []string {
	var out []string
	for _, m := range makeTarget.FindAllStringSubmatch(document, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

var (
	linkedSection = regexp.MustCompile(`\]\(([^)#\s]*)#([^)\s]+)\)`)
	heading       = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchors  = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// LinkedSections returns the file and the anchor of each link to a section. The file is empty for the document
// itself.
func LinkedSections(document string) [][2]string {
	var out [][2]string
	for _, m := range linkedSection.FindAllStringSubmatch(document, -1) {
		if !strings.Contains(m[1], "://") {
			out = append(out, [2]string{m[1], m[2]})
		}
	}
	return out
}

// Anchors returns the anchors of a document's headings.
func Anchors(document string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(document, -1) {
		anchor := notInAnchors.ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(anchor, " ", "-"))
	}
	return out
}

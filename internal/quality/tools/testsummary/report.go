package main

import (
	"fmt"
	"io"
	"strings"
)

// maxOutput bounds what is shown of one failure; the whole of it is in the JSON.
const maxOutput = 16 << 10

// totals counts tests, subtests included. A package that fails although none of
// its tests did (it does not build, it crashed, it leaked) is one failure.
type totals struct {
	passed, failed, skipped int
}

// report prints skips, failures and the totals, and reports whether everything passed.
func (s *summary) report(w io.Writer) bool {
	var n totals
	var figures, skips, failures strings.Builder
	shownBuilds := map[string]bool{}
	for _, p := range s.packages {
		for _, t := range p.tests {
			switch t.state {
			case "pass":
				n.passed++
				for _, text := range t.figures {
					fmt.Fprintf(&figures, "%s: %s\n", t.name, text)
				}
			case "skip":
				n.skipped++
				fmt.Fprintf(&skips, "SKIP  %s %s%s\n", p.name, t.name, oneLine(t.output.String()))
			}
		}
		n.failed += s.failures(&failures, p, shownBuilds, func(*result) bool { return true })
	}

	section(w, figures.String())
	section(w, skips.String())
	section(w, failures.String())
	section(w, s.stray.String())
	if len(s.packages) == 0 {
		section(w, "no test results were read: go test did not start\n")
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", n.passed, n.failed, n.skipped)
	return n.failed == 0 && len(s.packages) > 0
}

// failures prints what failed among some tests of a package with its output, and counts it. The output
// of one broken build is shown once.
func (s *summary) failures(w io.Writer, p *result, shownBuilds map[string]bool, among func(*result) bool) (failed int) {
	for _, t := range p.tests {
		switch {
		case !among(t) || t.state == "pass" || t.state == "skip":
		case t.state == "fail":
			failed++
			show(w, fmt.Sprintf("FAIL  %s %s (%.2fs)", p.name, t.name, t.elapsed), t.output.String())
		default:
			failed++
			show(w, fmt.Sprintf("FAIL  %s %s %s", p.name, t.name, p.unfinished(t)), t.output.String())
		}
	}
	if failed > 0 || p.state == "pass" || p.state == "skip" {
		return failed
	}
	switch {
	case p.build != "" && shownBuilds[p.build]:
		show(w, fmt.Sprintf("FAIL  %s needs %s, which does not build", p.name, p.build), "")
	case p.build != "" && s.builds[p.build] != nil:
		shownBuilds[p.build] = true
		show(w, fmt.Sprintf("FAIL  %s does not build", p.name), s.builds[p.build].String())
	default:
		show(w, fmt.Sprintf("FAIL  %s %s", p.name, p.unfinished(p)), p.output.String())
	}
	return 1
}

func section(w io.Writer, text string) {
	if text != "" {
		fmt.Fprint(w, "\n", text)
	}
}

// show writes a heading and the indented output below it, without the lines
// in which go test only announces what it does.
func show(w io.Writer, heading, output string) {
	fmt.Fprintln(w, heading)
	if len(output) > maxOutput {
		half := maxOutput / 2
		output = output[:half] + "\n... shortened, see build/test.json ...\n" + output[len(output)-half:]
	}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if line != "" && !isAnnouncement(line) {
			fmt.Fprintln(w, "      "+line)
		}
	}
}

// oneLine returns the message of a skipped test, for its line.
func oneLine(output string) string {
	var words []string
	for line := range strings.Lines(output) {
		if !isAnnouncement(strings.TrimRight(line, "\n")) {
			words = append(words, strings.TrimSpace(line))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + strings.Join(words, " ")
}

func isAnnouncement(line string) bool {
	line = strings.TrimSpace(line)
	for _, prefix := range []string{"=== ", "--- PASS", "--- FAIL", "--- SKIP", "FAIL\t"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return line == "FAIL" || line == "PASS"
}

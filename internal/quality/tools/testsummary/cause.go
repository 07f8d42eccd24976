package main

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	timedOut = regexp.MustCompile(`(?m)^panic: test timed out after (\S+)`)
	panicked = regexp.MustCompile(`(?m)^panic: (.+)`)
	crashed  = regexp.MustCompile(`(?m)^(fatal error: .+|unexpected fault address.*)`)
	signaled = regexp.MustCompile(`(?m)^signal: (.+)`)
	exited   = regexp.MustCompile(`(?m)^exit status (\d+)`)
)

// unfinished returns what happened to a test, or to a package as a whole, that has no result of its own.
func (p *result) unfinished(t *result) string {
	if own := panicked.FindStringSubmatch(t.output.String()); own != nil && !timedOut.MatchString(own[0]) {
		return "panicked: " + own[1]
	}
	if t == p && p.state == "fail" {
		return "failed: " + p.end(t.part)
	}
	return "did not finish: " + p.end(t.part)
}

// end returns how the process that ran a part of the package ended, as far as its output shows it. The
// test that ran last has the output of a process that breaks off.
func (p *result) end(from int) string {
	part := p.parts[from]
	text := part.output.String()
	for _, t := range p.tests {
		if t.part == from && t.state == "" {
			if own := panicked.FindString(t.output.String()); own != "" && !timedOut.MatchString(own) {
				return t.name + " panicked"
			}
			text += t.output.String()
		}
	}
	switch {
	case timedOut.MatchString(text):
		return fmt.Sprintf("the package took longer than %s", timedOut.FindStringSubmatch(text)[1])
	case crashed.MatchString(text):
		return "the process crashed: " + crashed.FindString(text)
	case panicked.MatchString(text):
		return "the process " + strings.Replace(panicked.FindString(text), "panic:", "panicked:", 1)
	case signaled.MatchString(text):
		return "the process was ended by a signal: " + signaled.FindStringSubmatch(text)[1]
	case !part.ended:
		return "go test ended before it"
	case exited.MatchString(text):
		return "the process ended with " + exited.FindString(text)
	default:
		return "the process ended, and its output does not show why"
	}
}

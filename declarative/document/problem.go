package document

import (
	"fmt"
	"strings"
)

// Level is how much a problem affects.
type Level uint8

// The levels of problems.
const (
	Warning    Level = iota // nothing changes
	StreamOnly              // the stream is not usable
	WholeFile               // the file is not usable
)

// Problem is something in a document that its author can fix.
type Problem struct {
	Level     Level
	Path      string // such as streams[2].retriever.requester.path
	Stream    string // name of the stream that the problem belongs to, if any
	Message   string // what is wrong, without the path
	Fix       string // what to do, as a sentence
	Component string // type of the component that is not supported, if that is the problem
}

// Error describes the problem in one line.
func (p Problem) Error() string { return fmt.Sprintf("%s %s. %s", p.Path, p.Message, p.Fix) }

// Problems is a list of problems.
type Problems []Problem

// Error lists the problems, one in each line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

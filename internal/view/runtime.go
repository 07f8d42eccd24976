package view

import (
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// RuntimeIndicator is shown with every list of connections while the runtime that serves them is itself the fault.
type RuntimeIndicator struct {
	Sentence string                `json:"sentence"`
	Faults   []health.RuntimeFault `json:"faults"`
	// Since is when the first of the faulty parts last reported.
	Since time.Time `json:"since"`
}

// componentWords are the owner's words for the parts of the runtime.
var componentWords = map[string]string{
	"scheduler": "the scheduler",
	"browser":   "the browser that connectors use",
	"collector": "the collector device",
	"disk":      "the disk that holds the data",
	"database":  "the database",
}

// primaryFaults are sentences for faults that cause others; the first match is shown.
var primaryFaults = []struct{ component, sentence string }{
	{"disk", "The disk that holds the data is full, so that nothing new can be stored. Free some space first."},
	{"database", "The database is damaged: some of what was collected can no longer be read. " +
		"Stop the server and restore the newest backup."},
}

// runtimeIndicator returns nil if all parts work.
func runtimeIndicator(r health.RuntimeIndicator) *RuntimeIndicator {
	if r.OK {
		return nil
	}
	out := &RuntimeIndicator{Faults: r.Faults, Since: r.Faults[0].Since}
	names := make([]string, 0, len(r.Faults))
	for _, f := range r.Faults {
		name := componentWords[f.Component]
		if name == "" {
			name = "a part of the runtime"
		}
		names = append(names, name)
		if f.Since.Before(out.Since) {
			out.Since = f.Since
		}
	}
	out.Sentence = runtimeSentence(names)
	for _, first := range primaryFaults {
		if slices.ContainsFunc(r.Faults, func(f health.RuntimeFault) bool { return f.Component == first.component }) {
			out.Sentence = first.sentence
			break
		}
	}
	return out
}

func runtimeSentence(names []string) string {
	verb, list := " is", names[0]
	if n := len(names); n > 1 {
		verb, list = " are", strings.Join(names[:n-1], ", ")+" and "+names[n-1]
	}
	return strings.ToUpper(list[:1]) + list[1:] + verb +
		" not working, which holds up connections that are otherwise well. Fix this first."
}

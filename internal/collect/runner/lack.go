package runner

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// lackPattern is how an interpreter names what a program could not load or open.
type lackPattern struct {
	words  *regexp.Regexp
	reason Reason
	what   string
}

var lackPatterns = sync.OnceValue(func() []lackPattern {
	const module, file = "could not be loaded by the connector's program", "was not found by the connector's program"
	return []lackPattern{
		{regexp.MustCompile(`No such built-in module: ([\w:/.@-]+)`), ReasonModuleMissing, module},
		{regexp.MustCompile(`Cannot find (?:module|package) '([^'\n]+)'`), ReasonModuleMissing, module},
		{regexp.MustCompile(`(?m)^(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?`), ReasonModuleMissing,
			module},
		{regexp.MustCompile(`ENOENT: no such file or directory, \w+ '([^'\n]+)'`), ReasonPathMissing, file},
		{regexp.MustCompile(`(?m)^FileNotFoundError: \[Errno 2\] No such file or directory: '([^'\n]+)'`), ReasonPathMissing,
			file},
	}
})

// lack returns the failure of a program that ended because it could not load or open something,
// as its interpreter reported in its last output; nil when it ended otherwise. The message begins
// with the name, of which only the last part of a path is kept.
func (s *session) lack() *Failure {
	tail := s.lastWords(s.child.StderrTail())
	for _, p := range lackPatterns() {
		if found := p.words.FindStringSubmatch(tail); found != nil {
			name := found[1]
			if p.reason == ReasonPathMissing || strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") {
				name = path.Base(name)
			}
			return &Failure{Reason: p.reason, Origin: OriginConnector,
				Message: s.line(strings.ReplaceAll(name, " ", "_") + " " + p.what)}
		}
	}
	return nil
}

package runner

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// missingPattern matches how an interpreter reports a module or file that it could not load.
type missingPattern struct {
	report *regexp.Regexp
	reason Reason
	text   string
}

var missingPatterns = sync.OnceValue(func() []missingPattern {
	const module, file = "could not be loaded by the connector's program", "was not found by the connector's program"
	return []missingPattern{
		{regexp.MustCompile(`No such built-in module: ([\w:/.@-]+)`), ReasonModuleMissing, module},
		{regexp.MustCompile(`Cannot find (?:module|package) '([^'\n]+)'`), ReasonModuleMissing, module},
		{regexp.MustCompile(`(?m)^(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?`), ReasonModuleMissing,
			module},
		{regexp.MustCompile(`ENOENT: no such file or directory, \w+ '([^'\n]+)'`), ReasonPathMissing, file},
		{regexp.MustCompile(`(?m)^FileNotFoundError: \[Errno 2\] No such file or directory: '([^'\n]+)'`), ReasonPathMissing,
			file},
	}
})

// missingModule returns the failure of a program that could not load a module or file, as its stderr reports, or nil.
// The message begins with the name; of a path, only the last element.
func (c *conversation) missingModule() *Failure {
	tail := c.stderrTail()
	for _, p := range missingPatterns() {
		if found := p.report.FindStringSubmatch(tail); found != nil {
			name := found[1]
			if p.reason == ReasonPathMissing || strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") {
				name = path.Base(name)
			}
			return &Failure{Reason: p.reason, Origin: OriginConnector,
				Message: c.secrets.line(strings.ReplaceAll(name, " ", "_") + " " + p.text)}
		}
	}
	return nil
}

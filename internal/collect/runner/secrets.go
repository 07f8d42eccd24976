package runner

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

// secrets are the values that must not appear in anything that a run stores or logs: the credentials of the
// connector, and the owner's answers. It is safe for concurrent use.
type secrets struct {
	mu       sync.Mutex
	values   []string
	redactor atomic.Pointer[redact.Redactor]
}

// learn adds values to redact.
func (s *secrets) learn(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = append(s.values, values...)
	s.redactor.Store(redact.New(s.values...))
}

// learnAnswer adds every string and number of an owner's answer.
func (s *secrets) learnAnswer(data jsontext.Value) {
	tree, err := decodeTree(data)
	if err != nil {
		return // an invalid answer is not sent to the connector
	}
	var values []string
	var collect func(any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, e := range v {
				collect(e)
			}
		case []any:
			for _, e := range v {
				collect(e)
			}
		case string:
			values = append(values, v)
		case jsontext.Value:
			values = append(values, string(v))
		}
	}
	collect(tree)
	s.learn(values...)
}

// line returns text as one line of limited length, without secrets.
func (s *secrets) line(text string) string { return s.redactor.Load().Line(text, maxMessage) }

// redactKnown removes only the known secrets: identifiers that look like secrets stay readable.
func (s *secrets) redactKnown(text string) string { return s.redactor.Load().Known(text) }

// sanitize returns a connector's JSON within the bounds of diagnostics and without secrets.
func (s *secrets) sanitize(v jsontext.Value) jsontext.Value { return sanitize(s.redactor.Load(), v) }

// sanitizeObject encodes and sanitizes an object of the runner.
func (s *secrets) sanitizeObject(members map[string]any) jsontext.Value {
	raw, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil
	}
	return s.sanitize(raw)
}

// redactTail returns the end of the connector's stderr without secrets. Where earlier output was dropped, the tail
// may begin within a secret, so its beginning is dropped as well.
func (s *secrets) redactTail(tail string, truncated bool) string {
	text := s.redactor.Load().Text(tail)
	if truncated {
		s.mu.Lock()
		longest := 0
		for _, v := range s.values {
			longest = max(longest, len(v))
		}
		s.mu.Unlock()
		// An encoded secret contains no space either, and is at most six times as long.
		rest := text[min(longest, len(text)):]
		if word := strings.IndexAny(rest, " \t\n"); word >= 0 && word <= 5*longest {
			rest = rest[word:]
		}
		text = rest
	}
	return strings.ToValidUTF8(text[max(0, len(text)-childprocess.MaxStderrTail):], "?")
}

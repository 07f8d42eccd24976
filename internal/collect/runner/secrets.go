package runner

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

// secrets are the values that must not appear in anything a run leaves behind:
// those that the connector was given, and the owner's answers as they come.
type secrets struct {
	guard    sync.Mutex
	values   []string
	redactor atomic.Pointer[redact.Redactor]
}

func (s *secrets) learn(values ...string) {
	s.guard.Lock()
	defer s.guard.Unlock()
	s.values = append(s.values, values...)
	s.redactor.Store(redact.New(s.values...))
}

// learnAnswer learns every text and number of an answer.
func (s *secrets) learnAnswer(data jsontext.Value) {
	tree, err := decodeTree(data)
	if err != nil {
		return // it does not reach the connector either
	}
	var values []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case string:
			values = append(values, v)
		case jsontext.Value:
			values = append(values, string(v))
		}
	}
	walk(tree)
	s.learn(values...)
}

// line is text as one bounded line without secrets.
func (s *secrets) line(text string) string { return s.redactor.Load().Line(text, maxMessage) }

// names is text of identifiers, which stay readable whatever they look like:
// only the known secrets go.
func (s *secrets) names(text string) string { return s.redactor.Load().Known(text) }

// lastWords is the end of the connector's stderr. Where its beginning is lost,
// the rest of a secret that was cut in two goes with it.
func (s *secrets) lastWords(tail string, cut bool) string {
	text := s.redactor.Load().Text(tail)
	if cut {
		s.guard.Lock()
		longest := 0
		for _, v := range s.values {
			longest = max(longest, len(v))
		}
		s.guard.Unlock()
		// In another form it has no space either, and takes at most six bytes for one.
		rest := text[min(longest, len(text)):]
		if word := strings.IndexAny(rest, " \t\n"); word >= 0 && word <= 5*longest {
			rest = rest[word:]
		}
		text = rest
	}
	return strings.ToValidUTF8(text[max(0, len(text)-maxStderrTail):], "?")
}

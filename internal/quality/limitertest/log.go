package limitertest

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Request is a line of nginx's own access log. Its times have a granularity of a
// millisecond.
type Request struct {
	Arrived  time.Time // when nginx read its first byte
	Answered time.Time
	Status   int
	Path     string
}

func readLog(file string) ([]Request, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []Request
	for line := range strings.Lines(string(b)) {
		r, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("read access log: %w", err)
		}
		out = append(out, r)
	}
	return out, nil
}

// parseLine reads `$msec $request_time $status $uri`.
func parseLine(line string) (Request, error) {
	var at, took struct{ s, ms int64 }
	var r Request
	if _, err := fmt.Sscanf(line, "%d.%3d %d.%3d %d /%s\n", &at.s, &at.ms, &took.s, &took.ms, &r.Status,
		&r.Path); err != nil {
		return Request{}, fmt.Errorf("line %q: %w", line, err)
	}
	r.Answered = time.UnixMilli(at.s*1000 + at.ms)
	r.Arrived = r.Answered.Add(-time.Duration(took.s*1000+took.ms) * time.Millisecond)
	return r, nil
}

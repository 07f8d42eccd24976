package source

import (
	"testing"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// A document can lower the number of requests at the same time, and never raise it.
func TestLaneLimit(t *testing.T) {
	config := expression.NewObject(1).Set("n", expression.IntValue(1)).Value()
	for level, want := range map[string]int{
		"": mostLanes,
		"concurrency_level: {type: ConcurrencyLevel, default_concurrency: 2}\n":                               2,
		"concurrency_level: {type: ConcurrencyLevel, default_concurrency: 50}\n":                              mostLanes,
		"concurrency_level: {type: ConcurrencyLevel, default_concurrency: 20, max_concurrency: 3}\n":          3,
		"concurrency_level: {type: ConcurrencyLevel, default_concurrency: \"{{ config['n'] or 10 }}\"}\n":     1,
		"concurrency_level: {type: ConcurrencyLevel, default_concurrency: \"{{ config['none'] or 'x' }}\"}\n": mostLanes,
	} {
		doc, err := document.Parse([]byte(ruled + level))
		if err != nil {
			t.Fatal(err)
		}
		if got := (&runState{config: config}).laneLimit(doc.Concurrency); got != want {
			t.Errorf("%q: %d lanes, want %d", level, got, want)
		}
	}
}

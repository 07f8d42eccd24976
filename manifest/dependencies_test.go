package manifest

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDependencyRules(t *testing.T) {
	runBadCases(t, []badCase{
		{"state stream is itself", edits{"streams[3].state_stream": "letter_marks"}, []string{"streams[3].state_stream"}},
		{
			"parent is itself",
			edits{"streams[2].parent_streams[0]": "letter_bodies"},
			[]string{"streams[2].parent_streams[0]"},
		},
		{"state stream is unknown", edits{"streams[3].state_stream": "parcels"}, []string{"streams[3].state_stream"}},
		{"parent is unknown", edits{"streams[2].parent_streams[1]": "parcels"}, []string{"streams[2].parent_streams[1]"}},
		{"parent is named twice", edits{"streams[2].parent_streams[1]": "letters"}, []string{"streams[2].parent_streams[1]"}},
		{"no parents", edits{"streams[2].parent_streams": []any{}}, []string{"streams[2].parent_streams"}},
		{"both fields", edits{"streams[2].state_stream": "account"}, []string{"streams[2].parent_streams"}},
		{
			"state stream with another strategy",
			edits{"streams[3].coverage_strategy": "full_inventory"},
			[]string{"streams[3].coverage_strategy"},
		},
		{
			"state stream without strategy",
			edits{"streams[3].coverage_strategy": remove},
			[]string{"streams[3].coverage_strategy"},
		},
		{
			"parents with another strategy",
			edits{"streams[2].coverage_strategy": "checkpoint_window"},
			[]string{"streams[2].coverage_strategy"},
		},
		{"cycle of two", edits{"streams[1].state_stream": "letter_marks"}, []string{"streams[3].state_stream"}},
		{
			"cycle over both fields",
			edits{"streams[1].state_stream": "letter_bodies"},
			[]string{"streams[2].parent_streams[0]"},
		},
	})
}

func TestCycleIsSpeltOut(t *testing.T) {
	ps := problemsOf(t, edited(t, edits{"streams[1].state_stream": "letter_marks"}))
	if want := "closes a cycle: letters -> letter_marks -> letters"; ps[0].What != want {
		t.Errorf("what = %q, want %q", ps[0].What, want)
	}
}

// dependent is n streams where the i-th depends on the streams in graph[i].
func dependent(t *rapid.T, graph [][]int) []Stream {
	names := make([]string, len(graph))
	for i := range names {
		names[i] = "s" + strings.Repeat("x", i)
	}
	streams := make([]Stream, len(graph))
	for i, targets := range graph {
		streams[i] = Stream{
			Name:       names[i],
			Semantics:  MutableState,
			Schema:     []byte(`{"type":"object","properties":{"id":{}}}`),
			PrimaryKey: PrimaryKey{"id"},
		}
		switch {
		case len(targets) == 1 && rapid.Bool().Draw(t, "rides"):
			streams[i].StateStream = names[targets[0]]
			streams[i].CoverageStrategy = StrategyCheckpointWindow
		case len(targets) > 0:
			streams[i].CoverageStrategy = StrategyParentDetailAccounting
			for _, target := range targets {
				streams[i].ParentStreams = append(streams[i].ParentStreams, names[target])
			}
		}
	}
	return streams
}

// acyclic draws a graph with all edges going down in a random order of the nodes.
func acyclic(t *rapid.T, n int) (graph [][]int, order []int) {
	order = make([]int, n)
	for i := range order {
		order[i] = i
	}
	order = rapid.Permutation(order).Draw(t, "order")
	graph = make([][]int, n)
	for high := 1; high < n; high++ {
		graph[order[high]] = rapid.SliceOfNDistinct(rapid.SampledFrom(order[:high]), 0, min(high, 3), rapid.ID).
			Draw(t, "targets")
	}
	return graph, order
}

func TestAcyclicDependenciesAreAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		graph, _ := acyclic(t, rapid.IntRange(1, 12).Draw(t, "streams"))
		m := skeleton()
		m.Streams = dependent(t, graph)
		if err := m.Validate(); err != nil {
			t.Fatalf("graph %v: %v", graph, err)
		}
	})
}

func TestCyclesOfAnyLengthAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "streams")
		graph, order := acyclic(t, n)
		ring := order[:rapid.IntRange(2, n).Draw(t, "length")]
		for i, node := range ring {
			next := ring[(i+1)%len(ring)]
			if !slices.Contains(graph[node], next) {
				graph[node] = append(graph[node], next)
			}
		}
		m := skeleton()
		m.Streams = dependent(t, graph)
		ps, _ := m.Validate().(Problems)
		if len(ps) == 0 {
			t.Fatalf("graph %v is accepted", graph)
		}
		for _, p := range ps {
			if !strings.HasPrefix(p.What, "closes a cycle: ") {
				t.Fatalf("graph %v: %v", graph, p)
			}
		}
	})
}

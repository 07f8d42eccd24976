package manifest

import (
	"slices"
	"strings"
)

// dependencyEdge is one checkpoint dependency, declared at path, on the stream at index to.
type dependencyEdge struct {
	to   int
	path string
}

// checkDependencies rejects a checkpoint graph that cannot be committed in any order. A valid graph is acyclic
// and ends at streams with their own checkpoint.
func (ps *Problems) checkDependencies(streams []Stream) {
	positions := map[string]int{}
	for i, s := range streams {
		if _, taken := positions[s.Name]; !taken {
			positions[s.Name] = i
		}
	}
	graph := make([][]dependencyEdge, len(streams))
	for i, s := range streams {
		path := elementPath("streams", i)
		ps.checkStrategy(path, &s)
		link := func(at, target string) {
			to, found := positions[target]
			switch {
			case target == "":
			case target == s.Name:
				ps.add(at, "names its own stream", "name another stream or leave the key out")
			case !found:
				ps.add(at, quoteShort(target)+" is not a stream of this manifest", "name a declared stream")
			default:
				graph[i] = append(graph[i], dependencyEdge{to: to, path: at})
			}
		}
		link(path+".state_stream", s.StateStream)
		for j, parent := range s.ParentStreams {
			link(elementPath(path+".parent_streams", j), parent)
		}
	}
	ps.checkCycles(streams, graph)
}

// checkStrategy requires one dependency field at most, and the coverage strategy that this field needs.
func (ps *Problems) checkStrategy(path string, s *Stream) {
	rides, details := s.StateStream != "", s.ParentStreams != nil
	if rides && details {
		ps.add(path+".parent_streams", "is declared together with state_stream", "keep one of the two")
		return
	}
	need := func(strategy CoverageStrategy, key string) {
		if s.CoverageStrategy != strategy {
			ps.add(path+".coverage_strategy", "does not fit "+key, "set it to "+string(strategy)+" or remove "+key)
		}
	}
	if rides {
		need(StrategyCheckpointWindow, "state_stream")
	}
	if details {
		need(StrategyParentDetailAccounting, "parent_streams")
	}
}

// checkCycles searches the graph depth first. An edge back into the current path closes a cycle and is the
// problem's path.
func (ps *Problems) checkCycles(streams []Stream, graph [][]dependencyEdge) {
	seen, onWalk := make([]bool, len(graph)), make([]bool, len(graph))
	var walk []int
	var visit func(int)
	visit = func(node int) {
		seen[node], onWalk[node] = true, true
		walk = append(walk, node)
		for _, e := range graph[node] {
			switch {
			case onWalk[e.to]:
				cycle := walk[slices.Index(walk, e.to):]
				ps.add(e.path, "closes a cycle: "+cycleText(streams, cycle), "remove one of these dependencies")
			case !seen[e.to]:
				visit(e.to)
			}
		}
		walk = walk[:len(walk)-1]
		onWalk[node] = false
	}
	for node := range graph {
		if !seen[node] {
			visit(node)
		}
	}
}

func cycleText(streams []Stream, nodes []int) string {
	names := make([]string, 0, len(nodes)+1)
	for _, node := range nodes {
		names = append(names, streams[node].Name)
	}
	return strings.Join(append(names, names[0]), " -> ")
}

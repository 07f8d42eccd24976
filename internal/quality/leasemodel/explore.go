package leasemodel

import (
	"fmt"
	"slices"
	"strings"
)

// Result is what an exploration found.
type Result struct {
	States int // reached, all of them when there is no violation
	Steps  int // between them
	// Broken is the first invariant that was found violated; empty when none is.
	Broken Invariant
	// Trace is a shortest way to the violation.
	Trace []Step
}

func (r Result) String() string {
	if r.Broken == "" {
		return fmt.Sprintf("%d states, %d steps, no violation", r.States, r.Steps)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "violated after %d states: %s", r.States, r.Broken)
	for i, step := range r.Trace {
		fmt.Fprintf(&b, "\n%3d. %v", i+1, step)
	}
	return b.String()
}

// explorer holds the states that were reached, in the order of their distance
// from the first one.
type explorer struct {
	index map[State]int32
	nodes []node
	// helpful are the steps that are no mishap, as pairs of from and to.
	helpful [][2]int32
}

type node struct {
	state  State
	parent int32
	step   Step // that led here from the parent
}

// Explore visits every reachable state, the nearest first, and stops at the
// first violation.
func Explore(p Protocol) Result {
	x := explorer{index: map[State]int32{}}
	x.add(State{}, -1, Step{})
	steps := 0
	for at := int32(0); int(at) < len(x.nodes); at++ {
		from := x.nodes[at].state
		for step, to := range p.Next(from) {
			steps++
			if invariant := broken(from, step, to); invariant != "" {
				return Result{States: len(x.nodes), Steps: steps, Broken: invariant, Trace: append(x.way(at), step)}
			}
			n := x.add(to, at, step)
			if !step.Fault() {
				x.helpful = append(x.helpful, [2]int32{at, n})
			}
		}
	}
	r := Result{States: len(x.nodes), Steps: steps}
	if stuck, found := x.stuck(); found {
		r.Broken, r.Trace = NoLostLease, x.way(stuck)
	}
	return r
}

// add returns the number of a state. It assigns a new number to a state that was not reached
// before.
func (x *explorer) add(s State, parent int32, step Step) int32 {
	if n, known := x.index[s]; known {
		return n
	}
	n := int32(len(x.nodes))
	x.index[s] = n
	x.nodes = append(x.nodes, node{s, parent, step})
	return n
}

// way returns the steps from the first state to the state to.
func (x *explorer) way(to int32) []Step {
	var steps []Step
	for n := to; x.nodes[n].parent >= 0; n = x.nodes[n].parent {
		steps = append(steps, x.nodes[n].step)
	}
	slices.Reverse(steps)
	return steps
}

// stuck finds the nearest state from which no helpful steps lead to a free connection.
func (x *explorer) stuck() (int32, bool) {
	// Sorted by where they lead, the steps into a state lie side by side.
	slices.SortFunc(x.helpful, func(a, b [2]int32) int { return int(a[1]) - int(b[1]) })
	first := make([]int, len(x.nodes)+1)
	for _, edge := range x.helpful {
		first[edge[1]+1]++
	}
	for i := range x.nodes {
		first[i+1] += first[i]
	}
	canBeFree := make([]bool, len(x.nodes))
	var queue []int32
	for n := range x.nodes {
		if x.nodes[n].state.Lease.Run == 0 {
			canBeFree[n], queue = true, append(queue, int32(n))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, edge := range x.helpful[first[queue[0]]:first[queue[0]+1]] {
			if from := edge[0]; !canBeFree[from] {
				canBeFree[from], queue = true, append(queue, from)
			}
		}
	}
	n := slices.Index(canBeFree, false)
	return int32(n), n >= 0
}

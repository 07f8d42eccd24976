package document

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// referenceName is the member that holds a reference.
const referenceName = "$ref"

// parametersName is the member that holds parameters.
const parametersName = "$parameters"

// resolver replaces references by copies of what they refer to.
type resolver struct {
	root   *Node
	open   map[string]bool // references that are being resolved
	budget budget
}

// resolveError is a reference that has no target.
type resolveError struct{ reference, message, fix string }

func (e *resolveError) Error() string { return fmt.Sprintf("refers to %s, %s", e.reference, e.message) }

// resolve returns a copy of n without references. The members in skip are left out of an object.
func (r *resolver) resolve(n *Node, depth int, skip []string) (*Node, error) {
	if depth > MaxDepth {
		return nil, &resolveError{"other places", fmt.Sprintf("so that it is nested more than %d deep", MaxDepth),
			"Nest it less."}
	}
	switch n.Kind {
	case Text:
		if strings.HasPrefix(n.Text, "#/") {
			return r.reference(n.Text, depth, skip)
		}
	case List:
		c := &Node{Kind: List, Items: make([]*Node, len(n.Items))}
		for i, item := range n.Items {
			resolved, err := r.resolve(item, depth+1, nil)
			if err != nil {
				return nil, err
			}
			c.Items[i] = resolved
		}
		return c, r.budget.take(c)
	case Map:
		return r.object(n, depth, skip)
	}
	return n, r.budget.take(n)
}

// object resolves the members of an object. Members beside $ref replace those of its target, which are not resolved.
func (r *resolver) object(n *Node, depth int, skip []string) (*Node, error) {
	own := &Node{Kind: Map, Names: make([]string, 0, len(n.Names)), Items: make([]*Node, 0, len(n.Names))}
	for i, name := range n.Names {
		if name == referenceName || slices.Contains(skip, name) {
			continue
		}
		if name == "config_overrides" { // values of settings, which may look like references
			own.Names, own.Items = append(own.Names, name), append(own.Items, n.Items[i].clone())
			continue
		}
		resolved, err := r.resolve(n.Items[i], depth+1, nil)
		if err != nil {
			return nil, err
		}
		own.Names, own.Items = append(own.Names, name), append(own.Items, resolved)
	}
	reference := n.Member(referenceName)
	if reference == nil {
		return own, r.budget.take(own)
	}
	target, err := r.resolve(reference, depth+1, slices.Concat(own.Names, skip))
	if err != nil {
		return nil, err
	}
	if target.Kind != Map {
		return target, nil
	}
	target.Names, target.Items = append(target.Names, own.Names...), append(target.Items, own.Items...)
	return target, r.budget.take(own)
}

var errAbsent = errors.New("absent")

func (r *resolver) reference(reference string, depth int, skip []string) (*Node, error) {
	if r.open[reference] {
		return nil, &resolveError{reference, "which refers back to itself", "Remove one of the references."}
	}
	target, err := r.find(strings.TrimPrefix(reference, "#/"))
	if err != nil {
		return nil, &resolveError{reference, "which does not exist", "Define it, or correct the reference."}
	}
	r.open[reference] = true
	defer delete(r.open, reference)
	return r.resolve(target, depth+1, skip)
}

// find returns the node at a path with slashes. A name may itself contain slashes: the longest rest wins.
func (r *resolver) find(path string) (*Node, error) {
	n := r.root
	for path != "" {
		if whole := n.Member(path); whole != nil {
			return whole, nil
		}
		head, rest, _ := strings.Cut(path, "/")
		switch {
		case n.Kind == Map:
			n = n.Member(head)
		case n.Kind == List:
			i, err := strconv.Atoi(head)
			if err != nil || i < 0 || i >= len(n.Items) {
				return nil, errAbsent
			}
			n = n.Items[i]
		default:
			return nil, errAbsent
		}
		if n == nil {
			return nil, errAbsent
		}
		path = rest
	}
	return n, nil
}

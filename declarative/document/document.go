package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/expression"
)

// Document is a manifest with resolved references.
type Document struct {
	Version     string
	Description string
	Streams     []*Stream // streams that can be used, in the order of the file
	Disabled    []Disabled
	Check       *Check
	Spec        *Spec
	Concurrency *Concurrency
	Budget      *APIBudget
	Metadata    *Node // free; our own additions are in its member pdpp
	Problems    Problems
	Templates   int // templates that were compiled
	Components  int
	Resolved    *Node // the resolved tree without definitions
}

// Disabled is a stream that cannot be used.
type Disabled struct {
	Name      string
	Path      string
	Problem   Problem // the first problem that disables it
	Component string  // what is not supported, if that is the reason
}

// Parse reads a manifest. The error is a Problems with the problems that make the whole file unusable; the Document is
// nil then. Problems of single streams are in the Document.
func Parse(text []byte) (*Document, error) {
	if len(text) > MaxFile {
		return nil, fatal("the file", fmt.Sprintf("has %d bytes, more than %d", len(text), MaxFile), "Shorten it.")
	}
	root, err := readYAML(text)
	if err != nil {
		return nil, yamlProblems(err)
	}
	if root.Kind != Map {
		return nil, fatal("the file", "is "+root.Kind.String(), "Write an object with streams.")
	}
	tree, err := expandTree(root)
	if err != nil {
		return nil, err
	}
	return build(tree)
}

func fatal(path, message, fix string) Problems {
	return Problems{{Level: WholeFile, Path: path, Message: message, Fix: fix}}
}

func yamlProblems(err error) Problems {
	var problem *yamlProblem
	if errors.As(err, &problem) {
		path := "the file"
		if problem.line > 0 {
			path = fmt.Sprintf("line %d", problem.line)
		}
		return fatal(path, problem.message, problem.fix)
	}
	return treeProblem()
}

func treeProblem() Problems {
	return fatal("the file", fmt.Sprintf("grows to more than %d bytes when its references are resolved", MaxTree),
		"Use fewer references to large parts.")
}

// expandTree resolves references and propagates parameters.
func expandTree(root *Node) (*Node, error) {
	r := &resolver{root: root, open: map[string]bool{}, budget: budget{MaxTree}}
	tree := &Node{Kind: Map}
	var problems Problems
	for i, name := range root.Names {
		if name == "definitions" || name == "schemas" {
			continue // they matter only where something refers to them
		}
		resolved, err := r.resolve(root.Items[i], 1, nil)
		if err != nil {
			var problem *resolveError
			if !errors.As(err, &problem) {
				return nil, treeProblem()
			}
			problems = append(problems, fatal(name, problem.Error(), problem.fix)...)
			continue
		}
		tree.set(name, resolved)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if tree.Member("type") == nil {
		tree.set("type", &Node{Kind: Text, Text: "DeclarativeSource"})
	}
	if err := (&propagator{&r.budget}).propagate("", tree, nil); err != nil {
		return nil, treeProblem()
	}
	return tree, nil
}

// build makes the typed components.
func build(tree *Node) (doc *Document, err error) {
	defer func() {
		if cause := recover(); cause == errMany {
			doc, err = nil, fatal("the file", fmt.Sprintf("has more than %d components", MaxComponents), "Shorten it.")
		} else if cause != nil {
			panic(cause)
		}
	}()
	d := &decoder{cache: map[templateKey]*expression.Template{}, level: StreamOnly}
	doc = &Document{Version: tree.Member("version").String(), Description: tree.Member("description").String(),
		Metadata: tree.Member("metadata"), Resolved: tree}
	streams := tree.Member("streams")
	dynamic := tree.Member("dynamic_streams")
	if streams.isFalsy() && dynamic.isFalsy() {
		return nil, fatal("streams", "is missing", "Add at least one stream.")
	}
	if streams != nil && streams.Kind != List {
		return nil, fatal("streams", "is "+streams.Kind.String(), "Write a list of streams.")
	}
	if streams != nil && len(streams.Items) > MaxStreams {
		return nil, fatal("streams", fmt.Sprintf("has %d streams, more than %d", len(streams.Items), MaxStreams),
			"Remove streams.")
	}
	d.source(tree, doc)
	if streams != nil {
		for i, n := range streams.Items {
			d.addStream(doc, n, fmt.Sprintf("streams[%d]", i))
		}
	}
	if dynamic != nil {
		for i, n := range dynamic.Items {
			path := fmt.Sprintf("dynamic_streams[%d]", i)
			d.stream = n.Member("name").String()
			d.unsupported(path, "DynamicDeclarativeStream", " because its streams are known only at run time")
			doc.Disabled = append(doc.Disabled, disabled(d.stream, path, d.problems[len(d.problems)-1]))
		}
	}
	d.stream = ""
	doc.Problems, doc.Templates, doc.Components = d.problems, d.templates, d.components
	doc.rejectRepeatedNames()
	return doc, nil
}

// source builds what belongs to no stream. A problem there is a warning, because streams do not depend on it.
func (d *decoder) source(tree *Node, doc *Document) {
	known := []string{"type", "version", "description", "metadata", "streams", "dynamic_streams", "check", "spec",
		"concurrency_level", "api_budget", "stream_groups", "max_concurrent_async_job_count", parametersName}
	for _, name := range tree.Names {
		if !slices.Contains(known, name) {
			d.warn(name, "is not a member of DeclarativeSource", "Remove it, or correct its name.")
		}
	}
	d.level = Warning
	for _, part := range []struct {
		name, kind string
		set        func(Component)
	}{
		{"check", "CheckStream", func(c Component) { doc.Check = c.(*Check) }},
		{"spec", "Spec", func(c Component) { doc.Spec = c.(*Spec) }},
		{"concurrency_level", "ConcurrencyLevel", func(c Component) { doc.Concurrency = c.(*Concurrency) }},
		{"api_budget", "HTTPAPIBudget", func(c Component) { doc.Budget = c.(*APIBudget) }},
	} {
		if n := tree.Member(part.name); n != nil && n.Kind == Map {
			if n.Member("type") == nil {
				n.set("type", &Node{Kind: Text, Text: part.kind})
			}
			if c := d.component(n, part.name, []string{part.kind}); c != nil {
				part.set(c)
			}
		}
	}
	d.level = StreamOnly
}

func (d *decoder) addStream(doc *Document, n *Node, path string) {
	d.stream = n.Member("name").String()
	from := len(d.problems)
	if kind := n.Member("type").String(); kind == "ConditionalStreams" {
		d.conditional(doc, n, path)
		return
	}
	c := d.component(n, path, []string{"DeclarativeStream"})
	s, _ := c.(*Stream)
	if s != nil && s.Name == "" {
		d.problem(path, "has no name", "Add the member name.")
	}
	for _, p := range d.problems[from:] {
		if p.Level == StreamOnly {
			doc.Disabled = append(doc.Disabled, disabled(d.stream, path, p))
			return
		}
	}
	doc.Streams = append(doc.Streams, s)
}

// conditional disables the streams that a condition adds.
func (d *decoder) conditional(doc *Document, n *Node, path string) {
	inner := n.Member("streams")
	if inner == nil || len(inner.Items) == 0 {
		inner = &Node{Kind: List, Items: []*Node{n}}
	}
	for i, s := range inner.Items {
		d.stream = s.Member("name").String()
		at := fmt.Sprintf("%s.streams[%d]", path, i)
		d.unsupported(at, "ConditionalStreams", " because its streams depend on the settings")
		doc.Disabled = append(doc.Disabled, disabled(d.stream, at, d.problems[len(d.problems)-1]))
	}
}

func disabled(name, path string, p Problem) Disabled {
	return Disabled{Name: name, Path: path, Problem: p, Component: p.Component}
}

// rejectRepeatedNames disables a stream with the name of an earlier one.
func (doc *Document) rejectRepeatedNames() {
	seen := map[string]bool{}
	doc.Streams = slices.DeleteFunc(doc.Streams, func(s *Stream) bool {
		key := strings.ToLower(s.Name)
		if !seen[key] {
			seen[key] = true
			return false
		}
		p := Problem{Level: StreamOnly, Path: s.Path, Stream: s.Name, Message: fmt.Sprintf("has the name %q again", s.Name),
			Fix: "Choose another name."}
		doc.Problems = append(doc.Problems, p)
		doc.Disabled = append(doc.Disabled, disabled(s.Name, s.Path, p))
		return true
	})
}

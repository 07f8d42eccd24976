package document

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The bounds of a document.
const (
	MaxFile       = 4 << 20  // bytes of the text
	MaxTree       = 32 << 20 // bytes of the resolved tree
	MaxDepth      = 64       // levels of lists and objects
	MaxStreams    = 500
	MaxParents    = 6 // parents of parents
	MaxComponents = 50_000
)

// nodeCost is the number of bytes that a node counts beside its text.
const nodeCost = 32

// budget counts the size of a tree.
type budget struct{ left int }

var errTree = errors.New("the resolved tree is too large")

func (b *budget) take(n *Node) error {
	b.left -= nodeCost + len(n.Text) + 8*len(n.Names)
	if b.left < 0 {
		return errTree
	}
	return nil
}

// yamlProblem is a problem of the text.
type yamlProblem struct {
	line         int
	message, fix string
}

func (p *yamlProblem) Error() string { return p.message }

// reader turns YAML nodes into nodes.
type reader struct{ budget budget }

// readYAML parses the text. The error is a *yamlProblem or errTree.
func readYAML(text []byte) (*Node, error) {
	var parsed yaml.Node
	if err := yaml.Unmarshal(text, &parsed); err != nil {
		return nil, &yamlProblem{message: "is not valid YAML: " + strings.TrimPrefix(err.Error(), "yaml: "),
			fix: "Correct the line that is named."}
	}
	if parsed.Kind != yaml.DocumentNode || len(parsed.Content) == 0 {
		return nil, &yamlProblem{message: "is empty", fix: "Write a manifest into the file."}
	}
	r := &reader{budget{MaxTree}}
	return r.node(parsed.Content[0], 0)
}

func (r *reader) node(y *yaml.Node, depth int) (*Node, error) {
	if depth > MaxDepth {
		return nil, &yamlProblem{y.Line, fmt.Sprintf("is nested more than %d deep", MaxDepth), "Nest it less."}
	}
	if y.Kind == yaml.AliasNode {
		return r.node(y.Alias, depth+1) // each use counts in the budget
	}
	if y.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(y.ShortTag(), "!!") {
		return nil, &yamlProblem{y.Line, "has the tag " + y.Tag, "Remove the tag; only plain YAML is read."}
	}
	var n *Node
	var err error
	switch y.Kind {
	case yaml.ScalarNode:
		n = scalar(y)
	case yaml.SequenceNode:
		n = &Node{Kind: List, Items: make([]*Node, 0, len(y.Content))}
		for _, item := range y.Content {
			child, err := r.node(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, child)
		}
	case yaml.MappingNode:
		if n, err = r.mapping(y, depth); err != nil {
			return nil, err
		}
	}
	return n, r.budget.take(n)
}

func (r *reader) mapping(y *yaml.Node, depth int) (*Node, error) {
	n := &Node{Kind: Map, Names: make([]string, 0, len(y.Content)/2), Items: make([]*Node, 0, len(y.Content)/2)}
	seen := make(map[string]bool, len(y.Content)/2)
	var merged []*Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		value, err := r.node(y.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			return nil, &yamlProblem{key.Line, "has a member name that is not a text", "Write a plain name."}
		}
		if seen[key.Value] {
			return nil, &yamlProblem{key.Line, fmt.Sprintf("has the member %q twice", key.Value), "Remove one of them."}
		}
		seen[key.Value] = true
		n.Names, n.Items = append(n.Names, key.Value), append(n.Items, value)
	}
	for _, source := range merged {
		sources := []*Node{source}
		if source.Kind == List {
			sources = source.Items
		}
		for _, from := range sources {
			for i, name := range from.Names {
				if !seen[name] {
					seen[name] = true
					n.Names, n.Items = append(n.Names, name), append(n.Items, from.Items[i].clone())
				}
			}
		}
	}
	return n, nil
}

var yamlBools = map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false",
	"off": "false"}

// scalar reads a scalar. Dates stay texts.
func scalar(y *yaml.Node) *Node {
	text := &Node{Kind: Text, Text: y.Value}
	if y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return text
	}
	switch y.ShortTag() {
	case "!!null":
		return &Node{Kind: Null}
	case "!!bool":
		return &Node{Kind: Bool, Text: yamlBools[strings.ToLower(y.Value)]}
	case "!!int":
		if n, ok := new(big.Int).SetString(strings.ReplaceAll(y.Value, "_", ""), 0); ok {
			return &Node{Kind: Int, Text: n.String()}
		}
	case "!!float":
		if n, ok := new(big.Int).SetString(y.Value, 10); ok { // too large for the parser
			return &Node{Kind: Int, Text: n.String()}
		}
		// A number with an exponent and no point is a text in YAML 1.1, which the format uses.
		if f, err := strconv.ParseFloat(strings.ReplaceAll(y.Value, "_", ""), 64); err == nil && f-f == 0 &&
			strings.Contains(y.Value, ".") {
			return &Node{Kind: Float, Text: strconv.FormatFloat(f, 'g', -1, 64)}
		}
	case "!!str":
		if b, ok := yamlBools[strings.ToLower(y.Value)]; ok && y.Tag != "!!str" || ok && y.Style == 0 {
			return &Node{Kind: Bool, Text: b}
		}
	}
	return text
}

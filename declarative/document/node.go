package document

import (
	"strconv"

	"github.com/pdpp-go/pdpp/declarative/expression"
)

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Int
	Float
	Text
	List
	Map
)

var kindNames = [...]string{"nothing", "true or false", "a whole number", "a number", "a text", "a list", "an object"}

// String returns a description of k.
func (k Kind) String() string { return kindNames[k] }

// Node is a value of a document. The members of a Map keep their order.
type Node struct {
	Kind  Kind
	Text  string   // of a scalar; "true" or "false" of a Bool
	Names []string // of a Map, one for each of Items
	Items []*Node  // of a List or Map
}

// Member returns the member of a Map, or nil.
func (n *Node) Member(name string) *Node {
	if n == nil || n.Kind != Map {
		return nil
	}
	for i, candidate := range n.Names {
		if candidate == name {
			return n.Items[i]
		}
	}
	return nil
}

// Path returns the node that the names lead to, or nil.
func (n *Node) Path(names ...string) *Node {
	for _, name := range names {
		n = n.Member(name)
	}
	return n
}

// String returns the text of a scalar member, or "".
func (n *Node) String() string {
	if n == nil || n.Kind == List || n.Kind == Map || n.Kind == Null {
		return ""
	}
	return n.Text
}

// IsTrue reports whether n is the Bool true.
func (n *Node) IsTrue() bool { return n != nil && n.Kind == Bool && n.Text == "true" }

// set adds or replaces a member.
func (n *Node) set(name string, value *Node) {
	for i, candidate := range n.Names {
		if candidate == name {
			n.Items[i] = value
			return
		}
	}
	n.Names, n.Items = append(n.Names, name), append(n.Items, value)
}

// remove removes a member and returns it, or nil.
func (n *Node) remove(name string) *Node {
	for i, candidate := range n.Names {
		if candidate == name {
			removed := n.Items[i]
			n.Names = append(n.Names[:i:i], n.Names[i+1:]...)
			n.Items = append(n.Items[:i:i], n.Items[i+1:]...)
			return removed
		}
	}
	return nil
}

// isFalsy reports whether a parameter replaces n: it is absent, null, false, zero or empty.
func (n *Node) isFalsy() bool {
	if n == nil {
		return true
	}
	switch n.Kind {
	case Null:
		return true
	case Bool:
		return n.Text == "false"
	case Int, Float:
		f, err := strconv.ParseFloat(n.Text, 64)
		return err == nil && f == 0
	case Text:
		return n.Text == ""
	}
	return len(n.Items) == 0
}

// clone returns a deep copy.
func (n *Node) clone() *Node {
	if n.Kind != List && n.Kind != Map {
		return n
	}
	c := &Node{Kind: n.Kind, Names: append([]string(nil), n.Names...), Items: make([]*Node, len(n.Items))}
	for i, item := range n.Items {
		c.Items[i] = item.clone()
	}
	return c
}

// Value returns n as a value of a template.
func (n *Node) Value() expression.Value {
	if n == nil {
		return expression.Value{}
	}
	switch n.Kind {
	case Bool:
		return expression.BoolValue(n.Text == "true")
	case Int, Float:
		if v, err := expression.ParseJSON([]byte(n.Text)); err == nil {
			return v
		}
		f, _ := strconv.ParseFloat(n.Text, 64)
		return expression.FloatValue(f)
	case Text:
		return expression.StringValue(n.Text)
	case List:
		items := make([]expression.Value, len(n.Items))
		for i, item := range n.Items {
			items[i] = item.Value()
		}
		return expression.ArrayValue(items...)
	case Map:
		b := expression.NewObject(len(n.Names))
		for i, name := range n.Names {
			b.Set(name, n.Items[i].Value())
		}
		return b.Value()
	}
	return expression.None
}

// AppendJSON appends n as JSON.
func (n *Node) AppendJSON(b []byte) []byte { return n.Value().AppendJSON(b) }

package document

import (
	"fmt"

	"github.com/pdpp-go/pdpp/declarative/expression"
)

// inputs builds request options.
func (d *decoder) inputs(n *Node, path string, scope expression.Scope) Inputs {
	switch n.Kind {
	case Map:
		return Inputs{Entries: d.entries(n, path, scope)}
	case List:
		d.problem(path, "is a list", "Write an object or a text.")
		return Inputs{}
	}
	return Inputs{Text: d.template(n, path, scope)}
}

func (d *decoder) entries(n *Node, path string, scope expression.Scope) Entries {
	entries := make(Entries, 0, len(n.Names))
	for i, name := range n.Names {
		at := path + "." + name
		if kind := n.Items[i].Member("type").String(); kind == "QueryProperties" || kind == "PropertiesFromEndpoint" {
			d.unsupported(at, kind, "")
			continue
		}
		entries = append(entries, Entry{
			Name:  d.template(&Node{Kind: Text, Text: name}, at, scope),
			Value: d.input(n.Items[i], at, scope),
		})
	}
	return entries
}

func (d *decoder) input(n *Node, path string, scope expression.Scope) Input {
	switch n.Kind {
	case Text:
		return Input{Template: d.template(n, path, scope)}
	case List:
		made := Input{IsList: true}
		for i, item := range n.Items {
			made.List = append(made.List, d.input(item, fmt.Sprintf("%s[%d]", path, i), scope))
		}
		return made
	case Map:
		return Input{IsObject: true, Entries: d.entries(n, path, scope)}
	}
	return Input{Literal: n}
}

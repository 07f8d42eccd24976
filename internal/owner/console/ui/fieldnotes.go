package ui

import "github.com/a-h/templ"

// FieldNotes returns the attributes that connect an input to its error and its help text.
func FieldNotes(id, wrong, help string) templ.Attributes {
	out := templ.Attributes{}
	by := ""
	if wrong != "" {
		out["aria-invalid"] = "true"
		by = id + "-e"
	}
	if help != "" {
		if by != "" {
			by += " "
		}
		by += id + "-n"
	}
	if by != "" {
		out["aria-describedby"] = by
	}
	return out
}

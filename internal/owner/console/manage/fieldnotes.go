package manage

import "github.com/a-h/templ"

// fieldNotes ties an input to what is said below it: first the error, then the help.
func fieldNotes(id, wrong, help string) templ.Attributes {
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

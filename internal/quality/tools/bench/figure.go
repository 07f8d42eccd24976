package main

import "fmt"

// figure is one number with what is wanted of it. A figure without a target
// only explains another.
type figure struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	AtLeast float64 `json:"want_at_least,omitempty"`
	Below   float64 `json:"want_below,omitempty"`
	Met     *bool   `json:"met,omitempty"` // nil without a target
	// Note explains how the figure was measured.
	Note string `json:"note,omitempty"`
}

// tell stores the figure, and prints it with its target and whether it meets the target.
func (r *report) tell(x figure) {
	want := "no target"
	switch {
	case x.AtLeast > 0:
		met := x.Value >= x.AtLeast
		x.Met, want = &met, fmt.Sprintf("want >= %g", x.AtLeast)
	case x.Below > 0:
		met := x.Value < x.Below
		x.Met, want = &met, fmt.Sprintf("want < %g", x.Below)
	}
	r.Figures = append(r.Figures, x)
	note, end := x.Note, ""
	if note != "" {
		note = "  " + note
	}
	if x.Met != nil {
		end = "  met"
		if !*x.Met {
			end = missed(true)
		}
	}
	fmt.Printf("%-58s %9.2f %s (%s)%s%s\n", x.Name, x.Value, x.Unit, want, note, end)
}
